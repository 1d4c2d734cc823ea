package reliability_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/secret"
)

func pool(labels ...string) *reliability.Keys {
	var keys []reliability.Key
	for _, l := range labels {
		keys = append(keys, reliability.Key{Label: l, Value: secret.New("value of " + l)})
	}
	return reliability.NewKeys(keys...)
}

// A failure that the key is to blame for moves the next attempt to the next
// key, and the ledger names it (REL-8).
func TestNextKey(t *testing.T) {
	t.Parallel()
	for _, class := range []abi.FailureClass{abi.FailureRateLimited, abi.FailureAuth, abi.FailureQuota} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", failing(class), good("Hi"))
				a.Keys = pool("one", "two")
				got := run(t, t.Context(), a)
				if got.State != reliability.Complete || got.took != 0 {
					t.Fatalf("state %v after %s: %v", got.State, got.took, got.Err)
				}
				if first, second := got.ledger.attempts[0].KeyLabel, got.ledger.attempts[1].KeyLabel; first != "one" || second != "two" {
					t.Errorf("keys %q and %q, want one and two", first, second)
				}
				if ua.asked[0].Key.Equal(ua.asked[1].Key) {
					t.Error("the same key was sent twice")
				}
			})
		})
	}
}

// A key that was refused is not used again until the config is loaded anew; one
// that is rate-limited rests (REL-8).
func TestKeysRest(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		keys := pool("one", "two")
		take := func() (*reliability.Lease, time.Duration) {
			start := time.Now()
			l, _, ok := keys.Acquire(t.Context(), "m", time.Hour, time.Hour)
			if !ok {
				return nil, 0
			}
			return l, time.Since(start)
		}
		one, _ := take()
		one.Failed(abi.FailureAuth, 0, time.Minute)
		two, _ := take()
		if two.Label != "two" {
			t.Fatalf("got key %q", two.Label)
		}
		two.Failed(abi.FailureQuota, 0, time.Minute)
		two, waited := take()
		if two.Label != "two" || waited != time.Minute {
			t.Fatalf("got key %q after %s, want two after its rest of 60 s", two.Label, waited)
		}
		two.Failed(abi.FailureRateLimited, 7*time.Second, time.Minute)
		if two, waited = take(); two.Label != "two" || waited != 7*time.Second {
			t.Fatalf("got key %q after %s, want two after its Retry-After", two.Label, waited)
		}
		two.Failed(abi.FailureAuth, 0, time.Minute)
		if l, _ := take(); l != nil {
			t.Errorf("got key %q though all are parked", l.Label)
		}
	})
}

// Twenty turns meet a limit of 5 requests per 10 s (C150): all of them get
// their answer, and the server does not see many more requests than that.
func TestManyTurnsOneLimit(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		const turns = 20
		server := &limited{allowed: 5, per: 10 * time.Second}
		keys := pool("one")
		var all sync.WaitGroup
		for range turns {
			all.Go(func() {
				c := &reliability.Candidate{
					Provider: "a", Model: "m", Upstream: server, Keys: keys, Breaker: &reliability.Breaker{},
					Policy: reliability.Policy{Retries: 2, Backoff: 500 * time.Millisecond, RetryAfterMax: time.Minute, KeyCooldown: time.Minute},
				}
				chain := reliability.Chain{Candidates: []*reliability.Candidate{c}}
				a, err := chain.Run(t.Context(), &ledger{}, "t", 1, &reliability.Prompt{})
				if err != nil || a.State != reliability.Complete {
					t.Errorf("state %v: %v, %v", a.State, a.Err, err)
				}
			})
		}
		all.Wait()
		t.Logf("%d requests for %d turns", server.seen, turns)
		if server.seen > turns*9/4 {
			t.Errorf("the server saw %d requests for %d turns", server.seen, turns)
		}
	})
}

// limited answers so many requests in each window, and 429 to the rest.
type limited struct {
	allowed int
	per     time.Duration
	mu      sync.Mutex
	window  time.Time
	used    int
	seen    int
}

func (l *limited) Fingerprint() string { return "limited" }

func (l *limited) Open(ctx context.Context, _ reliability.Request) (reliability.Stream, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++
	if now := time.Now(); l.window.IsZero() || now.Sub(l.window) >= l.per {
		l.window, l.used = now, 0
	}
	if l.used == l.allowed {
		return nil, &abi.Failure{Class: abi.FailureRateLimited, Status: 429, RetryAfterMS: 2000}
	}
	l.used++
	u := &upstream{replies: []reply{good("Hi")}, open: 1}
	return &fakeStream{u: u, ctx: ctx, r: good("Hi")}, nil
}

// A limit is one of a key and a model: another model of the same provider is
// asked with the same key (C052).
func TestLimitOfOneModel(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		day := reply{open: &abi.Failure{Class: abi.FailureRateLimited, RetryAfterMS: 86_400_000}}
		a, ua := candidate("a", day)
		b, ub := candidate("a", good("Hi"))
		b.Model, b.Keys = "small", a.Keys
		got := run(t, t.Context(), a, b)
		if got.State != reliability.Complete || !got.Fallback || got.took != 0 {
			t.Fatalf("state %v after %s: %v", got.State, got.took, got.Err)
		}
		run(t, t.Context(), a, b)
		if len(ua.asked) != 1 || len(ub.asked) != 2 {
			t.Errorf("asked %d and %d times: a model that asks to wait a day is asked once", len(ua.asked), len(ub.asked))
		}
	})
}

// A key that would rest longer than a candidate may wait is not waited for, and
// the pool says how long it would be (REL-6, REL-8).
func TestRestOverTheCap(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		keys := pool("one")
		first, _, _ := keys.Acquire(t.Context(), "m", 0, 0)
		first.Failed(abi.FailureQuota, time.Hour, time.Minute)
		start := time.Now()
		_, wait, ok := keys.Acquire(t.Context(), "m", time.Minute, 2*time.Hour)
		if took := time.Since(start); ok || wait != time.Hour || took != 0 {
			t.Errorf("ok %v, wait %s after %s; want 1h at once", ok, wait, took)
		}
	})
}

// A careful key is free again when its request was cancelled (REL-8).
func TestCancelledGivesTheKeyBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		keys := pool("one")
		take := func(patience time.Duration) *reliability.Lease {
			l, _, _ := keys.Acquire(t.Context(), "m", time.Minute, patience)
			return l
		}
		take(0).Failed(abi.FailureRateLimited, time.Second, time.Minute)
		careful := take(time.Minute)
		if l := take(time.Second); l != nil {
			t.Fatal("a careful key lets two requests go side by side")
		}
		careful.Cancelled()
		if l := take(time.Second); l == nil {
			t.Error("the key of a cancelled request is still in use")
		}
	})
}

// Each key that is refused, or has no quota, leads to the next one, as long as
// there is one: it costs nothing of the budget (REL-7, REL-8).
func TestManyBadKeys(t *testing.T) {
	t.Parallel()
	for _, class := range []abi.FailureClass{abi.FailureAuth, abi.FailureQuota} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				bad := failing(class)
				a, _ := candidate("a", bad, bad, bad, bad, good("Hi"))
				a.Policy.Retries = 0
				a.Keys = pool("1", "2", "3", "4", "5")
				got := run(t, t.Context(), a)
				got.outcomes()
				labels := ""
				for _, a := range got.ledger.attempts {
					labels += a.KeyLabel
				}
				if got.State != reliability.Complete || labels != "12345" || got.took != 0 {
					t.Errorf("state %v, keys %s after %s: %v", got.State, labels, got.took, got.Err)
				}
			})
		})
	}
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", failing(abi.FailureAuth))
		a.Keys = pool("1", "2", "3")
		if got := run(t, t.Context(), a); len(ua.asked) != 3 || got.State != reliability.Failed {
			t.Errorf("asked %d times with 3 keys: %v", len(ua.asked), got.Err)
		}
	})
}
