// Package sink is the one way of a turn's events to the journal and to people.
//
// A turn has one Sink, which numbers its events from 1 without gaps, and any
// number of Readers, each with its own cursor. Every surface is a Reader.
// Whether output was seen is therefore one fact, and it is in the journal
// before anybody has seen it: the first visible event of an attempt is
// committed before a reader gets it (SNK-2). What follows it is given to
// readers at once and reaches the journal within FlushWithin.
package sink

import (
	"context"
	"sync"

	"github.com/zchost/zchost/host/journal"
)

// Store is what a sink needs of the journal.
type Store interface {
	// Write runs fn in a transaction and returns when it is committed.
	Write(ctx context.Context, step journal.Step, fn func(*journal.Tx) error) error
	// Events returns events of a turn after a number.
	Events(ctx context.Context, turn string, after int64, limit int) ([]journal.Event, error)
	// Turn returns a turn.
	Turn(ctx context.Context, id string) (journal.Turn, error)
}

// Hub has the sinks of all unfinished turns and writes what they gather, for
// all of them in one transaction.
type Hub struct {
	store Store

	mu    sync.Mutex
	sinks map[string]*Sink
	dirty []*Sink // those with events to write
	// flushing says that the goroutine that writes them runs, which it does
	// while there is something to write; done waits for it.
	flushing bool
	done     sync.WaitGroup
	closed   bool
	closing  chan struct{} // closed by Close
	now      chan struct{} // has a token when the wait shall end
}

// NewHub returns a hub without sinks.
func NewHub(store Store) *Hub {
	return &Hub{store: store, sinks: make(map[string]*Sink), closing: make(chan struct{}), now: make(chan struct{}, 1)}
}

// Open returns the sink of a turn, which is its only one until the turn ends.
func (h *Hub) Open(turn journal.Turn) *Sink {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sinks[turn.ID]
	if s == nil {
		s = newSink(h, turn.ID, turn.Events)
		h.sinks[turn.ID] = s
	}
	return s
}

// Reader returns a reader of the events after a number, of a turn that runs,
// waits or has ended. Journal.ErrNotFound says that there is no such turn.
func (h *Hub) Reader(ctx context.Context, turnID string, after int64) (*Reader, error) {
	h.mu.Lock()
	s := h.sinks[turnID]
	h.mu.Unlock()
	if s != nil {
		return s.Reader(after), nil
	}
	turn, err := h.store.Turn(ctx, turnID)
	if err != nil {
		return nil, err
	}
	if !turn.State.Ended() {
		// It waits, or it ends just now. Whoever ends it does so through its
		// sink, so look again once that sink is the one we have.
		s = h.Open(turn)
		if turn, err = h.store.Turn(ctx, turnID); err != nil {
			return nil, err
		}
		if turn.State.Ended() {
			s.end(turn.Events)
		}
		return s.Reader(after), nil
	}
	s = newSink(h, turn.ID, turn.Events)
	s.ended = true
	return s.Reader(after), nil
}

// forget drops the sink of a turn that has ended.
func (h *Hub) forget(s *Sink) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sinks[s.turn] == s {
		delete(h.sinks, s.turn)
	}
}

// Close hands what is in memory to the journal and waits until it is written or
// cannot be. What is added to a sink later stays in memory.
func (h *Hub) Close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.closing)
	}
	h.mu.Unlock()
	h.done.Wait()
}
