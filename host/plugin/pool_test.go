package plugin

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeInstance checks that it is used by one call at a time and closed once.
type fakeInstance struct {
	id     int
	used   atomic.Bool
	closed atomic.Bool
	open   *atomic.Int64
}

func (f *fakeInstance) call(context.Context, string, []byte) ([]byte, error) { return nil, nil }

func (f *fakeInstance) close(context.Context) {
	if f.closed.Swap(true) {
		panic("closed twice")
	}
	f.open.Add(-1)
}

// fakes returns a pool of fakes and the count of open ones.
func fakes(most int) (*pool, *atomic.Int64) {
	open, made := new(atomic.Int64), new(atomic.Int64)
	return newPool(most, func(context.Context) (instance, error) {
		open.Add(1)
		return &fakeInstance{id: int(made.Add(1)), open: open}, nil
	}), open
}

func take(t *testing.T, p *pool) *fakeInstance {
	t.Helper()
	i, err := p.take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	f, ok := i.(*fakeInstance)
	if !ok {
		t.Fatalf("took a %T", i)
	}
	return f
}

// The last one back is the first one out; an unhealthy one never comes again.
func TestPoolOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	p, open := fakes(3)
	a, b, c := take(t, p), take(t, p), take(t, p)
	p.put(ctx, a, true)
	p.put(ctx, b, true)
	p.put(ctx, c, false)
	if got := take(t, p); got != b || !c.closed.Load() {
		t.Errorf("took instance %d, want %d; the failed one is closed: %v", got.id, b.id, c.closed.Load())
	}
	if got := take(t, p); got != a {
		t.Errorf("took instance %d, want %d", got.id, a.id)
	}
	if got := take(t, p); got.id != 4 || open.Load() != 3 {
		t.Errorf("took instance %d of %d", got.id, open.Load())
	}
}

// Whoever waits for an instance gives up with its context.
func TestPoolWaitsUntilContextEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := fakes(1)
		first := take(t, p)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		start := time.Now()
		if _, err := p.take(ctx); asFailure(err).reason != ReasonCanceled || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		got := make(chan *fakeInstance)
		go func() { got <- take(t, p) }()
		synctest.Wait()
		p.put(context.Background(), first, true)
		if <-got != first {
			t.Error("the waiter got another instance")
		}
	})
}

// An instance that does not start gives its slot back.
func TestPoolFailedStart(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	p := newPool(1, func(context.Context) (instance, error) { return nil, boom })
	for range 3 {
		if _, err := p.take(context.Background()); !errors.Is(err, boom) {
			t.Fatal(err)
		}
	}
}

// Spare instances go after a while, the last one much later.
func TestPoolDropsIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		p, open := fakes(4)
		tidy := func() { p.drop(ctx, time.Now().Add(-spareAge), time.Now().Add(-lastAge)) }
		all := []*fakeInstance{take(t, p), take(t, p), take(t, p)}
		for _, f := range all {
			p.put(ctx, f, true)
		}
		tidy()
		if open.Load() != 3 {
			t.Errorf("%d of 3 are left at once", open.Load())
		}
		<-time.After(spareAge + 1)
		p.put(ctx, take(t, p), true) // the top one is in use
		tidy()
		if open.Load() != 1 {
			t.Errorf("%d are left after the spare age", open.Load())
		}
		<-time.After(lastAge + 1)
		tidy()
		if open.Load() != 0 {
			t.Errorf("%d are left after the last age", open.Load())
		}
	})
}

// The janitor does it by itself, and ends with the runtime.
func TestJanitor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := NewRuntime(context.Background(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := &Plugin{runtime: r, log: r.log, engine: noEngine{}}
		var open *atomic.Int64
		p.pool, open = fakes(4)
		p.references.Store(1)
		r.mu.Lock()
		r.plugins[p] = struct{}{}
		r.mu.Unlock()
		a, b := take(t, p.pool), take(t, p.pool)
		p.pool.put(context.Background(), a, true)
		p.pool.put(context.Background(), b, true)
		<-time.After(spareAge + 2*tidyEvery)
		if open.Load() != 1 {
			t.Errorf("%d instances are left, want 1", open.Load())
		}
		<-time.After(lastAge)
		if open.Load() != 0 {
			t.Errorf("%d instances are left, want none", open.Load())
		}
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

type noEngine struct{}

func (noEngine) start(context.Context) (instance, error) { return nil, errors.New("none") }
func (noEngine) close(context.Context) error             { return nil }

// Hammer: many callers, failures, drops and a close; no instance is lent twice,
// used after it was closed, or forgotten.
func TestHammerPool(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const most = 4
	p, open := fakes(most)
	var workers sync.WaitGroup
	for range 16 {
		workers.Go(func() {
			for n := range 2000 {
				limited, cancel := context.WithCancel(ctx)
				if n%7 == 0 {
					cancel()
				}
				i, err := p.take(limited)
				cancel()
				if err != nil {
					continue
				}
				f, ok := i.(*fakeInstance)
				if !ok || f.used.Swap(true) || f.closed.Load() {
					panic(fmt.Sprint("instance lent twice or closed: ", f))
				}
				f.used.Store(false)
				p.put(ctx, i, rand.IntN(10) > 0)
			}
		})
	}
	workers.Go(func() {
		for range 500 {
			p.drop(ctx, time.Now(), time.Now())
			if n := open.Load(); n > 2*most {
				panic(fmt.Sprint("open instances: ", n))
			}
		}
		p.close(ctx)
	})
	workers.Wait()
	if busy, idle := p.counts(); open.Load() != 0 || busy != 0 || idle != 0 {
		t.Errorf("%d are open, %d lent and %d idle at the end", open.Load(), busy, idle)
	}
}

// Memory is counted, refused at the cap and over the budget, and given back.
func TestMemoriesAreCounted(t *testing.T) {
	t.Parallel()
	b := &budget{limit: 10 * pageSize}
	m, err := openMemories(b, 6*pageSize, 2*pageSize)
	if err != nil {
		t.Fatal(err)
	}
	one := m.Allocate(pageSize, 1<<32)
	if got := one.Reallocate(pageSize); len(got) != pageSize || b.used.Load() != 2*pageSize {
		t.Fatalf("%d bytes, %d counted", len(got), b.used.Load())
	}
	m.started()
	if b.used.Load() != pageSize {
		t.Errorf("%d bytes are counted after the start", b.used.Load())
	}
	grown := one.Reallocate(6 * pageSize)
	grown[6*pageSize-1] = 1
	if one.Reallocate(7*pageSize) != nil || !m.refused.Load() || !m.firstRefused() {
		t.Error("the cap was not kept")
	}
	two := m.Allocate(0, 1<<32)
	if len(two.Reallocate(4*pageSize)) != 4*pageSize || two.Reallocate(5*pageSize) != nil {
		t.Error("the budget was not kept")
	}
	if _, err := openMemories(b, pageSize, pageSize); asFailure(err).reason != ReasonMemory {
		t.Errorf("over the budget: %v", err)
	}
	two.Free()
	if b.used.Load() != 10*pageSize || grown[6*pageSize-1] != 1 {
		t.Errorf("%d bytes are counted before the end", b.used.Load())
	}
	m.close()
	m.close()
	if b.used.Load() != 0 {
		t.Errorf("%d bytes are counted at the end", b.used.Load())
	}
}
