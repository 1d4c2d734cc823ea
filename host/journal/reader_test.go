package journal_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// TestReaderBesideHost checks that a reader sees what is committed, and has no
// way to write.
func TestReaderBesideHost(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	r, err := journal.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	turn := admit(t, j, "s")
	if got, err := r.Turn(t.Context(), turn.ID); err != nil || got.State != journal.Running {
		t.Errorf("%+v, %v", got, err)
	}
	for name, db := range map[string]*sql.DB{"reader": r.DB(), "host's reader": j.DB()} {
		if _, err := db.ExecContext(t.Context(), "DELETE FROM sessions"); err == nil {
			t.Errorf("the %s can write", name)
		}
	}
}

// TestReaderOfOlderJournal checks the message for a journal that no host of
// this version has opened yet.
func TestReaderOfOlderJournal(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	if err := j.Pragma(t.Context(), "user_version=0"); err != nil {
		t.Fatal(err)
	}
	_, err := journal.OpenReader(t.Context(), path)
	checkFault(t, err, fault.Journal, "older")
}

// TestLogStaysShort checks that the write-ahead log is bounded, also while
// readers use it all the time.
func TestLogStaysShort(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	if err := j.BoundLog(t.Context(), 50, 200); err != nil {
		t.Fatal(err)
	}
	turn := admit(t, j, "s")
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for ctx.Err() == nil {
				if _, err := j.Events(t.Context(), turn.ID, 0, 16); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	const page, total = 4096, 1000 // pages
	for n := int64(1); n <= total; n++ {
		if err := appendEvents(t.Context(), j, turn.ID, texts(n, 1, strings.Repeat("x", page))); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	readers.Wait()
	info, err := os.Stat(path + "-wal") // it never gets shorter but when it is emptied
	if err != nil {
		t.Fatal(err)
	}
	if pages := info.Size() / page; pages > 500 {
		t.Errorf("the log grew to %d pages of at least %d", pages, total)
	}
}

// TestReadersAndWriters runs everything at once, for the race detector.
func TestReadersAndWriters(t *testing.T) {
	t.Parallel()
	j := open(t)
	var all sync.WaitGroup
	for s := range 8 {
		all.Go(func() {
			for i := range 20 {
				if err := plainTurn(t.Context(), j, fmt.Sprint(s), fmt.Sprint(s, "-", i)); err != nil {
					t.Error(err)
				}
				turns, err := j.Turns(t.Context(), journal.TurnFilter{Limit: 5})
				if err != nil {
					t.Error(err)
				}
				for _, turn := range turns {
					if _, err := j.Attempts(t.Context(), turn.ID); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	turns, err := j.Turns(t.Context(), journal.TurnFilter{State: journal.Complete})
	if err != nil || len(turns) != 160 {
		t.Errorf("%d turns, %v", len(turns), err)
	}
}
