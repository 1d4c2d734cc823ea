package sink

import (
	"slices"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// add publishes one event. It needs mu.
func (s *Sink) add(e journal.Event, now time.Time) {
	s.last++
	e.N = s.last
	if e.At.IsZero() {
		e.At = now
	}
	s.events = append(s.events, e)
	n := size(&e)
	s.bytes += n
	s.pending += n
	if e.Type.Visible(e.Text) && !slices.Contains(s.visible, e.Attempt) {
		s.visible = append(s.visible, e.Attempt)
	}
}

func size(e *journal.Event) int { return len(e.Text) + len(e.Data) }

// unwritten are the events that are not in the journal. It needs mu.
func (s *Sink) unwritten() []journal.Event {
	return s.events[s.written-s.base : len(s.events) : len(s.events)]
}

// wrote notes the end of a write: up to event n, or an error. It needs mu.
func (s *Sink) wrote(n int64, err error) {
	s.failure = err
	if err == nil {
		s.written = n
		s.pending = 0
		for i := range s.unwritten() {
			s.pending += size(&s.events[int(s.written-s.base)+i])
		}
		s.trim()
	}
	if s.room != nil {
		close(s.room)
		s.room = nil
	}
}

// trim lets go of written events when there are many. It needs mu.
func (s *Sink) trim() {
	if s.written-s.base < 2*keep && s.bytes-s.pending < 2*keepBytes {
		return
	}
	from, bytes := int(s.written-s.base), 0
	for int(s.written-s.base)-from < keep && from > 0 && bytes < keepBytes {
		from--
		bytes += size(&s.events[from])
	}
	s.events = append(make([]journal.Event, 0, 3*keep), s.events[from:]...)
	s.base += int64(from)
	s.bytes = bytes + s.pending
}
