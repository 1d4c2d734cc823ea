package sink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/sink"
)

// all reads to the end of a turn.
func all(ctx context.Context, r *sink.Reader) ([]journal.Event, error) {
	var list []journal.Event
	for {
		events, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, events...)
	}
}

// stored reads all events of a turn from the journal.
func stored(tb testing.TB, f *fixture, turn string) []journal.Event {
	tb.Helper()
	var list []journal.Event
	for {
		page, err := f.Events(tb.Context(), turn, int64(len(list)), 0)
		if err != nil {
			tb.Fatal(err)
		}
		if len(page) == 0 {
			return list
		}
		list = append(list, page...)
	}
}

// sameEvents compares events; the journal keeps milliseconds.
func sameEvents(want, got []journal.Event) string {
	return cmp.Diff(want, got, cmpopts.EquateApproxTime(time.Millisecond), cmpopts.EquateEmpty())
}

// TestNumbers checks SNK-1 and SNK-3: events are numbered from 1 without gaps,
// for every reader and in the journal, and each names its attempt.
func TestNumbers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	turn := f.admit(t)
	s := f.hub.Open(turn)
	for i, attempt := range []int64{0, 1, 1, 2, 1, 0, 2} {
		if err := s.Append(t.Context(), attempt, text(fmt.Sprint(i)), usage()); err != nil {
			t.Fatal(err)
		}
	}
	if err := finish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	got, err := all(t.Context(), s.Reader(0))
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range got {
		if e.N != int64(i+1) || e.At.IsZero() {
			t.Errorf("event %d is %+v", i+1, e)
		}
	}
	if len(got) != 15 || got[6].Attempt != 2 || got[14].Type != journal.EventTurnEnded {
		t.Errorf("got %+v", got)
	}
	if d := sameEvents(got, stored(t, f, turn.ID)); d != "" {
		t.Error(d)
	}
}

// TestFirstVisibleIsCommitted checks SNK-2: what a reader gets of an attempt is
// visible in the journal already, for every kind of visible event and for each
// attempt; the commit waits for the disk; what is not visible is not waited for.
func TestFirstVisibleIsCommitted(t *testing.T) {
	t.Parallel()
	for _, typ := range []abi.EventType{abi.EventText, abi.EventReasoning, abi.EventProviderTool} {
		t.Run(string(typ), func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			turn := f.admit(t)
			s := f.hub.Open(turn)
			r := s.Reader(0)
			var steps []journal.Step
			f.store.writing = func(step journal.Step) {
				if step == journal.StepFirstVisible {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					if events, err := r.Next(ctx); err == nil {
						for _, e := range events {
							if e.Type.Visible(e.Text) && !s.Visible(e.Attempt) {
								t.Errorf("a reader has %+v, and the journal not", e)
							}
						}
					}
					steps = append(steps, step)
				}
			}
			for attempt := int64(1); attempt <= 3; attempt++ {
				before := f.Stats()
				if err := s.Append(t.Context(), attempt, usage()); err != nil {
					t.Fatal(err)
				}
				if s.Visible(attempt) {
					t.Error("usage counts as visible")
				}
				if err := s.Append(t.Context(), attempt, journal.Event{Type: typ, Text: "seen"}, text("more")); err != nil {
					t.Fatal(err)
				}
				if !s.Visible(attempt) {
					t.Error("not visible")
				}
				if err := s.Append(t.Context(), attempt, text("later")); err != nil {
					t.Fatal(err)
				}
				if n := f.Stats().Syncs - before.Syncs; n != 1 {
					t.Errorf("attempt %d took %d syncs", attempt, n)
				}
				events := stored(t, f, turn.ID)
				if i := int(attempt-1)*4 + 1; len(events) <= i || events[i].Type != typ || events[i].Attempt != attempt {
					t.Errorf("attempt %d: the journal has %+v", attempt, events)
				}
			}
			if len(steps) != 3 {
				t.Errorf("%d writes of a first visible event", len(steps))
			}
		})
	}
}

// TestFirstVisibleRefused checks SNK-2 when the journal cannot be written:
// nothing is shown, and nothing counts as visible, so that the request may be
// made again.
func TestFirstVisibleRefused(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s := f.hub.Open(f.admit(t))
	f.store.fail(errBroken)
	if err := s.Append(t.Context(), 1, text("lost")); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	if s.Visible(1) {
		t.Error("visible, though not committed")
	}
	f.store.fail(nil)
	if err := s.Append(t.Context(), 2, text("kept")); err != nil {
		t.Fatal(err)
	}
	if err := finish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	got, err := all(t.Context(), s.Reader(0))
	if err != nil || len(got) != 2 || got[0].Text != "kept" || got[0].N != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestFlushInTime checks SNK-2: what follows the first visible event is in the
// journal within 50 ms.
func TestFlushInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t)
		turn := f.admit(t)
		s := f.hub.Open(turn)
		for n := 1; n < 20; n++ {
			if err := s.Append(t.Context(), 1, text("x")); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			time.Sleep(sink.FlushWithin)
			synctest.Wait()
			for len(stored(t, f, turn.ID)) < n { // the write itself takes real time
				time.Sleep(time.Microsecond)
			}
			if waited := time.Since(began); waited > 50*time.Millisecond {
				t.Errorf("event %d took %s", n, waited)
			}
		}
	})
}

// TestBrokenJournal checks that a sink keeps what it has while the journal
// cannot be written, refuses more than it may keep, and loses nothing of what
// it took when the journal works again.
func TestBrokenJournal(t *testing.T) {
	t.Parallel()
	f := setup(t)
	turn := f.admit(t)
	s := f.hub.Open(turn)
	if err := s.Append(t.Context(), 1, text("first")); err != nil {
		t.Fatal(err)
	}
	f.store.fail(errBroken)
	taken := 1
	for {
		if taken == 500 { // let it know
			if err := f.hub.Flush(); !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
		}
		err := s.Append(t.Context(), 1, text("x"))
		if err != nil {
			if !errors.Is(err, errBroken) {
				t.Fatal(err)
			}
			break
		}
		taken++
	}
	if taken != sink.MaxPending+1 {
		t.Errorf("took %d events", taken)
	}
	if err := finish(t.Context(), s); !errors.Is(err, errBroken) {
		t.Fatalf("finish: %v", err)
	}
	f.store.fail(nil)
	if err := finish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if n := len(stored(t, f, turn.ID)); n != taken+1 {
		t.Errorf("%d events in the journal, %d were taken", n, taken)
	}
}

// TestRoom checks that Append waits while the journal is only slow, and can be
// given up.
func TestRoom(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s := f.hub.Open(f.admit(t))
	if err := s.Append(t.Context(), 1, text("first")); err != nil {
		t.Fatal(err)
	}
	f.store.mu.Lock() // writes wait
	for range sink.MaxPending {
		if err := s.Append(t.Context(), 1, text("x")); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := s.Append(ctx, 1, text("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("full: %v", err)
	}
	done := make(chan error)
	go func() { done <- s.Append(t.Context(), 1, text("x")) }()
	f.store.mu.Unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestFlushGoesOn checks SNK-2 for what is appended while a write is under way:
// it is written in time, too, though nothing more comes.
func TestFlushGoesOn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	turn := f.admit(t)
	s := f.hub.Open(turn)
	if err := s.Append(t.Context(), 1, text("first")); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	f.store.mu.Lock()
	f.store.writing = func(journal.Step) {
		once.Do(func() {
			if err := s.Append(t.Context(), 1, text("last")); err != nil {
				t.Error(err)
			}
		})
	}
	f.store.mu.Unlock()
	if err := s.Append(t.Context(), 1, text("second")); err != nil {
		t.Fatal(err)
	}
	f.hub.Close()
	if n := len(stored(t, f, turn.ID)); n != 3 {
		t.Errorf("%d events in the journal", n)
	}
}

// TestEnded checks that nothing is added to a turn that has ended, here or
// behind the sink's back (C100).
func TestEnded(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s := f.hub.Open(f.admit(t))
	if err := finish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), 1, text("late")); !errors.Is(err, sink.ErrEnded) {
		t.Errorf("visible: %v", err)
	}
	if err := s.Append(t.Context(), 1, usage()); !errors.Is(err, sink.ErrEnded) {
		t.Errorf("not visible: %v", err)
	}
	if err := finish(t.Context(), s); !errors.Is(err, sink.ErrEnded) {
		t.Errorf("again: %v", err)
	}

	s = f.hub.Open(f.admit(t))
	r := s.Reader(0)
	if err := f.Write(t.Context(), journal.StepFinish, func(tx *journal.Tx) error {
		return tx.FinishTurn(journal.Finish{Turn: s.Turn(), State: journal.Cancelled})
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), 1, text("late")); !errors.Is(err, journal.ErrNotRunning) {
		t.Errorf("visible: %v", err)
	}
	if err := s.Append(t.Context(), 1, usage()); err != nil {
		t.Errorf("not visible: %v", err)
	}
	if _, err := all(t.Context(), r); !errors.Is(err, journal.ErrNotRunning) {
		t.Errorf("reader: %v", err)
	}
	if err := s.Append(t.Context(), 1, usage()); !errors.Is(err, sink.ErrEnded) {
		t.Errorf("after that: %v", err)
	}
}

// TestAbandon checks that readers of a turn whose end could not be stored do
// not wait for ever.
func TestAbandon(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s := f.hub.Open(f.admit(t))
	if err := s.Append(t.Context(), 1, text("x")); err != nil {
		t.Fatal(err)
	}
	r := s.Reader(0)
	done := make(chan error)
	go func() {
		events, err := all(t.Context(), r)
		if len(events) != 1 {
			t.Errorf("got %+v", events)
		}
		done <- err
	}()
	s.Abandon(errBroken)
	if err := <-done; !errors.Is(err, errBroken) {
		t.Error(err)
	}
	late, err := f.hub.Reader(t.Context(), s.Turn(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Next(t.Context()); !errors.Is(err, errBroken) {
		t.Errorf("a later reader: %v", err)
	}
}

// TestHubClose checks that what waits is in the journal when Close returns.
func TestHubClose(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var turns []journal.Turn
	for range 5 {
		turn := f.admit(t)
		if err := f.hub.Open(turn).Append(t.Context(), 0, usage(), usage()); err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	f.hub.Close()
	for _, turn := range turns {
		if n := len(stored(t, f, turn.ID)); n != 2 {
			t.Errorf("%d events", n)
		}
	}
}
