package reliability_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
)

// A candidate that keeps failing is left out, probed, and taken back (REL-10).
func TestBreaker(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		var b reliability.Breaker
		for range 5 {
			if ok, _ := b.Allow(); !ok {
				t.Fatal("open before 5 failures")
			}
			b.Report(false)
		}
		for _, rest := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
			time.Sleep(rest - time.Millisecond)
			if ok, _ := b.Allow(); ok {
				t.Fatalf("allowed before %s were over", rest)
			}
			time.Sleep(time.Millisecond)
			if ok, probe := b.Allow(); !ok || !probe {
				t.Fatalf("no probe after %s", rest)
			}
			if ok, _ := b.Allow(); ok {
				t.Fatal("two probes at once")
			}
			b.Report(false)
		}
		time.Sleep(5 * time.Minute)
		b.Allow()
		b.Report(true)
		for range 2 {
			if ok, probe := b.Allow(); !ok || probe {
				t.Error("still open after a good probe")
			}
		}
		synctest.Wait()
	})
}

// The only candidate is asked although it keeps failing; with another one
// there, it is not (REL-10).
func TestBreakerAndChain(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", failing(abi.FailureServer))
		b, ub := candidate("b", good("Hi"))
		for range 5 {
			a.Breaker.Report(false)
		}
		if got := run(t, t.Context(), a); len(ua.asked) == 0 || got.State != reliability.Failed {
			t.Errorf("the only candidate was not asked: %v", got.Err)
		}
		before := len(ua.asked)
		got := run(t, t.Context(), a, b)
		if len(ua.asked) != before || len(ub.asked) != 1 || !ub.asked[0].Stream || !strings.Contains(got.ledger.types(journal.EventDecision), "decision") {
			t.Errorf("a was asked %d times more, b %d times", len(ua.asked)-before, len(ub.asked))
		}
		if !got.Fallback {
			t.Error("b's answer is a fallback's (CST-4)")
		}
		time.Sleep(5 * time.Minute)
		run(t, t.Context(), a, b)
		if probes := len(ua.asked) - before; probes != 1 {
			t.Errorf("the probe was %d requests, want one", probes)
		}
	})
}

// open opens a breaker and lets its time pass: the next request is a probe.
func open(b *reliability.Breaker) {
	for range 5 {
		b.Report(false)
	}
	time.Sleep(30 * time.Second)
}

// The chain tells the breaker how attempts went: turn after turn fails, and
// then the candidate is left out, and the journal says by which rule (REL-10).
func TestFailingTurnsOpenTheBreaker(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", failing(abi.FailureUnknown)) // one attempt a turn
		b, _ := candidate("b", good("Hi"))
		for n := range 6 {
			got := run(t, t.Context(), a, b)
			said := strings.Contains(got.ledger.data(journal.EventDecision), "REL-10")
			if want := min(n+1, 5); len(ua.asked) != want || said != (n == 5) {
				t.Fatalf("turn %d: asked %d times, want %d; said so: %v", n+1, len(ua.asked), want, said)
			}
		}
	})
}

// A success in between starts the count again.
func TestSuccessClosesTheBreaker(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		bad := failing(abi.FailureUnknown)
		a, ua := candidate("a", bad, bad, bad, bad, good("Hi"), bad, bad, bad, bad, good("Hi"))
		b, _ := candidate("b", good("Hi"))
		for range 10 {
			run(t, t.Context(), a, b)
		}
		if len(ua.asked) != 10 {
			t.Errorf("asked %d times in 10 turns", len(ua.asked))
		}
	})
}

// The fifth failure opens for 30 s. Failures of requests that were on their way
// then, such as the turn's own retries, do not make it longer: no probe was
// made yet.
func TestBreakerGrowsOnlyByProbes(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", failing(abi.FailureServer))
		a.Policy.Retries = 6 // 8 attempts in one turn
		b, _ := candidate("b", good("Hi"))
		run(t, t.Context(), a, b)
		before := len(ua.asked)
		time.Sleep(30 * time.Second)
		if run(t, t.Context(), a, b); len(ua.asked) != before+1 {
			t.Errorf("asked %d times, and %d times more after 30 s", before, len(ua.asked)-before)
		}
	})
}

// A probe that came to nothing is given back, so that the next turn probes.
func TestProbeIsGivenBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, a, b *reliability.Candidate)
		rep  reply
	}{
		{name: "cancelled before it is sent", rep: good("Hi"), run: func(t *testing.T, a, b *reliability.Candidate) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			run(t, ctx, a, b)
		}},
		{name: "cancelled while it is answered", rep: reply{hang: true}, run: func(t *testing.T, a, b *reliability.Candidate) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			run(t, ctx, a, b)
		}},
		{name: "cancelled while it waits for a key", rep: good("Hi"), run: func(t *testing.T, a, b *reliability.Candidate) {
			lease(t, a).Failed(abi.FailureQuota, 10*time.Second, time.Minute)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			run(t, ctx, a, b)
		}},
		{name: "no key", rep: good("Hi"), run: func(t *testing.T, a, b *reliability.Candidate) {
			lease(t, a).Failed(abi.FailureQuota, 2*time.Minute, time.Minute)
			run(t, t.Context(), a, b)
		}},
		{name: "a failure that says nothing of the candidate", rep: failing(abi.FailureInvalidRequest), run: func(t *testing.T, a, b *reliability.Candidate) {
			run(t, t.Context(), a, b)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, _ := candidate("a", tc.rep)
				b, _ := candidate("b", good("Hi"))
				open(a.Breaker)
				tc.run(t, a, b)
				if ok, probe := a.Breaker.Allow(); !ok || !probe {
					t.Errorf("allowed %v, as a probe %v: want another probe", ok, probe)
				}
			})
		})
	}
}

func lease(t *testing.T, c *reliability.Candidate) *reliability.Lease {
	t.Helper()
	l, _, ok := c.Keys.Acquire(t.Context(), c.Model, 0, 0)
	if !ok {
		t.Fatal("no key")
	}
	return l
}
