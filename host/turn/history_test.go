package turn

import (
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
)

func said(role abi.Role, text string) abi.Message {
	return abi.Message{Role: role, Parts: []abi.Part{{Type: abi.PartText, Text: text}}}
}

// shown is the first character of each message.
func shown(h *history) string {
	var b strings.Builder
	for _, m := range h.messages {
		b.WriteByte(m.Parts[0].Text[0])
	}
	return b.String()
}

// The oldest messages are not sent when there is too much text, and what is
// left begins with one of the user's.
func TestTrim(t *testing.T) {
	t.Parallel()
	const part = maxHistory / 4
	h := &history{}
	for i, text := range []string{"a", "b", "c", "d", "e", "f"} {
		role := abi.RoleUser
		if i%2 == 1 {
			role = abi.RoleAssistant
		}
		h.add(said(role, text+strings.Repeat("x", part-1)), "")
		h.trim()
		if h.size > maxHistory || h.size != part*len(h.messages) {
			t.Errorf("%d bytes in %d messages", h.size, len(h.messages))
		}
	}
	if got := shown(h); got != "cdef" {
		t.Errorf("left are %q, want c and what follows", got)
	}
	h.add(said(abi.RoleUser, "g"), "")
	if h.trim(); shown(h) != "efg" {
		t.Errorf("left are %q, want e, f and g: an answer alone begins no conversation", shown(h))
	}
	h.add(said(abi.RoleAssistant, strings.Repeat("h", maxHistory+1)), "")
	if h.trim(); len(h.messages) != 1 {
		t.Errorf("%d messages are left, want the last one, whatever its size", len(h.messages))
	}
}

// A message is merged into the last one of its role in a copy: a prompt that is
// being sent still holds the old one.
func TestMergeCopies(t *testing.T) {
	t.Parallel()
	h := &history{}
	h.add(said(abi.RoleUser, "one"), "")
	sent := h.messages
	hash := sent[0].Hash
	h.add(said(abi.RoleUser, "two"), "")
	if len(sent[0].Parts) != 1 || sent[0].Hash != hash {
		t.Errorf("the prompt that was sent is now %v", sent[0].Parts)
	}
	if len(h.messages) != 1 || len(h.messages[0].Parts) != 2 || h.size != 6 || h.messages[0].Hash == hash {
		t.Errorf("merged %v, size %d", h.messages[0].Parts, h.size)
	}
}

// The histories in memory are bounded; the one used longest ago goes first.
func TestHistoriesAreBounded(t *testing.T) {
	t.Parallel()
	hs := newHistories()
	for id := range int64(5) {
		hs.put(&history{session: id, size: maxCached / 4})
		if id == 3 {
			hs.put(hs.get(0)) // used again
		}
	}
	if hs.size > maxCached {
		t.Errorf("%d bytes, more than %d", hs.size, maxCached)
	}
	for id, want := range []bool{true, false, true, true, true} {
		if got := hs.get(int64(id)) != nil; got != want {
			t.Errorf("session %d is in memory: %v", id, got)
		}
	}
	if hs.size != 0 || hs.order.Len() != 0 {
		t.Errorf("%d bytes of %d sessions are left of none", hs.size, hs.order.Len())
	}
	hs.put(&history{session: 9, size: 2 * maxCached})
	if hs.get(9) == nil {
		t.Error("the only history was dropped")
	}
}
