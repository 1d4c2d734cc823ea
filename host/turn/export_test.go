package turn

import "github.com/zchost/zchost/host/journal"

// Enter is the second half of Submit, so that a test can come between its two
// halves.
func (e *Engine) Enter(t journal.Turn, m Message) { e.enter(t, m) }

// Remembers reports whether a session's history is in memory.
func (e *Engine) Remembers(session int64) bool {
	h := e.history.get(session)
	if h != nil {
		e.history.put(h)
	}
	return h != nil
}
