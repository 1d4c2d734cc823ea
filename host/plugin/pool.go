package plugin

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pool lends the instances of one plugin, each to one call at a time. The one
// that came back last goes out first, so that those a burst has left over can
// be told by their age.
type pool struct {
	start func(ctx context.Context) (instance, error)
	slots chan struct{} // one for each instance lent

	mu     sync.Mutex
	idle   []idleInstance // oldest first
	closed bool
}

type idleInstance struct {
	instance instance
	since    time.Time
}

func newPool(most int, start func(context.Context) (instance, error)) *pool {
	return &pool{start: start, slots: make(chan struct{}, most)}
}

// take returns an idle instance or starts one. When all are lent it waits until
// ctx ends.
func (p *pool) take(ctx context.Context) (instance, error) {
	select {
	case p.slots <- struct{}{}:
	default:
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, fail(ReasonCanceled, context.Cause(ctx))
		}
	}
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		got := p.idle[n-1].instance
		p.idle[n-1] = idleInstance{}
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return got, nil
	}
	p.mu.Unlock()
	got, err := p.start(ctx)
	if err != nil {
		<-p.slots
		return nil, err
	}
	return got, nil
}

// put gives an instance back. One that failed in any way is closed: after a
// guest's panic it still answers, on a dead runtime.
func (p *pool) put(ctx context.Context, i instance, healthy bool) {
	p.mu.Lock()
	keep := healthy && !p.closed
	if keep {
		p.idle = append(p.idle, idleInstance{i, time.Now()})
	}
	p.mu.Unlock()
	if !keep {
		i.close(ctx)
	}
	<-p.slots
}

// drop closes idle instances: those unused since spareBefore but for one, and
// that one if it was not used since lastBefore.
func (p *pool) drop(ctx context.Context, spareBefore, lastBefore time.Time) {
	p.mu.Lock()
	var old []idleInstance
	for len(p.idle) > 0 {
		before := lastBefore
		if len(p.idle) > 1 {
			before = spareBefore
		}
		if !p.idle[0].since.Before(before) {
			break
		}
		old = append(old, p.idle[0])
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.mu.Unlock()
	for _, i := range old {
		i.instance.close(ctx)
	}
}

// close closes the idle instances, and those that are lent when they come back.
func (p *pool) close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	old := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, i := range old {
		i.instance.close(ctx)
	}
}

// counts returns how many instances are lent and idle.
func (p *pool) counts() (lent, idle int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.slots), len(p.idle)
}
