package turn

import (
	"container/list"
	"context"
	"fmt"
	"sync"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
)

const (
	// maxHistory is the most text of one session's history, in bytes; the
	// oldest messages beyond it are not sent.
	maxHistory = 16 << 20
	// maxCached is the most text of all histories in memory.
	maxCached = 64 << 20
)

// histories keeps what the model is shown of each session, so that a long one
// is not read and hashed again for every turn. The least recently used are
// dropped; the journal has them all.
type histories struct {
	mu    sync.Mutex
	size  int
	byID  map[int64]*list.Element
	order *list.List // of *history, the latest used first
}

// history is one session's messages, with neighbours of one role merged.
type history struct {
	session  int64
	messages []*reliability.Message
	size     int
}

func newHistories() *histories {
	return &histories{byID: make(map[int64]*list.Element), order: list.New()}
}

// prompt returns the messages for the model: the session's earlier turns and
// the message of this one. Only the session's one running turn calls it.
func (hs *histories) prompt(ctx context.Context, j *journal.Journal, t journal.Turn) ([]*reliability.Message, error) {
	h := hs.get(t.SessionID)
	if h == nil {
		h = &history{session: t.SessionID}
		if err := h.load(ctx, j, t); err != nil {
			return nil, err
		}
	}
	h.add(abi.Message{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: t.Text}}})
	h.trim()
	hs.put(h)
	return h.messages, nil
}

// answered adds how a turn ended to its session's history.
func (hs *histories) answered(t journal.Turn, m *abi.Message, mark string) {
	h := hs.get(t.SessionID)
	if h == nil {
		return
	}
	h.end(m, mark)
	hs.put(h)
}

// get takes a history out; put gives it back.
func (hs *histories) get(session int64) *history {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	e := hs.byID[session]
	if e == nil {
		return nil
	}
	delete(hs.byID, session)
	hs.order.Remove(e)
	h, _ := e.Value.(*history) // nothing else is put in
	hs.size -= h.size
	return h
}

func (hs *histories) put(h *history) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	hs.byID[h.session] = hs.order.PushFront(h)
	hs.size += h.size
	for hs.size > maxCached && hs.order.Len() > 1 {
		old, _ := hs.order.Remove(hs.order.Back()).(*history) // nothing else is put in
		delete(hs.byID, old.session)
		hs.size -= old.size
	}
}

func (hs *histories) forget(session int64) { hs.get(session) }

// load reads the turns before t. A turn's messages follow each other, in the
// order of the turns and not of their arrival: a message that was queued comes
// after the answer to the one before it.
func (h *history) load(ctx context.Context, j *journal.Journal, t journal.Turn) error {
	past, err := j.Past(ctx, t, 0)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	for _, p := range past {
		if len(p.User) > 0 {
			h.add(abi.Message{Role: abi.RoleUser, Parts: p.User})
		}
		var m *abi.Message
		if len(p.Assistant) > 0 {
			m = &abi.Message{Role: abi.RoleAssistant, Parts: p.Assistant}
		}
		h.end(m, p.Marker)
	}
	return nil
}

// end adds the assistant's message with the fixed English rendering of its
// marker (MRK-3), or the marker alone if there is none.
func (h *history) end(m *abi.Message, mark string) {
	out := abi.Message{Role: abi.RoleAssistant}
	if m != nil {
		out.Parts = append(out.Parts, m.Parts...)
	}
	if mark != "" {
		out.Parts = append(out.Parts, abi.Part{Type: abi.PartText, Text: marker.English(marker.Code(mark))})
	}
	if len(out.Parts) > 0 {
		h.add(out)
	}
}

// add appends a message; one of the same role as the last is merged into it.
func (h *history) add(m abi.Message) {
	n := len(h.messages)
	if n > 0 && h.messages[n-1].Role == m.Role {
		last := h.messages[n-1]
		m.Parts = append(append([]abi.Part(nil), last.Parts...), m.Parts...)
		h.size -= size(last)
		h.messages = h.messages[: n-1 : n-1] // a prompt may still hold the old list
	}
	made := reliability.NewMessage(m, "")
	h.messages = append(h.messages, made)
	h.size += size(made)
}

// trim drops the oldest messages while there is too much text, and then up to
// the next message of the user, since a conversation begins with one.
func (h *history) trim() {
	drop, left := 0, h.size
	for drop < len(h.messages)-1 && (left > maxHistory || (drop > 0 && h.messages[drop].Role != abi.RoleUser)) {
		left -= size(h.messages[drop])
		drop++
	}
	h.messages, h.size = h.messages[drop:], left
}

func size(m *reliability.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Arguments) + len(p.Signature)
	}
	return n
}
