//go:build unix

package journal_test

import (
	"context"
	"errors"
	"fmt"
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
	dir := sharedDir(t)
	path := filepath.Join(dir, "journal.db")
	fill(t, path)
	chmod(t, path, 0o444)
	chmod(t, path+".lock", 0o444)
	chmod(t, path+".owner", 0o444)
	chmod(t, dir, 0o555)
	t.Cleanup(func() { chmod(t, dir, 0o700) }) // so that it can be removed
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

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// sharedDir is a directory of the test that every user can get to.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	chmod(t, dir, 0o755)
	chmod(t, filepath.Dir(dir), 0o755)
	return dir
}

// copyOfTest copies this test binary to where every user can run it.
func copyOfTest(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(sharedDir(t), "test")
	if err := os.WriteFile(shared, b, 0o755); err != nil {
		t.Fatal(err)
	}
	return shared
}
