package turn

import (
	"container/list"
	"context"
	"fmt"
	"strings"
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

// history is what the model is shown of one session: messages with neighbours
// of one role merged.
type history struct {
	session  int64
	messages []*reliability.Message
	size     int
	// turns tells where each turn begins that can be cut off before.
	turns []boundary
}

// boundary is where a turn begins: its number in the session, and the index of
// its first message.
type boundary struct {
	seq int64
	at  int
}

func newHistories() *histories {
	return &histories{byID: make(map[int64]*list.Element), order: list.New()}
}

// take returns the messages for the model, the session's earlier turns and the
// message of this one, until they are put back. Only the session's one running
// turn calls it.
func (hs *histories) take(ctx context.Context, j *journal.Journal, t journal.Turn) (*history, error) {
	h := hs.get(t.SessionID)
	if h == nil || t.Relation == journal.RelationRetry { // the turn before is hidden now
		h = &history{session: t.SessionID}
		if err := h.load(ctx, j, t); err != nil {
			return nil, err
		}
	}
	user, err := j.UserMessage(ctx, t.ID)
	if err != nil {
		return nil, fmt.Errorf("read message: %w", err)
	}
	h.begin(t.Seq)
	h.add(abi.Message{Role: abi.RoleUser, Parts: user}, "")
	h.trim()
	return h, nil
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
	summary, ok, err := j.Summary(ctx, t)
	if err != nil {
		return fmt.Errorf("read summary: %w", err)
	}
	if ok {
		h.add(summarised(summary.Text), "")
	}
	past, err := j.Past(ctx, t, 0)
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	for _, p := range past {
		h.begin(p.Seq)
		for i, m := range p.Messages {
			if last := i == len(p.Messages)-1; last && p.Marker != "" && m.Role == abi.RoleAssistant {
				h.end(&journal.Message{Role: m.Role, Parts: m.Parts}, p.Marker)
				p.Marker = ""
				continue
			}
			h.add(abi.Message{Role: m.Role, Parts: m.Parts}, m.Provider)
		}
		h.end(nil, p.Marker)
	}
	return nil
}

// begin notes that the next message is a turn's first.
func (h *history) begin(seq int64) {
	h.turns = append(h.turns, boundary{seq: seq, at: len(h.messages)})
}

// end adds the assistant's last message with the fixed English rendering of
// its marker (MRK-3), or the marker alone if there is none. A message that was
// cut off comes without what its provider would check.
func (h *history) end(m *journal.Message, mark string) {
	out := abi.Message{Role: abi.RoleAssistant}
	provider := ""
	if m != nil {
		out.Parts = append(out.Parts, m.Parts...)
		provider = providerOf(m.Candidate)
	}
	if mark != "" {
		if cut := reliability.NewMessage(out, "x").For(""); cut != nil {
			out.Parts = append([]abi.Part(nil), cut.Parts...)
		} else {
			out.Parts = nil
		}
		provider = ""
		out.Parts = append(out.Parts, abi.Part{Type: abi.PartText, Text: marker.English(marker.Code(mark))})
	}
	if len(out.Parts) > 0 {
		h.add(out, provider)
	}
}

// providerOf returns the provider of a candidate "provider/model".
func providerOf(candidate string) string {
	provider, _, _ := strings.Cut(candidate, "/")
	return provider
}

// add appends a message that a provider gave, "" for what a person or a tool
// said; one of the same role as the last is merged into it.
func (h *history) add(m abi.Message, provider string) {
	made := reliability.NewMessage(m, provider)
	if n := len(h.messages); n > 0 && h.messages[n-1].Role == m.Role {
		last := h.messages[n-1]
		made = merge(last, made)
		h.size -= size(last)
		h.messages = h.messages[: n-1 : n-1] // a prompt may still hold the old list
		if k := len(h.turns); k > 0 && h.turns[k-1].at == n {
			h.turns = h.turns[:k-1] // no cut in the middle of a message
		}
	}
	h.messages = append(h.messages, made)
	h.size += size(made)
}

// merge joins two messages of one role. When different providers gave them,
// both lose what only their provider understands.
func merge(a, b *reliability.Message) *reliability.Message {
	m := abi.Message{Role: a.Role}
	provider := a.Provider
	if a.Provider != b.Provider {
		provider = ""
		a, b = a.For(""), b.For("")
	}
	for _, from := range []*reliability.Message{a, b} {
		if from != nil {
			m.Parts = append(m.Parts, from.Parts...)
		}
	}
	return reliability.NewMessage(m, provider)
}

// trim drops the oldest messages while there is too much text, and then up to
// the next message of the user, since a conversation begins with one.
func (h *history) trim() {
	drop, left := 0, h.size
	for drop < len(h.messages)-1 && (left > maxHistory || (drop > 0 && h.messages[drop].Role != abi.RoleUser)) {
		left -= size(h.messages[drop])
		drop++
	}
	h.drop(drop)
}

// drop leaves out the first n messages.
func (h *history) drop(n int) {
	for _, m := range h.messages[:n] {
		h.size -= size(m)
	}
	h.messages = h.messages[n:]
	var turns []boundary
	for _, b := range h.turns {
		if b.at >= n {
			turns = append(turns, boundary{seq: b.seq, at: b.at - n})
		}
	}
	h.turns = turns
}

// attachmentSize is what an image or file counts in a history, in bytes of text:
// a model takes an image for some 1,500 tokens.
const attachmentSize = 1500 * bytesPerToken

func size(m *reliability.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Arguments) + len(p.Signature) + len(p.Opaque)
		if p.Blob != "" {
			n += attachmentSize
		}
	}
	return n
}
