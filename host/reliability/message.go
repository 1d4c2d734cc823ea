package reliability

import (
	"crypto/sha256"
	"sync"

	"github.com/zchost/zchost/abi"
)

// Message is one message of a prompt. It is immutable once made, so that an
// Upstream can keep what it rendered from it.
type Message struct {
	abi.Message
	// Hash identifies the contents: the SHA-256 of the message's JSON.
	Hash [32]byte
	// Provider is the name of the provider that gave the message, empty for
	// what a person or a tool said.
	Provider string

	once sync.Once
	bare *Message
}

// NewMessage returns a message of a provider; of nobody if that is empty.
func NewMessage(m abi.Message, provider string) *Message {
	return &Message{Message: m, Hash: sha256.Sum256(m.AppendJSON(nil)), Provider: provider}
}

// For returns the message as a provider may be shown it: one that another
// provider gave comes without what only that one understands (C050). It is nil
// if nothing is left.
func (m *Message) For(provider string) *Message {
	if m.Provider == "" || m.Provider == provider {
		return m
	}
	m.once.Do(func() { m.bare = m.strip() })
	return m.bare
}

// strip leaves out signatures, reasoning, and what the provider itself
// executed. Texts that followed each other become one: a provider may have cut
// them only to sign the pieces.
func (m *Message) strip() *Message {
	out := abi.Message{Role: m.Role}
	changed := false
	text := -1 // the part that the next text continues
	for _, p := range m.Parts {
		if p.Type == abi.PartReasoning || p.Type == abi.PartProviderTool || (p.Type == abi.PartText && p.Text == "") {
			changed = true
			if p.Type != abi.PartText {
				text = -1
			}
			continue
		}
		changed = changed || p.Signature != "" || p.Opaque != ""
		p.Signature, p.Opaque = "", ""
		switch {
		case p.Type == abi.PartText && text >= 0:
			out.Parts[text].Text += p.Text
			changed = true
			continue
		case p.Type == abi.PartText:
			text = len(out.Parts)
		default:
			text = -1
		}
		out.Parts = append(out.Parts, p)
	}
	switch {
	case !changed:
		return m
	case len(out.Parts) == 0:
		return nil
	}
	return NewMessage(out, "")
}
