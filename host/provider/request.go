package provider

import (
	"context"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/reliability"
)

// placeholder is where the fragments go in the body of a request.
const placeholder = `"{{messages}}"`

// request is what the plugin wants sent, with the fragments in place.
type request struct {
	http   egress.Request
	script *abi.Script
}

// build asks the plugin for the request.
func (e *Endpoint) build(ctx context.Context, r reliability.Request) (request, error) {
	messages := e.own(r.Prompt.Messages)
	fragments, err := e.fragments(ctx, messages)
	if err != nil {
		return request{}, err
	}
	in := abi.ChatRequest{
		Model: r.Model, System: r.Prompt.System, Outline: outline(messages), Tools: r.Prompt.Tools,
		MaxTokens: r.Sampling.MaxTokens, Temperature: r.Sampling.Temperature,
		Stream: r.Stream, BaseURL: e.BaseURL, Options: e.Options,
	}
	if e.WantsMessages {
		in.Messages = e.last(messages)
	}
	doc, err := e.Plugin.Call(ctx, abi.ExportChatRequest, in.AppendJSON(nil))
	if err != nil {
		return request{}, err
	}
	var out abi.HTTPRequest
	if err := out.DecodeJSON(doc); err != nil {
		return request{}, e.junk(ctx, abi.ExportChatRequest, "decode output: %w", err)
	}
	if out.Script != nil {
		return request{script: out.Script}, nil
	}
	if fragments, err = e.attach(ctx, messages, fragments); err != nil {
		return request{}, err
	}
	body, ok := assemble(out.Body, fragments)
	if !ok {
		return request{}, e.junk(ctx, abi.ExportChatRequest, "the body must hold %s exactly once", placeholder)
	}
	// What people wrote is no template: neither the messages nor, in the
	// plugin's part of the body, a system prompt that speaks of placeholders.
	contents := [2]int{1, len(body) - 1}
	if egress.HasPlaceholder([]byte(r.Prompt.System)) {
		contents = [2]int{0, len(body)}
	}
	return request{http: egress.Request{
		Method: out.Method, URL: out.URL, Headers: out.Headers, Body: body, Contents: contents,
	}}, nil
}

// own returns the messages as this provider may be shown them. Neighbours that
// have one role after another's message was left out become one.
func (e *Endpoint) own(messages []*reliability.Message) []*reliability.Message {
	out := make([]*reliability.Message, 0, len(messages))
	gap := false
	for _, m := range messages {
		m = m.For(e.Name)
		n := len(out)
		between := gap
		gap = m == nil
		switch {
		case m == nil:
		case between && n > 0 && out[n-1].Role == m.Role:
			parts := append(append([]abi.Part(nil), out[n-1].Parts...), m.Parts...)
			out[n-1] = reliability.NewMessage(abi.Message{Role: m.Role, Parts: parts}, "")
		default:
			out = append(out, m)
		}
	}
	return out
}

// assemble puts the fragments in the body's one placeholder; ok is false if
// there is not exactly one.
func assemble(body string, fragments [][]byte) (pieces [][]byte, ok bool) {
	before, after, ok := strings.Cut(body, placeholder)
	if !ok || strings.Contains(after, placeholder) {
		return nil, false
	}
	pieces = make([][]byte, 0, 2*len(fragments)+1)
	pieces = append(pieces, []byte(before))
	for i, f := range fragments {
		if i > 0 {
			pieces = append(pieces, []byte{','})
		}
		pieces = append(pieces, f)
	}
	return append(pieces, []byte(after)), true
}

// last returns the contents that the plugin's manifest asks for.
func (e *Endpoint) last(messages []*reliability.Message) []abi.Message {
	if n := e.MessagesLimit; n > 0 && len(messages) > n {
		messages = messages[len(messages)-n:]
	}
	out := make([]abi.Message, len(messages))
	for i, m := range messages {
		out[i] = m.Message
	}
	return out
}

func outline(messages []*reliability.Message) abi.Outline {
	all := make([]abi.Message, len(messages))
	for i, m := range messages {
		all[i] = m.Message
	}
	return abi.OutlineOf(all)
}
