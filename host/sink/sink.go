package sink

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// ErrEnded says that the turn has ended: nothing can be added to it.
var ErrEnded = errors.New("the turn has ended")

// Bounds of what a sink keeps in memory.
const (
	// maxPending and maxPendingBytes are the most events, and text and data in
	// them, that wait to be written; with more, Append waits for the journal.
	maxPending      = 1024
	maxPendingBytes = 4 << 20
	// keep and keepBytes are how much of what is written stays for readers
	// that are nearly up to date. It is cut back to that when it is twice as
	// much.
	keep      = 256
	keepBytes = 256 << 10
)

// Sink takes the events of one turn. Its methods may be used at the same time;
// events of one caller keep their order.
type Sink struct {
	hub  *Hub
	turn string

	// order is held by whoever adds events, so that a first visible event is
	// committed before anything that comes after it. writing is held by
	// whoever writes events of this sink to the journal. They are taken in
	// this order, and before mu.
	order, writing sync.Mutex

	mu sync.Mutex
	// events are the last ones, the first of them numbered base+1. Readers
	// share the array, so it is only added to, or replaced.
	events []journal.Event
	base   int64
	// last is the number of the last event, written of the last that is in
	// the journal. Readers get all up to last.
	last, written int64
	// bytes and pending are the text and data in events, and in those not yet
	// written.
	bytes, pending int
	// dirty says that the hub has this sink on its list; failure is why the
	// last write did not work.
	dirty   bool
	failure error
	// ended says that the turn takes no more events, abandoned why readers do
	// not get to see its end; nil when they do.
	ended     bool
	abandoned error
	// room is closed when a write has ended, if somebody waits for room.
	room    chan struct{}
	waiting []*Reader
	visible []int64 // attempts with visible events
}

func newSink(h *Hub, turn string, last int64) *Sink {
	return &Sink{hub: h, turn: turn, base: last, last: last, written: last}
}

// Turn is the turn's id.
func (s *Sink) Turn() string { return s.turn }

// Visible reports whether the attempt has a visible event: it is in the
// journal, and perhaps seen, so the attempt's request is never repeated
// (REL-4).
func (s *Sink) Visible(attempt int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.visible, attempt)
}

// Reader returns a reader of the events after a number; 0 for all.
func (s *Sink) Reader(after int64) *Reader {
	return &Reader{sink: s, cursor: max(after, 0), wake: make(chan struct{}, 1)}
}

// Append adds events of an attempt (0 for none) and gives them their numbers;
// an event without a time gets that of now. When it returns, readers have
// them, and if one of them is the attempt's first visible event, so has the
// journal. An error means that none was added.
func (s *Sink) Append(ctx context.Context, attempt int64, events ...journal.Event) error {
	if len(events) == 0 {
		return nil
	}
	s.order.Lock()
	defer s.order.Unlock()
	if slices.ContainsFunc(events, visible) && !s.Visible(attempt) {
		return s.appendFirst(ctx, attempt, events)
	}
	if err := s.makeRoom(ctx, events); err != nil {
		return err
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return ErrEnded
	}
	now := time.Now()
	for _, e := range events {
		e.Attempt = attempt
		s.add(e, now)
	}
	s.wakeReaders()
	fresh := !s.dirty
	much := s.failure == nil && (s.last-s.written >= maxPending/2 || s.pending >= maxPendingBytes/2)
	s.dirty = true
	s.mu.Unlock()
	if fresh {
		s.hub.flushSoon(s)
	}
	if much {
		s.hub.flushNow()
	}
	return nil
}

func visible(e journal.Event) bool { return e.Type.Visible(e.Text) }

// appendFirst adds events of which one is the first visible one: committed
// first, together with all that waits, then given to readers (SNK-2).
func (s *Sink) appendFirst(ctx context.Context, attempt int64, events []journal.Event) error {
	fresh := slices.Clone(events)
	for i := range fresh {
		fresh[i].Attempt = attempt
	}
	return s.commit(ctx, journal.StepFirstVisible, fresh, func(*journal.Tx) error { return nil }, false)
}

// Finish ends the turn: what waits, the last events and what fn does are
// written in one transaction; then readers get the events, and the end. The
// last events keep the attempt that they name. On an error nothing was written,
// and the turn goes on: Finish may be tried again.
func (s *Sink) Finish(ctx context.Context, fn func(*journal.Tx) error, last ...journal.Event) error {
	s.order.Lock()
	defer s.order.Unlock()
	if err := s.commit(ctx, journal.StepFinish, slices.Clone(last), fn, true); err != nil {
		return err
	}
	s.hub.forget(s)
	return nil
}

// commit writes what waits, then fresh, then fn, in one transaction, and
// publishes fresh. It needs order, so that nothing is added meanwhile.
func (s *Sink) commit(ctx context.Context, step journal.Step, fresh []journal.Event, fn func(*journal.Tx) error, end bool) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return ErrEnded
	}
	now := time.Now()
	for i := range fresh {
		fresh[i].N = s.last + int64(i) + 1
		if fresh[i].At.IsZero() {
			fresh[i].At = now
		}
	}
	batch := slices.Concat(s.unwritten(), fresh)
	s.mu.Unlock()

	err := s.hub.store.Write(ctx, step, func(tx *journal.Tx) error {
		if err := tx.AppendEvents(s.turn, batch); err != nil {
			return err
		}
		return fn(tx)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range fresh {
		s.add(e, now)
	}
	s.wrote(s.last, nil)
	s.ended = end
	s.wakeReaders()
	return nil
}

// makeRoom waits while too much waits to be written. If the journal cannot be
// written, it says why in place of waiting.
func (s *Sink) makeRoom(ctx context.Context, events []journal.Event) error {
	n := 0
	for i := range events {
		n += size(&events[i])
	}
	for {
		s.mu.Lock()
		waits := int(s.last - s.written)
		if s.ended || waits == 0 || (waits+len(events) <= maxPending && s.pending+n <= maxPendingBytes) {
			s.mu.Unlock()
			return nil
		}
		if err := s.failure; err != nil {
			s.mu.Unlock()
			return err
		}
		if s.room == nil {
			s.room = make(chan struct{})
		}
		room := s.room
		s.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wakeReaders wakes those that wait. It needs mu.
func (s *Sink) wakeReaders() {
	for i, r := range s.waiting {
		r.wake <- struct{}{} // has room: a reader waits once, and takes it out
		s.waiting[i] = nil
	}
	s.waiting = s.waiting[:0]
}

// Abandon gives the turn up without storing its end, which the next start of
// the host then does. Readers, also later ones, get cause after the last event.
func (s *Sink) Abandon(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandon(cause)
}

// abandon needs mu.
func (s *Sink) abandon(cause error) {
	if !s.ended {
		s.ended, s.abandoned = true, cause
	}
	s.wakeReaders()
}

// end notes that the turn has ended at event n without this sink.
func (s *Sink) end(n int64) {
	s.mu.Lock()
	s.ended = true
	if n > s.last {
		s.base, s.last, s.written, s.events = n, n, n, nil
	}
	s.wakeReaders()
	s.mu.Unlock()
	s.hub.forget(s)
}
