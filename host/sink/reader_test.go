package sink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/sink"
)

// TestReconnect checks SNK-4: a reader gets what comes after the number that it
// names, from a turn that runs, one that has just ended, and an old one.
func TestReconnect(t *testing.T) {
	t.Parallel()
	f := setup(t)
	turn := f.admit(t)
	s := f.hub.Open(turn)
	for i := range 9 {
		if err := s.Append(t.Context(), 1, text(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string, r *sink.Reader, want string) {
		t.Helper()
		var got strings.Builder
		for got.Len() < len(want) {
			events, err := r.Next(t.Context())
			if err != nil {
				t.Fatalf("%s: %v after %q", when, err, got.String())
			}
			for _, e := range events {
				got.WriteString(e.Text)
			}
		}
		if got.String() != want {
			t.Errorf("%s: got %q, want %q", when, got.String(), want)
		}
	}
	reader := func(after int64) *sink.Reader {
		t.Helper()
		r, err := f.hub.Reader(t.Context(), turn.ID, after)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	check("running", reader(0), "012345678")
	check("running", reader(4), "45678")
	late := s.Reader(7)
	if err := finish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	check("just ended", late, "78")
	check("ended", reader(3), "345678")
	check("ended, before the first", reader(-5), "012345678")
	if _, err := reader(10).Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	if _, err := reader(999).Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("beyond the end: %v", err)
	}
	if _, err := f.hub.Reader(t.Context(), "t_none", 0); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("no such turn: %v", err)
	}
}

// TestReaderOfWaitingTurn checks SNK-4 for a turn whose sink nobody has opened
// yet: the reader waits for it.
func TestReaderOfWaitingTurn(t *testing.T) {
	t.Parallel()
	f := setup(t)
	turn := f.admit(t)
	r, err := f.hub.Reader(t.Context(), turn.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan []journal.Event)
	go func() {
		events, err := all(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		got <- events
	}()
	if err := finish(t.Context(), f.hub.Open(turn)); err != nil {
		t.Fatal(err)
	}
	if events := <-got; len(events) != 1 {
		t.Errorf("got %+v", events)
	}
}

// TestSlowReader checks SNK-5: a reader that does not read delays nobody, takes
// no memory, and gets each event once when it comes back.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	f := setup(t)
	turn := f.admit(t)
	s := f.hub.Open(turn)
	slow := s.Reader(0)
	const total = 5000
	for i := range total {
		if err := s.Append(t.Context(), 1, text(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			if err := f.hub.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := s.Kept(); n > sink.MaxPending+2*sink.Keep {
		t.Errorf("%d events in memory", n)
	}
	if err := finish(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	got, err := all(t.Context(), slow)
	if err != nil || len(got) != total+1 {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for i, e := range got[:total] {
		if e.N != int64(i+1) || e.Text != fmt.Sprint(i) {
			t.Fatalf("event %d is %+v", i+1, e)
		}
	}
}

// TestNextCanceled checks that a reader can be given up while it waits, and
// used again.
func TestNextCanceled(t *testing.T) {
	t.Parallel()
	f := setup(t)
	s := f.hub.Open(f.admit(t))
	r := s.Reader(0)
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if err := s.Append(t.Context(), 1, text("x")); err != nil {
		t.Fatal(err)
	}
	if events, err := r.Next(t.Context()); err != nil || len(events) != 1 {
		t.Errorf("%+v, %v", events, err)
	}
}

// TestReaderOfTurnThatEndsJustNow checks that a reader does not wait for ever
// when the turn ends while the reader is being made.
func TestReaderOfTurnThatEndsJustNow(t *testing.T) {
	t.Parallel()
	f := setup(t)
	turn := f.admit(t)
	s := f.hub.Open(turn)
	other := sink.NewHub(f.store) // knows nothing of that sink
	once := sync.OnceFunc(func() {
		if err := finish(t.Context(), s); err != nil {
			t.Error(err)
		}
	})
	f.store.looked = once
	r, err := other.Reader(t.Context(), turn.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := all(t.Context(), r); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
