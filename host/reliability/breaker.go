package reliability

import (
	"sync"
	"time"
)

const (
	breakerFailures = 5
	breakerFirst    = 30 * time.Second
	breakerMost     = 5 * time.Minute
)

// Breaker leaves out a candidate that keeps failing (REL-10): after 5 failures
// in a row it is skipped for 30 s, then probed by one request; each failed
// probe doubles the time, up to 5 min. It is safe for concurrent use, and its
// zero value is ready.
type Breaker struct {
	mu      sync.Mutex
	failed  int
	open    time.Duration // how long it was opened last; 0 while closed
	until   time.Time
	probing bool
}

// Allow reports whether the candidate may be asked now. While the breaker is
// open it lets one probe through at a time once its time is over: that is one
// request, which must be answered by Report or Forget.
func (b *Breaker) Allow() (ok, probe bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == 0 {
		return true, false
	}
	if b.probing || time.Now().Before(b.until) {
		return false, false
	}
	b.probing = true
	return true, true
}

// Report tells how an attempt went. An attempt that says nothing about the
// candidate, such as a cancelled one, is neither: see Forget.
func (b *Breaker) Report(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	probed := b.probing
	b.probing = false
	if ok {
		b.failed, b.open = 0, 0
		return
	}
	b.failed++
	if b.failed < breakerFailures || (b.open > 0 && !probed) {
		return // not yet, or of a request that was sent before it opened
	}
	b.open = min(max(breakerFirst, 2*b.open), breakerMost)
	b.until = time.Now().Add(b.open)
}

// Forget gives back a probe that came to nothing.
func (b *Breaker) Forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.probing = false
}
