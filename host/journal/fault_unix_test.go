//go:build unix

package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// outgrowLimit lets the operating system refuse writes for a while: the
// write-ahead log may not grow.
func outgrowLimit(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	ctx := context.Background()
	j, err := journal.Open(ctx, path, journal.Options{})
	if err != nil {
		return err
	}
	if _, _, err := j.Admit(ctx, journal.Admission{Session: "before"}); err != nil {
		return err
	}
	wal, err := os.Stat(path + "-wal")
	if err != nil {
		return err
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	tight := limit
	tight.Cur = uint64(wal.Size()) + 100
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
		return err
	}
	_, _, refused := j.Admit(ctx, journal.Admission{Session: "refused", Text: strings.Repeat("x", 100_000)})
	health := j.Health()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	if fault.CodeOf(refused) != fault.Unavailable || fault.HintOf(refused) == "" || health == nil {
		return fmt.Errorf("refused with %w, health %w", refused, health)
	}
	if _, _, err := j.Admit(ctx, journal.Admission{Session: "after"}); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if _, err := j.Session(ctx, "refused"); !errors.Is(err, journal.ErrNotFound) {
		return fmt.Errorf("refused and stored: %w", err)
	}
	if j.Health() != nil {
		return fmt.Errorf("health with room again: %w", j.Health())
	}
	if err := j.Close(ctx); err != nil {
		return err
	}
	fmt.Println("ready")
	return nil
}

// TestWriteError checks C104 with writes that the operating system refuses.
func TestWriteError(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if s := start(t, "limit", path).line(t); s != "ready\n" {
		t.Fatal(s)
	}
	j := openAt(t, path)
	sessions, err := j.Sessions(t.Context())
	if err != nil || len(sessions) != 2 {
		t.Errorf("stored %v, %v", sessions, err)
	}
}

// openUnable opens a journal that this user cannot write.
func openUnable(path string) error {
	ctx := context.Background()
	_, err := journal.Open(ctx, path, journal.Options{})
	if fault.CodeOf(err) != fault.Home || fault.HintOf(err) == "" {
		return fmt.Errorf("host: %w", err)
	}
	r, err := journal.OpenReader(ctx, path)
	if err != nil {
		return fmt.Errorf("reader: %w", err)
	}
	if s, err := r.Session(ctx, "s"); err != nil || s.Turns != 20 {
		return fmt.Errorf("read %v: %w", s, err)
	}
	if err := r.Close(); err != nil {
		return err
	}
	fmt.Println("ready")
	return nil
}

// TestReadOnlyHome checks that a host refuses a home that it cannot write, and
// that it can still be read.
func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	// /tmp itself, so that another user can get there.
	dir, err := os.MkdirTemp(os.TempDir(), "zchost")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(os.Chmod(dir, 0o700), os.RemoveAll(dir)); err != nil {
			t.Error(err)
		}
	})
	path := filepath.Join(dir, "journal.db")
	fill(t, path)
	for file, mode := range map[string]os.FileMode{path: 0o444, path + ".lock": 0o444, dir: 0o555} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	var other *process
	if os.Getuid() != 0 {
		other = start(t, "unable", path)
	} else { // root may write everything: somebody else has to try
		exe := copyOfTest(t)
		other = start(t, "unable", path, func(c *exec.Cmd) {
			c.Path = exe
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		})
	}
	if s := other.line(t); s != "ready\n" {
		t.Error(s)
	}
}

// copyOfTest copies this test binary to where every user can run it.
func copyOfTest(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.CreateTemp(os.TempDir(), "zchost-test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(out.Name()) })
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(0o755), out.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Name()
}
