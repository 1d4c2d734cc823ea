package plugin

import (
	"sync"
	"time"
)

// Quarantine: so many failures in a row, then so long.
const (
	quarantineAfter = 5
	quarantineFirst = time.Second
	quarantineMost  = 5 * time.Minute
)

// verdict is what a call says about the plugin.
type verdict int

const (
	verdictNone   verdict = iota // the call was given up: nothing is known
	verdictGood                  // it works
	verdictFailed                // it failed
)

// quarantine keeps calls away from a plugin that fails again and again.
//
//	open ── 5 failures in a row ──► closed until T ── T has come, one call ──► probing
//	  ▲                                  ▲                                        │
//	  │                                  └── failed: T doubles, to 5 min ─────────┤
//	  └───────────────────────────────────────────────────── works ───────────────┘
//
// A probe that is given up leaves the next call to be the probe.
type quarantine struct {
	mu       sync.Mutex
	failures int // in a row
	delay    time.Duration
	until    time.Time // zero: open
	probing  bool
	last     string // the last failure
}

// ticket is the right to make one call.
type ticket struct{ probe bool }

// admit lets a call pass, or says until when there is none.
func (q *quarantine) admit(now time.Time) (ticket, time.Time, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.until.IsZero():
		return ticket{}, time.Time{}, true
	case q.probing || now.Before(q.until):
		return ticket{}, q.until, false
	}
	q.probing = true
	return ticket{probe: true}, time.Time{}, true
}

// settle notes how an admitted call ended. It returns the end of a quarantine
// that has just begun or grown, otherwise zero.
func (q *quarantine) settle(now time.Time, t ticket, v verdict, cause string) time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.probe {
		q.probing = false
	}
	switch v {
	case verdictGood:
		if q.until.IsZero() || t.probe {
			q.failures, q.delay, q.until = 0, 0, time.Time{}
		}
	case verdictFailed:
		q.failures++
		q.last = cause
		if t.probe || (q.until.IsZero() && q.failures >= quarantineAfter) {
			q.delay = min(max(2*q.delay, quarantineFirst), quarantineMost)
			q.until = now.Add(q.delay)
			return q.until
		}
	case verdictNone:
	}
	return time.Time{}
}

// state returns the end of the quarantine (zero if there is none), the failures
// in a row, and the last failure.
func (q *quarantine) state() (until time.Time, failures int, last string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.until, q.failures, q.last
}
