package sink

import (
	"context"
	"errors"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// FlushWithin is how long an event waits in memory before it is handed to the
// journal: half of what SNK-2 allows, so that the write has the other half.
const FlushWithin = 25 * time.Millisecond

// retryAfter is how long is waited when the journal could not be written.
const retryAfter = 250 * time.Millisecond

// flushSoon puts a sink on the list of those that have something to write.
func (h *Hub) flushSoon(s *Sink) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dirty = append(h.dirty, s)
	if !h.flushing && !h.closed {
		h.flushing = true
		h.done.Go(h.flush)
	}
}

// flush writes what the sinks on the list have, for all in one transaction,
// until there is nothing more.
func (h *Hub) flush() {
	wait := FlushWithin
	for {
		closing := h.pause(wait)
		list := h.take()
		if len(list) == 0 {
			return
		}
		again, err := h.writeAll(list)
		h.putBack(again)
		wait = FlushWithin
		if err != nil {
			wait = retryAfter
		}
		if closing && err != nil {
			return // the events stay unwritten, as in a crash
		}
	}
}

// flushNow ends the wait: a sink has so much that it would soon have no room.
func (h *Hub) flushNow() {
	select {
	case h.now <- struct{}{}:
	default:
	}
}

// pause waits, but only a moment when the hub is being closed.
func (h *Hub) pause(wait time.Duration) (closing bool) {
	select {
	case <-time.After(wait):
		return false
	case <-h.now:
		return false
	case <-h.closing:
		<-time.After(time.Millisecond)
		return true
	}
}

// take takes the list. When it is empty, the goroutine has to end.
func (h *Hub) take() []*Sink {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.dirty
	h.dirty = nil
	h.flushing = len(list) > 0
	return list
}

func (h *Hub) putBack(list []*Sink) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dirty = append(h.dirty, list...)
}

// portion is what one sink has to write.
type portion struct {
	sink   *Sink
	events []journal.Event
	err    error // why this sink's events were refused
}

// writeAll writes what the sinks on the list have. It returns those that stay
// on it.
func (h *Hub) writeAll(list []*Sink) (again []*Sink, err error) {
	portions := make([]portion, 0, len(list))
	for _, s := range list {
		if !s.writing.TryLock() {
			again = append(again, s) // its events are being written already
			continue
		}
		s.mu.Lock()
		portions = append(portions, portion{sink: s, events: s.unwritten()})
		s.mu.Unlock()
	}
	err = h.store.Write(context.Background(), journal.StepDeltas, func(tx *journal.Tx) error {
		for i := range portions {
			p := &portions[i]
			p.err = tx.AppendEvents(p.sink.turn, p.events)
			if p.err != nil && !lost(p.err) {
				return p.err
			}
		}
		return nil
	})
	for i := range portions {
		if portions[i].settle(err) {
			again = append(again, portions[i].sink)
		}
	}
	return again, err
}

// lost reports whether the journal refuses a sink's events for good: somebody
// else has ended the turn.
func lost(err error) bool {
	return errors.Is(err, journal.ErrNotRunning) || errors.Is(err, journal.ErrGap)
}

// settle tells the sink how the write went, and reports whether it has more.
func (p *portion) settle(err error) (more bool) {
	s := p.sink
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = p.err
	}
	s.wrote(s.written+int64(len(p.events)), err)
	if lost(err) {
		s.abandon(err)
		s.dirty = false
		return false
	}
	s.dirty = s.last > s.written
	return s.dirty
}
