package builtin

import (
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/plugin"
)

// BenchmarkLongHistory is what a request for a history of 1,000 messages costs
// in the sandbox, once the earlier messages are rendered: the new message, and
// the request around the outline of all.
func BenchmarkLongHistory(b *testing.B) {
	manifest, module, err := Open("openai-chat")
	if err != nil {
		b.Fatal(err)
	}
	runtime, err := plugin.NewRuntime(b.Context(), plugin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	p, err := runtime.Load(b.Context(), plugin.Source{Manifest: manifest, Module: module}, plugin.Grant{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Close)
	message := abi.Message{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: strings.Repeat("word ", 80)}}}
	messages := abi.ChatMessages{Messages: []abi.Message{message}}
	request := abi.ChatRequest{
		Model: "m", System: "Be brief.", Stream: true, BaseURL: "http://127.0.0.1/v1",
		Outline: abi.Outline(strings.TrimSpace(strings.Repeat("uT aT ", 500))),
	}
	one, all := messages.AppendJSON(nil), request.AppendJSON(nil)
	for b.Loop() {
		if _, err := p.Call(b.Context(), abi.ExportChatMessages, one); err != nil {
			b.Fatal(err)
		}
		if _, err := p.Call(b.Context(), abi.ExportChatRequest, all); err != nil {
			b.Fatal(err)
		}
	}
}
