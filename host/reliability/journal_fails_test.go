package reliability_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
)

// flaky is a ledger that refuses chosen writes. A refused write leaves nothing
// behind.
type flaky struct {
	ledger
	calls int
	// refuse tells whether write number n, counted from 1, fails; a write of
	// events has some, one of a row has none.
	refuse func(n int, write string, events []journal.Event) bool
}

func (f *flaky) write(kind string, events []journal.Event) error {
	f.calls++
	if f.refuse(f.calls, kind, events) {
		return errDisk
	}
	return nil
}

func (f *flaky) StartAttempt(ctx context.Context, a journal.Attempt) (int64, error) {
	if err := f.write("start", nil); err != nil {
		return 0, err
	}
	return f.ledger.StartAttempt(ctx, a)
}

func (f *flaky) SettleAttempt(ctx context.Context, a journal.Attempt) error {
	if err := f.write("settle", nil); err != nil {
		return err
	}
	return f.ledger.SettleAttempt(ctx, a)
}

func (f *flaky) Append(ctx context.Context, id int64, events ...journal.Event) error {
	if err := f.write("append", events); err != nil {
		return err
	}
	return f.ledger.Append(ctx, id, events...)
}

// runFlaky asks a chain whose journal refuses what refuse says.
func runFlaky(t *testing.T, refuse func(n int, write string, events []journal.Event) bool, cs ...*reliability.Candidate) (result, error) {
	t.Helper()
	l := &flaky{refuse: refuse}
	c := reliability.Chain{Candidates: cs, Random: func() float64 { return 0 }}
	a, err := c.Run(t.Context(), l, "t_1", 1, &reliability.Prompt{})
	return result{Answer: a, ledger: &l.ledger}, err
}

// An outcome that the journal refused is known all the same: the caller gets
// it, to store it with the end of the turn (CST-1).
func TestOutcomeNotStored(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", failing(abi.FailureServer), good("Hi"))
		got, err := runFlaky(t, func(_ int, write string, _ []journal.Event) bool { return write == "settle" }, a)
		if !errors.Is(err, errDisk) || got.State != reliability.Failed || len(ua.asked) != 1 {
			t.Fatalf("err %v, state %v, asked %d times", err, got.State, len(ua.asked))
		}
		if got.Unsettled == nil || got.Unsettled.Outcome != "server" {
			t.Errorf("the row stays %q though the outcome is known: %+v", got.ledger.attempts[0].Outcome, got.Unsettled)
		}
		if want := []abi.EventType{journal.EventAttemptEnded, journal.EventDecision}; len(got.Events) != len(want) || got.Events[0].Attempt != 1 {
			t.Errorf("events %v, want %v of attempt 1", got.Events, want)
		}
	})
}

// When the outcome is stored and the events that end the attempt are not, the
// caller gets these: `why` lives on them.
func TestClosingEventsNotStored(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", failing(abi.FailureServer), good("Hi"))
		got, err := runFlaky(t, func(_ int, _ string, events []journal.Event) bool {
			return len(events) > 0 && events[0].Type == journal.EventAttemptEnded
		}, a)
		if !errors.Is(err, errDisk) || got.Unsettled != nil {
			t.Fatalf("err %v, unsettled %v", err, got.Unsettled)
		}
		if len(got.Events) != 2 || got.Events[0].Type != journal.EventAttemptEnded || got.Events[1].Type != journal.EventDecision {
			t.Errorf("events %v, want the end of attempt 1 and the decision after it", got.Events)
		}
	})
}

// What the journal refused nobody has seen: it is neither visible nor part of
// the answer, and the attempt was cut off by the host, cancelled by nobody
// (SNK-2, MRK-2).
func TestTextNotStored(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		refused string
		state   reliability.State
		kept    string
	}{
		{"the first", "one ", reliability.Failed, ""},
		{"a later one", "two", reliability.Interrupted, "one "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", reply{events: [][]abi.Event{{text("one ")}, {text("two")}, {finish(abi.FinishStop), done()}}})
				got, err := runFlaky(t, func(_ int, _ string, events []journal.Event) bool {
					return len(events) > 0 && events[0].Text == tc.refused
				}, a)
				if !errors.Is(err, errDisk) || got.State != tc.state {
					t.Errorf("err %v, state %v; want %v", err, got.State, tc.state)
				}
				if got.Text() != tc.kept || got.Visible != (tc.kept != "") {
					t.Errorf("kept %q, visible %v; shown %q", got.Text(), got.Visible, tc.kept)
				}
				if got.Unsettled == nil || got.Unsettled.Outcome != journal.OutcomeInterrupted {
					t.Errorf("attempt %+v, want outcome interrupted", got.Unsettled)
				}
				if ua.open != 0 {
					t.Error("the stream was left open (STR-9)")
				}
			})
		})
	}
}

// The journal fails at one write, whichever it is: nothing more is asked, what
// is called visible is stored, every outcome is stored or handed back, and keys
// and breaker are free for the next turn.
func TestJournalFailsAtEachWrite(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*reliability.Candidate){
		"asked again": func(*reliability.Candidate) {},
		"a probe":     func(c *reliability.Candidate) { open(c.Breaker) },
		"a careful key": func(c *reliability.Candidate) {
			for range 2 {
				l, _, _ := c.Keys.Acquire(t.Context(), c.Model, 0, 0)
				l.Failed(abi.FailureRateLimited, time.Second, time.Minute)
			}
			time.Sleep(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for failed := true; failed; {
				n++
				bubble(t, func(t *testing.T) { failed = failsAt(t, n, prepare) })
			}
			if n < 8 {
				t.Errorf("only %d writes were tried", n)
			}
		})
	}
}

// failsAt runs a chain whose journal refuses write n. It reports whether there
// were so many.
func failsAt(t *testing.T, n int, prepare func(*reliability.Candidate)) bool {
	t.Helper()
	a, ua := candidate("a", failing(abi.FailureServer), failing(abi.FailureRateLimited), failing(abi.FailureQuota))
	a.Keys = pool("one", "two")
	b, ub := candidate("b", good("Hi"))
	prepare(a)
	asked := 0
	got, err := runFlaky(t, func(at int, _ string, _ []journal.Event) bool {
		if at == n {
			asked = len(ua.asked) + len(ub.asked)
		}
		return at == n
	}, a, b)
	if err == nil {
		return false
	}
	checkStopped(t, n, got, len(ua.asked)+len(ub.asked)-asked)
	time.Sleep(time.Hour)
	for _, c := range []*reliability.Candidate{a, b} {
		if ok, _ := c.Breaker.Allow(); !ok {
			t.Errorf("write %d: the breaker waits for a probe that was never made", n)
		}
		for range 2 { // a careful key is given to one at a time
			if _, _, ok := c.Keys.Acquire(t.Context(), "m", 0, time.Second); !ok {
				t.Errorf("write %d: a key is still in use", n)
			}
		}
	}
	return true
}

func checkStopped(t *testing.T, n int, got result, more int) {
	t.Helper()
	if more != 0 {
		t.Errorf("write %d failed, and %d more requests were sent", n, more)
	}
	shown := got.ledger.types(abi.EventText) != ""
	if got.Visible != shown {
		t.Errorf("write %d: visible %v, stored %v", n, got.Visible, shown)
	}
	if got.State == reliability.Complete || (got.State == reliability.Interrupted) != shown {
		t.Errorf("write %d: state %v, visible %v", n, got.State, shown)
	}
	got.outcomes()
	for i := range got.Err.Attempts {
		if a := got.ledger.attempts[i]; a.Outcome == journal.OutcomeUnknown {
			t.Errorf("write %d: the outcome of attempt %d is known and lost", n, a.Number)
		}
	}
}
