package reliability

import (
	"context"
	"sync"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/secret"
)

// carefulHeads is how many good responses in a row end a key's care.
const carefulHeads = 8

// Key is one credential of a provider.
type Key struct {
	// Label names the key in the ledger: "env:NAME", never a value. It is
	// empty for an endpoint without credentials.
	Label string
	Value secret.Value
}

// Keys is the pool of a provider's keys (REL-8), shared by all turns. It also
// paces them: after a 429 the key is careful, which means that one request at
// a time waits for its response head, until 8 in a row were good. So many turns
// do not come back at the same instant, and a turn that waits for its place
// has not spent an attempt. It is safe for concurrent use.
type Keys struct {
	cooldown time.Duration
	mu       sync.Mutex
	keys     []*keyState
	next     int           // where the search for a key begins
	change   chan struct{} // closed and replaced when a slot may be free
}

type keyState struct {
	Key
	parked  bool      // by an auth failure, until the config is reloaded
	until   time.Time // cooling down until then
	streak  int       // 429s in a row
	careful int       // so many good heads before requests go side by side again
	busy    bool      // a careful request is on its way
}

// NewKeys returns a pool of these keys in order; with none, the pool holds one
// nameless key for an endpoint without credentials. cooldown is how long a key
// rests after a failure that names no time; 60 s is usual.
func NewKeys(cooldown time.Duration, keys ...Key) *Keys {
	if len(keys) == 0 {
		keys = []Key{{}}
	}
	k := &Keys{cooldown: cooldown, change: make(chan struct{})}
	for _, key := range keys {
		k.keys = append(k.keys, &keyState{Key: key})
	}
	return k
}

// Lease is the use of a key for one request.
type Lease struct {
	Key
	pool  *Keys
	state *keyState
	held  bool
}

// Acquire returns a key. It waits for one that cools down, unless the soonest
// would take longer than most, and for its place behind a careful one, unless
// that takes longer than patience. If ok is false, wait tells how long the
// soonest key still cools down; it is 0 if all are parked, the patience was
// over, or the context was cancelled.
func (k *Keys) Acquire(ctx context.Context, most, patience time.Duration) (l *Lease, wait time.Duration, ok bool) {
	give := time.Now().Add(patience)
	for ctx.Err() == nil {
		k.mu.Lock()
		s, wait := k.pick()
		change := k.change
		if s != nil && wait == 0 && !s.busy {
			l := &Lease{Key: s.Key, pool: k, state: s, held: s.careful > 0}
			s.busy = l.held
			k.mu.Unlock()
			return l, 0, true
		}
		k.mu.Unlock()
		if s == nil {
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

// pick returns the key that can be used soonest, and in how long.
func (k *Keys) pick() (best *keyState, wait time.Duration) {
	now := time.Now()
	for i := range k.keys {
		s := k.keys[(k.next+i)%len(k.keys)]
		if s.parked {
			continue
		}
		w := max(0, s.until.Sub(now))
		if best == nil || w < wait || (w == wait && best.busy && !s.busy) {
			best, wait = s, w
		}
	}
	return best, wait
}

// More reports whether another key than l's could be used within most.
func (l *Lease) More(most time.Duration) bool {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	for _, s := range l.pool.keys {
		if s != l.state && !s.parked && time.Until(s.until) <= most {
			return true
		}
	}
	return false
}

// Alone reports whether the pool has one key only.
func (l *Lease) Alone() bool { return len(l.pool.keys) == 1 }

// Arrived tells that the response's head has come and was good: the next
// request of a careful key may go.
func (l *Lease) Arrived() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.state.streak = 0
	if l.held {
		l.state.careful--
	}
	l.release()
}

// Failed tells that the request failed with this class, and how long the
// provider asks to wait (0 if it does not say).
func (l *Lease) Failed(class abi.FailureClass, retryAfter time.Duration) {
	r := reactionTo(class)
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	defer l.release()
	if !r.nextKey {
		return
	}
	l.state.parked = l.state.parked || r.park
	l.pool.next = (l.index() + 1) % len(l.pool.keys)
	rest := retryAfter
	if class == abi.FailureRateLimited {
		l.state.careful = carefulHeads
		rest = l.rest(retryAfter)
	} else if rest == 0 {
		rest = l.pool.cooldown
	}
	if until := time.Now().Add(rest); until.After(l.state.until) {
		l.state.until = until
	}
}

// rest is how long a rate-limited key cools down. The only key of a pool, with
// no time named, is left to the backoff of the turn; and one that is refused
// again and again waits twice as long each time.
func (l *Lease) rest(retryAfter time.Duration) time.Duration {
	if retryAfter == 0 {
		if l.Alone() {
			return 0
		}
		return l.pool.cooldown
	}
	for range min(l.state.streak, 3) {
		if retryAfter*2 > l.pool.cooldown {
			break
		}
		retryAfter *= 2
	}
	if l.held || l.state.streak == 0 {
		l.state.streak++
	}
	return retryAfter
}

// Cancelled gives the key back without a finding.
func (l *Lease) Cancelled() {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.release()
}

func (l *Lease) release() {
	if l.held {
		l.held, l.state.busy = false, false
	}
	close(l.pool.change)
	l.pool.change = make(chan struct{})
}

func (l *Lease) index() int {
	for i, s := range l.pool.keys {
		if s == l.state {
			return i
		}
	}
	return 0
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
