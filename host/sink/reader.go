package sink

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/journal"
)

// page is the most events that are read from the journal at once.
const page = 256

// Reader reads the events of one turn from its cursor on. One goroutine at a
// time may use it. It needs no closing, and what it does not fetch delays
// nobody.
type Reader struct {
	sink   *Sink
	cursor int64
	// wake holds a token when there is something new after a wait.
	wake chan struct{}
	// shown says that something visible was given out.
	shown bool
}

// Next returns the events after the cursor, all that are there or the next of
// many, and waits for one if there is none. They are shared: do not change
// them. It returns io.EOF when the turn has ended and all was read, and the
// cause when the turn was abandoned.
func (r *Reader) Next(ctx context.Context) ([]journal.Event, error) {
	if failpoint.Enabled() && r.shown {
		failpoint.Hit(failpoint.ReaderAfterFirst)
	}
	events, err := r.next(ctx)
	if err != nil {
		return nil, err
	}
	r.cursor = events[len(events)-1].N
	if failpoint.Enabled() {
		r.shown = r.shown || slices.ContainsFunc(events, visible)
	}
	return events, nil
}

func (r *Reader) next(ctx context.Context) ([]journal.Event, error) {
	s := r.sink
	for {
		s.mu.Lock()
		switch {
		case r.cursor >= s.last && s.ended:
			cause := s.abandoned
			s.mu.Unlock()
			return nil, cmp.Or(cause, io.EOF)
		case r.cursor >= s.last:
			s.waiting = append(s.waiting, r)
			s.mu.Unlock()
			if err := r.wait(ctx); err != nil {
				return nil, err
			}
		case r.cursor >= s.base:
			events := s.events[r.cursor-s.base : len(s.events) : len(s.events)]
			s.mu.Unlock()
			return events, nil
		default:
			s.mu.Unlock()
			return r.fromJournal(ctx)
		}
	}
}

func (r *Reader) wait(ctx context.Context) error {
	select {
	case <-r.wake:
		return nil
	case <-ctx.Done():
	}
	s := r.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, r); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	} else {
		<-r.wake
	}
	return context.Cause(ctx)
}

// fromJournal reads on where the sink has no longer what comes next (SNK-5).
func (r *Reader) fromJournal(ctx context.Context) ([]journal.Event, error) {
	events, err := r.sink.hub.store.Events(ctx, r.sink.turn, r.cursor, page)
	if err != nil {
		return nil, err
	}
	if len(events) == 0 || events[0].N != r.cursor+1 {
		return nil, fmt.Errorf("read event %d of %s: %w", r.cursor+1, r.sink.turn, journal.ErrNotFound)
	}
	return events, nil
}
