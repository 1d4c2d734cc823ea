package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// checkFault checks that err is a fault of that code that tells a person what
// it says in want and what to do.
func checkFault(t *testing.T, err error, code fault.Code, want ...string) {
	t.Helper()
	if got := fault.CodeOf(err); err == nil || got != code {
		t.Errorf("%v: code %s, want %s", err, got, code)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not tell %q", err, w)
		}
	}
	if fault.HintOf(err) == "" {
		t.Errorf("%q has no hint", err)
	}
}

// TestBusy checks C104: while another process holds the write lock for seven
// seconds, a message waits and is then stored.
func TestBusy(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seven seconds")
	}
	path := newPath(t)
	j := openAt(t, path)
	other := start(t, "lock", path)
	if s := other.line(t); s != "ready\n" {
		t.Fatal(s)
	}
	done := make(chan error, 1)
	go func() {
		_, _, err := j.Admit(t.Context(), journal.Admission{Session: "s", Text: "kept"})
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(7 * time.Second):
	}
	other.end(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if s, err := j.Session(t.Context(), "s"); err != nil || s.Turns != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestBusyTooLong checks C104: a lock that stays is an error, nothing of the
// write is stored, and the next write after it works.
func TestBusyTooLong(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j, err := journal.Open(t.Context(), path, journal.Options{BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close(context.Background())
	other := start(t, "lock", path)
	if s := other.line(t); s != "ready\n" {
		t.Fatal(s)
	}
	_, _, err = j.Admit(t.Context(), journal.Admission{Session: "refused"})
	checkFault(t, err, fault.Unavailable, "another process")
	checkFault(t, j.Health(), fault.Unavailable, "another process")
	other.end(t)
	admit(t, j, "stored")
	if err := j.Health(); err != nil {
		t.Errorf("health after it works again: %v", err)
	}
	if _, err := j.Session(t.Context(), "refused"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("refused and stored: %v", err)
	}
}

// TestFull checks C104: a full database refuses what does not fit, whole, and
// goes on by itself when there is room.
func TestFull(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	if err := j.Pragma(t.Context(), "max_page_count=1"); err != nil { // as far as it has got
		t.Fatal(err)
	}
	large := texts(1, 1, strings.Repeat("x", 1<<20))
	err := appendEvents(t.Context(), j, turn.ID, large)
	checkFault(t, err, fault.Unavailable, "disk is full")
	checkFault(t, j.Health(), fault.Unavailable)
	refused := 0
	for i := range 300 {
		if _, _, err := j.Admit(t.Context(), journal.Admission{Session: fmt.Sprint("r", i), Text: strings.Repeat("x", 4096)}); err != nil {
			checkFault(t, err, fault.Unavailable, "disk is full")
			refused++
		}
	}
	if refused == 0 {
		t.Error("everything had room")
	}
	if err := j.Pragma(t.Context(), "max_page_count=1000000"); err != nil {
		t.Fatal(err)
	}
	if err := appendEvents(t.Context(), j, turn.ID, large); err != nil {
		t.Fatal(err)
	}
	if err := j.Health(); err != nil {
		t.Errorf("health with room again: %v", err)
	}
	sessions, err := j.Sessions(t.Context())
	if err != nil || len(sessions) != 301-refused {
		t.Errorf("%d sessions, %d refused, %v", len(sessions), refused, err)
	}
}

// TestDamaged checks BOT-3: a database that is not whole is refused at start,
// and stays as it is.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"empty":        func([]byte) []byte { return nil },
		"half a page":  func(b []byte) []byte { return b[:2000] },
		"half a file":  func(b []byte) []byte { return b[:len(b)/2] },
		"a page short": func(b []byte) []byte { return b[:len(b)-4096] },
		"page zeroed":  func(b []byte) []byte { clear(b[2*4096 : 3*4096]); return b },
		"noise":        func(b []byte) []byte { return bytes.Repeat([]byte("noise"), len(b)/5) },
		"another file": func([]byte) []byte { return []byte("# notes\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			fill(t, path)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := damage(bytes.Clone(whole))
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = journal.Open(t.Context(), path, journal.Options{})
			checkFault(t, err, fault.Journal)
			checkFault(t, journal.Check(t.Context(), path), fault.Journal)
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, damaged) {
				t.Errorf("the damaged file was changed: %v", err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := journal.Check(t.Context(), path); err != nil {
				t.Errorf("a whole journal: %v", err)
			}
			openAt(t, path) // a backup put in its place works
		})
	}
}

// fill makes a journal with a few turns and closes it.
func fill(t *testing.T, path string) {
	t.Helper()
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := plainTurn(t.Context(), j, "s", strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedLargeDatabase checks that a database that is too large to be read
// at every start is read when somebody has touched it.
func TestDamagedLargeDatabase(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	turn := admit(t, j, "s")
	if err := appendEvents(t.Context(), j, turn.ID, texts(1, 1, strings.Repeat("x", journal.SmallSize))); err != nil {
		t.Fatal(err)
	}
	if err := finish(t.Context(), j, turn.ID, journal.Complete); err != nil { // nobody reads it again
		t.Fatal(err)
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	// A page in the middle of the text: nothing but a whole reading finds it.
	if _, err := f.WriteAt(make([]byte, 4096), journal.SmallSize/2/4096*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = journal.Open(t.Context(), path, journal.Options{})
	checkFault(t, err, fault.Journal, "damaged")
}

// TestDamagedWhileRead checks that a reader, which does not look at the whole
// database when it opens, tells damage and what to do when it comes upon it.
func TestDamagedWhileRead(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	fill(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 4096; at < len(whole); at += 4096 { // the first page has the schema
		b := bytes.Clone(whole)
		copy(b[at:], bytes.Repeat([]byte{0xa5}, 4096))
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := journal.OpenReader(t.Context(), path)
		if err != nil {
			continue // told before anything was read
		}
		_, err = r.Turns(t.Context(), journal.TurnFilter{})
		if closed := r.Close(); closed != nil {
			t.Error(closed)
		}
		if err == nil {
			continue // a page that turns are not read from
		}
		found++
		checkFault(t, err, fault.Journal, "read turns", "damaged")
		if !strings.Contains(fault.HintOf(err), "restore a backup") {
			t.Errorf("the hint is %q", fault.HintOf(err))
		}
	}
	if found == 0 {
		t.Error("no page was missed")
	}
}

// TestLogWithoutJournal checks that a log that was left behind is not applied to
// a new journal.
func TestLogWithoutJournal(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	log := []byte("what was not yet copied")
	if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := journal.Open(t.Context(), path, journal.Options{})
	checkFault(t, err, fault.Journal, "journal.db-wal")
	if now, err := os.ReadFile(path + "-wal"); err != nil || !bytes.Equal(now, log) {
		t.Errorf("the log was changed: %v", err)
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	openAt(t, path)
}

// TestNewer checks that a database from a newer version is refused, whoever
// opens it, and stays as it is.
func TestNewer(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	if err := j.Pragma(t.Context(), "user_version=999"); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = journal.Open(t.Context(), path, journal.Options{})
	checkFault(t, err, fault.Journal, "newer", "999")
	_, err = journal.OpenReader(t.Context(), path)
	checkFault(t, err, fault.Journal, "newer", "999")
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("it was changed: %v", err)
	}
}

// TestForeign checks that another program's database is refused.
func TestForeign(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	if err := j.Pragma(t.Context(), "application_id=1"); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := journal.Open(t.Context(), path, journal.Options{})
	checkFault(t, err, fault.Journal, "not a journal of zchost")
}

// holdHome is a host that has a home.
func holdHome(path string) error {
	j, err := journal.Open(context.Background(), path, journal.Options{})
	if err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	return j.Close(context.Background())
}

// TestLockThatIsGivenFree checks that a start waits a moment for a host that is
// just going, and not for long if the start itself is given up.
func TestLockThatIsGivenFree(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	other := start(t, "host", path)
	if s := other.line(t); s != "ready\n" {
		t.Fatal(s)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := journal.Open(ended, path, journal.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	opened := make(chan error, 1)
	go func() {
		j, err := journal.Open(t.Context(), path, journal.Options{})
		if err == nil {
			err = j.Close(context.Background())
		}
		opened <- err
	}()
	other.end(t)
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

// TestLocked checks BOT-1: a second host on the same home is refused with the
// owner named, and gets it when the first one is gone, killed or not.
func TestLocked(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	other := start(t, "host", path)
	if s := other.line(t); s != "ready\n" {
		t.Fatal(s)
	}
	_, err := journal.Open(t.Context(), path, journal.Options{})
	checkFault(t, err, fault.Locked, filepath.Dir(path), fmt.Sprintf("process %d", other.cmd.Process.Pid),
		"journal.test", "since 20")
	r, err := journal.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatalf("cannot read beside a running host: %v", err)
	}
	if boots, err := r.Boots(t.Context()); err != nil || len(boots) != 1 {
		t.Errorf("read %v, %v", boots, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := other.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = other.cmd.Wait() // killed
	j := openAt(t, path)
	boots, err := j.Boots(t.Context())
	if err != nil || len(boots) != 2 || !boots[1].Ended.IsZero() {
		t.Errorf("boots are %+v, %v", boots, err)
	}
}

// TestHomeMissing checks the message for a home that is not there.
func TestHomeMissing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none", "journal.db")
	_, err := journal.Open(t.Context(), path, journal.Options{})
	checkFault(t, err, fault.Home, filepath.Dir(path))
	_, err = journal.OpenReader(t.Context(), path)
	checkFault(t, err, fault.NotFound, path)
}

// TestOddPath checks that every character of a path is only a character.
func TestOddPath(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"a b", "100%", "%41", "what?mode=ro", "a#b", "é", "a&b=c;d", "'"} {
		path := filepath.Join(t.TempDir(), dir, "journal.db")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		admit(t, openAt(t, path), "s")
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestDanglingLink checks that a link whose target is away, with its disk
// perhaps, is not replaced by a new journal.
func TestDanglingLink(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	target := filepath.Join(t.TempDir(), "away", "journal.db")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	_, err := journal.Open(t.Context(), path, journal.Options{})
	checkFault(t, err, fault.Journal)
	_, err = journal.OpenReader(t.Context(), path)
	checkFault(t, err, fault.Journal)
	if to, err := os.Readlink(path); err != nil || to != target {
		t.Errorf("the link was changed: %q, %v", to, err)
	}
}
