package plugin

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Five failures in a row, then 1 s doubling to 5 min, one probe each time.
func TestQuarantineDelays(t *testing.T) {
	t.Parallel()
	var q quarantine
	now := time.Unix(1_000_000, 0)
	fail := func() time.Time {
		pass, _, ok := q.admit(now)
		if !ok {
			t.Fatal("a call was refused")
		}
		return q.settle(now, pass, verdictFailed, "boom")
	}
	for n := range 4 {
		if until := fail(); !until.IsZero() {
			t.Fatalf("quarantined after %d failures", n+1)
		}
	}
	for _, want := range []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		until := fail()
		if got := until.Sub(now).Seconds(); got != want {
			t.Fatalf("the delay is %v s, want %v", got, want)
		}
		now = until.Add(-1)
		if _, _, ok := q.admit(now); ok {
			t.Fatal("a call passed before the time")
		}
		now = until
	}
	probe, _, ok := q.admit(now)
	if _, _, second := q.admit(now); !ok || second {
		t.Fatalf("probe admitted: %v, and a second one: %v", ok, second)
	}
	q.settle(now, probe, verdictGood, "")
	if until, failures, last := q.state(); !until.IsZero() || failures != 0 || last != "boom" {
		t.Fatalf("after a good probe: %v, %d failures, last %q", until, failures, last)
	}
	for range 4 {
		fail()
	}
	if until := fail(); until.Sub(now) != time.Second {
		t.Fatalf("the next quarantine does not begin at 1 s again but at %v", until.Sub(now))
	}
}

// A probe that its caller gives up does not block the next one for ever.
func TestAbandonedProbe(t *testing.T) {
	t.Parallel()
	var q quarantine
	now := time.Unix(1_000_000, 0)
	for range quarantineAfter {
		q.settle(now, ticket{}, verdictFailed, "boom")
	}
	now = now.Add(time.Minute)
	pass, _, _ := q.admit(now)
	q.settle(now, pass, verdictNone, "")
	if next, _, ok := q.admit(now); !ok || !next.probe {
		t.Error("no further probe is admitted")
	}
}

// Against a model: calls overlap, and end in any order.
func TestQuarantineModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q quarantine
		now := time.Unix(1_000_000, 0)
		var running []ticket
		var failures, probes int
		var until time.Time
		var delay time.Duration
		t.Repeat(map[string]func(*rapid.T){
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "for")))
			},
			"call": func(t *rapid.T) {
				pass, _, ok := q.admit(now)
				want := until.IsZero() || (!now.Before(until) && probes == 0)
				if ok != want || (ok && pass.probe == until.IsZero()) {
					t.Fatalf("admitted %v (probe %v), want %v", ok, pass.probe, want)
				}
				if ok {
					running = append(running, pass)
				}
				if pass.probe {
					probes++
				}
			},
			"end": func(t *rapid.T) {
				if len(running) == 0 {
					t.Skip("nothing runs")
				}
				n := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				pass := running[n]
				running = append(running[:n], running[n+1:]...)
				v := rapid.SampledFrom([]verdict{verdictNone, verdictGood, verdictFailed}).Draw(t, "how")
				if pass.probe {
					probes--
				}
				open := until.IsZero()
				switch {
				case v == verdictGood && (open || pass.probe):
					failures, delay, until = 0, 0, time.Time{}
				case v == verdictFailed:
					failures++
					if pass.probe || (open && failures >= 5) {
						delay = min(max(delay*2, time.Second), 5*time.Minute)
						until = now.Add(delay)
					}
				}
				q.settle(now, pass, v, "")
			},
			"": func(t *rapid.T) {
				gotUntil, gotFailures, _ := q.state()
				if !gotUntil.Equal(until) || gotFailures != failures || probes > 1 {
					t.Fatalf("until %v with %d failures and %d probes, want %v with %d", gotUntil, gotFailures, probes, until, failures)
				}
			},
		})
	})
}
