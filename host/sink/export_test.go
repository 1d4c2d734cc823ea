package sink

// Flush writes what the sinks have now.
func (h *Hub) Flush() error {
	h.mu.Lock()
	list := h.dirty
	h.dirty = nil
	h.mu.Unlock()
	again, err := h.writeAll(list)
	h.putBack(again)
	return err
}

// Bounds of what a sink keeps.
const (
	MaxPending = maxPending
	Keep       = keep
)

// Kept is how many events are in memory.
func (s *Sink) Kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events)
}
