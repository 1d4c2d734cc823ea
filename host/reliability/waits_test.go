package reliability_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
)

// The waits: jitter, the floor, Retry-After and its cap (REL-6, C052).
func TestWaits(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration) reply {
		return reply{open: &abi.Failure{Class: abi.FailureServer, RetryAfterMS: d.Milliseconds()}}
	}
	inStream := func(d time.Duration) reply {
		return reply{events: [][]abi.Event{{{Type: abi.EventFailure, Failure: &abi.Failure{Class: abi.FailureServer, RetryAfterMS: d.Milliseconds()}}}}}
	}
	for _, tc := range []struct {
		name  string
		first []reply
		took  time.Duration
		state reliability.State
	}{
		{"full jitter may be nothing", []reply{cut(), good("Hi")}, 0, reliability.Complete},
		{"overloaded waits 2 s at least", []reply{failing(abi.FailureOverloaded), good("Hi")}, 2 * time.Second, reliability.Complete},
		{"Retry-After is a minimum", []reply{after(30 * time.Second), good("Hi")}, 30 * time.Second, reliability.Complete},
		{"also in an error in the stream", []reply{inStream(30 * time.Second), good("Hi")}, 30 * time.Second, reliability.Complete},
		{"one over retry_after_max in the stream ends it", []reply{inStream(24 * time.Hour)}, 0, reliability.Failed},
		{"one over retry_after_max ends it", []reply{after(24 * time.Hour)}, 0, reliability.Failed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, _ := candidate("a", tc.first...)
				got := run(t, t.Context(), a)
				if got.took != tc.took || got.State != tc.state {
					t.Errorf("took %s, state %v; want %s, %v", got.took, got.State, tc.took, tc.state)
				}
				if tc.state == reliability.Failed && (!strings.Contains(got.Err.Error(), "24h") || got.Err.Wait != 24*time.Hour || len(got.ledger.attempts) != 1) {
					t.Errorf("%d attempts; the error %q does not name the wait", len(got.ledger.attempts), got.Err)
				}
			})
		})
	}
}

// The deadline of the chain ends a turn that would wait and wait.
func TestDeadline(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", reply{hang: true})
		got := run(t, t.Context(), a)
		if got.State != reliability.Failed || got.took != 10*time.Minute || !strings.Contains(got.Err.Error(), "turn_deadline") {
			t.Errorf("state %v after %s: %v", got.State, got.took, got.Err)
		}
		if said := got.said(); !strings.Contains(said, "REL-6") || strings.Contains(said, "again, without streaming") {
			t.Errorf("it says %s", said)
		}
	})
}

// The backoff doubles from provider_backoff_ms to 10 s (REL-6).
func TestBackoff(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", failing(abi.FailureServer))
		a.Policy.Retries = 6
		c := reliability.Chain{Candidates: []*reliability.Candidate{a}, Random: func() float64 { return 1 }}
		if _, err := c.Run(t.Context(), &ledger{}, "t_1", 1, &reliability.Prompt{}); err != nil {
			t.Fatal(err)
		}
		var got []time.Duration
		for i := 1; i < len(ua.at); i++ {
			got = append(got, ua.at[i].Sub(ua.at[i-1]))
		}
		ms := time.Millisecond
		if want := []time.Duration{500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 10000 * ms, 10000 * ms}; !slices.Equal(got, want) {
			t.Errorf("waited %v, want %v", got, want)
		}
	})
}

// The ledger's wait holds what was waited for a key, too (CST-1).
func TestWaitForKeyIsInTheLedger(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", failing(abi.FailureRateLimited), failing(abi.FailureRateLimited), good("Hi"))
		a.Keys = pool("1", "2")
		got := run(t, t.Context(), a)
		got.outcomes()
		var sum time.Duration
		for _, a := range got.ledger.attempts {
			sum += a.Wait
		}
		if got.took != time.Minute || sum != got.took {
			t.Errorf("the turn waited %s, the ledger says %s", got.took, sum)
		}
	})
}

// What an attempt led to is not said of a request that is not sent: when an
// empty answer ends the budget, nothing is asked again (REL-5, REL-11).
func TestEmptyAtTheEndOfTheBudget(t *testing.T) {
	t.Parallel()
	empty := reply{events: [][]abi.Event{{finish(abi.FinishStop), done()}}}
	down := failing(abi.FailureServer)
	for _, tc := range []struct {
		name  string
		first []reply
		probe bool
		asked int
	}{
		{"the last attempt", []reply{down, down, down, empty}, false, 4},
		{"a probe", []reply{empty}, true, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", tc.first...)
				b, _ := candidate("b", good("from b"))
				if tc.probe {
					open(a.Breaker)
				}
				got := run(t, t.Context(), a, b)
				if len(ua.asked) != tc.asked || got.Text() != "from b" {
					t.Errorf("asked %d times: %s", len(ua.asked), got.outcomes())
				}
				if strings.Contains(got.said(), "one request without streaming") {
					t.Errorf("it says %s", got.said())
				}
			})
		})
	}
}
