package reliability

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/secret"
)

// Key is one credential of a provider.
type Key struct {
	// Label names the key in the ledger: "env:NAME", never a value. It is
	// empty for an endpoint without credentials.
	Label string
	Value secret.Value
}

// Keys is the pool of a provider's keys (REL-8), shared by all turns. A key
// that is refused is parked; one without quota rests; one that is rate-limited
// rests for the model that it was used for, and is then paced (see pace). It
// is safe for concurrent use.
type Keys struct {
	mu     sync.Mutex
	keys   []*keyState
	next   int                  // where the search for a key begins
	lines  map[string][]*ticket // who waits, by model, first come first
	change chan struct{}        // closed and replaced when somebody may go
}

type keyState struct {
	Key
	parked bool             // by an auth failure, until the config is reloaded
	until  time.Time        // rests until then, whatever the model
	paces  map[string]*pace // by model
}

// ticket is a place in a line. It has a field so that each has an address of
// its own.
type ticket struct{ _ byte }

// NewKeys returns a pool of these keys in order; with none, the pool holds one
// nameless key for an endpoint without credentials.
func NewKeys(keys ...Key) *Keys {
	if len(keys) == 0 {
		keys = []Key{{}}
	}
	k := &Keys{lines: make(map[string][]*ticket), change: make(chan struct{})}
	for _, key := range keys {
		k.keys = append(k.keys, &keyState{Key: key, paces: make(map[string]*pace)})
	}
	return k
}

// Lease is the use of a key for one request to one model.
type Lease struct {
	Key
	pool  *Keys
	state *keyState
	pace  *pace
	held  bool // the pace lets nobody else go meanwhile
}

// Acquire returns a key for a model. It waits for one that rests, unless the
// soonest would take longer than most, and for its place in the line behind a
// paced one, unless that takes longer than patience. If ok is false, wait
// tells how long the soonest key still rests; it is 0 if all are parked, the
// patience was over, or the context was cancelled.
func (k *Keys) Acquire(ctx context.Context, model string, most, patience time.Duration) (l *Lease, wait time.Duration, ok bool) {
	give := time.Now().Add(patience)
	t := new(ticket)
	defer k.leave(model, t)
	for ctx.Err() == nil {
		l, wait, change := k.try(model, t)
		if l != nil {
			return l, 0, true
		}
		if wait < 0 {
			return nil, 0, false
		}
		if wait > most {
			return nil, wait, false
		}
		left := time.Until(give)
		if left <= 0 {
			return nil, 0, false
		}
		if wait == 0 || wait > left {
			wait = left
		}
		pause(ctx, wait, change)
	}
	return nil, 0, false
}

// try returns a lease if there is one now, else in how long to try again: 0
// when somebody else has to be done first, negative if all keys are parked.
func (k *Keys) try(model string, t *ticket) (l *Lease, wait time.Duration, change <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.lines[model], t) {
		k.lines[model] = append(k.lines[model], t)
	}
	s, wait := k.pick(model)
	if s == nil {
		return nil, -1, k.change
	}
	p := s.pace(model)
	if wait > 0 || p.busy || (p.careful > 0 && k.lines[model][0] != t) {
		return nil, wait, k.change
	}
	l = &Lease{Key: s.Key, pool: k, state: s, pace: p, held: p.careful > 0}
	p.busy = l.held
	return l, 0, k.change
}

func (k *Keys) leave(model string, t *ticket) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines[model] = slices.DeleteFunc(k.lines[model], func(o *ticket) bool { return o == t })
	k.wake()
}

// wake lets those who wait look again.
func (k *Keys) wake() {
	close(k.change)
	k.change = make(chan struct{})
}

// pick returns the key that can be used soonest for a model, and in how long.
func (k *Keys) pick(model string) (best *keyState, wait time.Duration) {
	now := time.Now()
	for i := range k.keys {
		s := k.keys[(k.next+i)%len(k.keys)]
		if s.parked {
			continue
		}
		w := s.rest(model, now)
		if best == nil || w < wait || (w == wait && best.pace(model).busy && !s.pace(model).busy) {
			best, wait = s, w
		}
	}
	return best, wait
}

// rest is how long the key still rests for a model.
func (s *keyState) rest(model string, now time.Time) time.Duration {
	return max(0, s.until.Sub(now), s.pace(model).until.Sub(now))
}

func (s *keyState) pace(model string) *pace {
	p := s.paces[model]
	if p == nil {
		p = &pace{}
		s.paces[model] = p
	}
	return p
}

// More reports whether another key than l's could be used for the model within
// most.
func (l *Lease) More(model string, most time.Duration) bool {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	now := time.Now()
	for _, s := range l.pool.keys {
		if s != l.state && !s.parked && s.rest(model, now) <= most {
			return true
		}
	}
	return false
}

// Arrived tells that the response's head has come and was good.
func (l *Lease) Arrived() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.pace.good(l.held)
	l.release()
}

// Failed tells that the request failed with this class, and how long the
// provider asks to wait; if it does not say (0), the key rests for cooldown.
func (l *Lease) Failed(class abi.FailureClass, retryAfter, cooldown time.Duration) {
	r := reactionTo(class)
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	defer l.release()
	if !r.nextKey {
		return
	}
	l.state.parked = l.state.parked || r.park
	l.pool.next = (slices.Index(l.pool.keys, l.state) + 1) % len(l.pool.keys)
	rest := retryAfter
	if rest == 0 && (class != abi.FailureRateLimited || len(l.pool.keys) > 1) {
		rest = cooldown
	}
	if class == abi.FailureRateLimited {
		// The only key of a pool, with no time named, is left to the turn's
		// own backoff.
		l.pace.limited(rest, cooldown, l.held)
	} else if until := time.Now().Add(rest); until.After(l.state.until) {
		l.state.until = until
	}
}

// Cancelled gives the key back without a finding.
func (l *Lease) Cancelled() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.release()
}

func (l *Lease) release() {
	if l.held {
		l.held, l.pace.busy = false, false
	}
	l.pool.wake()
}

// pause waits for d, the context, or wake.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
	}
}
