package turn_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

var errFull = fault.New(fault.Unavailable, "the disk is full", "make room")

// The first visible event cannot be stored: nobody has seen it, so it is not in
// the transcript, and the attempt was cut off, not cancelled (SNK-2, MRK-2).
func TestFirstVisibleRefused(t *testing.T) {
	t.Parallel()
	m := &model{answer: func(context.Context, string) ([]abi.Event, error) { return say("Hi"), nil }}
	s := startRefusing(t, filepath.Join(t.TempDir(), "journal.db"), m, func(step journal.Step) error {
		if step == journal.StepFirstVisible {
			return errFull
		}
		return nil
	})
	got := s.wait(t, s.send(t, "s", "a").ID)
	if got.State != journal.Failed || got.Visible {
		t.Errorf("state %s, visible %v", got.State, got.Visible)
	}
	messages, err := s.journal.Messages(t.Context(), got.SessionID, 0)
	if err != nil || len(messages) != 1 {
		t.Errorf("%d messages are kept, want the user's alone: %v", len(messages), err)
	}
	attempts, err := s.journal.Attempts(t.Context(), got.ID)
	if err != nil || len(attempts) != 1 || attempts[0].Outcome != journal.OutcomeInterrupted {
		t.Errorf("attempts %+v, %v; want one, interrupted (CST-1)", attempts, err)
	}
}

// The end of a turn is stored as soon as the journal can be written again.
func TestEndIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var refused atomic.Int64
		m := &model{answer: func(context.Context, string) ([]abi.Event, error) { return say("Hi"), nil }}
		s := startRefusing(t, filepath.Join(t.TempDir(), "journal.db"), m, func(step journal.Step) error {
			if step == journal.StepFinish && refused.Add(1) <= 3 {
				return errFull
			}
			return nil
		})
		begun := time.Now()
		got := s.wait(t, s.send(t, "s", "a").ID)
		if took := time.Since(begun).Truncate(time.Second / 2); got.State != journal.Complete || took != 3500*time.Millisecond {
			t.Errorf("state %s after %s, want complete after waits of 0.5, 1 and 2 s", got.State, took)
		}
	})
}

// A host that closes does not wait for a journal that cannot be written: the
// turn is settled at the next start, and its readers are told so.
func TestEndIsGivenUpWhenClosing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: func(context.Context, string) ([]abi.Event, error) { return say("Hi"), nil }}
		s := startRefusing(t, filepath.Join(t.TempDir(), "journal.db"), m, func(step journal.Step) error {
			if step == journal.StepFinish {
				return errFull
			}
			return nil
		})
		first := s.send(t, "s", "a")
		r, err := s.hub.Reader(t.Context(), first.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begun := time.Now()
		if err := s.Close(t.Context()); err != nil || time.Since(begun) > time.Minute {
			t.Errorf("Close: %v after %s", err, time.Since(begun))
		}
		for err == nil {
			_, err = r.Next(t.Context())
		}
		if !errors.Is(err, errFull) {
			t.Errorf("the reader got %v", err)
		}
		if got, err := s.journal.Turn(t.Context(), first.ID); err != nil || got.State != journal.Running {
			t.Errorf("the turn is %s, %v", got.State, err)
		}
	})
}

// When the end is lost for good, the history in memory is dropped with it: it
// would know less than the journal (MRK-4).
func TestLostEndForgetsTheHistory(t *testing.T) {
	t.Parallel()
	lose := false
	m := &model{answer: func(context.Context, string) ([]abi.Event, error) { return say("Hi"), nil }}
	s := startRefusing(t, filepath.Join(t.TempDir(), "journal.db"), m, func(step journal.Step) error {
		if step == journal.StepFinish && lose {
			return errors.New("lost")
		}
		return nil
	})
	first := s.send(t, "s", "a")
	if s.wait(t, first.ID); !s.Remembers(first.SessionID) {
		t.Fatal("the history is not in memory after a turn")
	}
	lose = true
	second := s.send(t, "s", "b")
	if got := s.wait(t, second.ID); got.State != journal.Running || s.Remembers(first.SessionID) {
		t.Errorf("the turn is %s, the history in memory: %v", got.State, s.Remembers(first.SessionID))
	}
}
