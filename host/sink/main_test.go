package sink_test

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/sink"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// fixture is a journal with a hub on it.
type fixture struct {
	*journal.Journal
	store *store
	hub   *sink.Hub
}

func setup(tb testing.TB) *fixture {
	tb.Helper()
	j, err := journal.Open(tb.Context(), filepath.Join(tb.TempDir(), "journal.db"), journal.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	f := &fixture{Journal: j, store: &store{Journal: j}}
	f.hub = sink.NewHub(f.store)
	tb.Cleanup(func() {
		f.hub.Close()
		if err := j.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return f
}

// admit makes a turn that runs.
func (f *fixture) admit(tb testing.TB) journal.Turn {
	tb.Helper()
	turn, _, err := f.Admit(tb.Context(), journal.Admission{Session: rand.Text()})
	if err != nil {
		tb.Fatal(err)
	}
	return turn
}

// finish ends a turn through its sink.
func finish(ctx context.Context, s *sink.Sink) error {
	return s.Finish(ctx, func(tx *journal.Tx) error {
		return tx.FinishTurn(journal.Finish{Turn: s.Turn(), State: journal.Complete})
	}, journal.Event{Type: journal.EventTurnEnded})
}

func text(s string) journal.Event { return journal.Event{Type: abi.EventText, Text: s} }

func usage() journal.Event {
	return journal.Event{Type: abi.EventUsage, Data: abi.Raw(`{"usage":{"input":1}}`)}
}

// store is a journal that can be made to fail.
type store struct {
	*journal.Journal
	mu      sync.RWMutex
	broken  error
	writing func(journal.Step) // called before each write, if not nil
	looked  func()             // called after a turn was looked up, if not nil
}

func (s *store) Turn(ctx context.Context, id string) (journal.Turn, error) {
	turn, err := s.Journal.Turn(ctx, id)
	if s.looked != nil {
		s.looked()
	}
	return turn, err
}

func (s *store) Write(ctx context.Context, step journal.Step, fn func(*journal.Tx) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.writing != nil {
		s.writing(step)
	}
	if s.broken != nil {
		return s.broken
	}
	return s.Journal.Write(ctx, step, fn)
}

func (s *store) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

var errBroken = errors.New("the disk is full")
