package providertest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

// history has each kind of message and part, and text that needs escaping.
func history() []abi.Message {
	text := func(s string) abi.Part { return abi.Part{Type: abi.PartText, Text: s} }
	call := func(id, name, args string) abi.Part {
		return abi.Part{Type: abi.PartToolCall, CallID: id, Name: name, Arguments: args}
	}
	result := func(id, name, s string, failed bool) abi.Part {
		return abi.Part{Type: abi.PartToolResult, CallID: id, Name: name, Text: s, IsError: failed}
	}
	return []abi.Message{
		{Role: abi.RoleUser, Parts: []abi.Part{text("What is \"here\"?\n\t漢字 🚲 </b> \u2028 \x00")}},
		{Role: abi.RoleAssistant, Parts: []abi.Part{
			{Type: abi.PartReasoning, Text: "I have to look.", Signature: "c2ln+/="},
			text("Looking."),
			call("call_1", "list", `{"path":"."}`),
			call("call_2", "status", `{}`),
		}},
		{Role: abi.RoleTool, Parts: []abi.Part{
			result("call_1", "list", "a\nb", false),
			result("call_2", "status", "no such thing", true),
		}},
		{Role: abi.RoleAssistant, Parts: []abi.Part{text("Two things.")}},
		{Role: abi.RoleUser, Parts: []abi.Part{text("First part."), text("Second part.")}},
		{Role: abi.RoleUser, Parts: []abi.Part{text("")}},
		{Role: abi.RoleUser, Parts: []abi.Part{
			text("What is this?"),
			{Type: abi.PartImage, Name: "a \"cat\".png", Blob: "1a2b", MediaType: "image/png"},
			{Type: abi.PartFile, Name: "report.pdf", Blob: "3c4d", MediaType: "application/pdf"},
		}},
		{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartImage, Blob: "5e6f", MediaType: "image/jpeg"}}},
		{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartReasoning, Text: "Nothing more came."}}},
	}
}

// render asks for the fragments of messages.
func (r runner) render(t *testing.T, messages []abi.Message) []string {
	t.Helper()
	var out abi.ChatFragments
	r.ask(t, abi.ExportChatMessages, &abi.ChatMessages{Messages: messages, Options: r.suite.Options}, &out)
	if len(out.Fragments) != len(messages) {
		t.Fatalf("%d fragments for %d messages", len(out.Fragments), len(messages))
	}
	return out.Fragments
}

// messages: one fragment for each, which depends on it alone.
func (r runner) messages(t *testing.T) {
	all := history()
	fragments := r.render(t, all)
	for i, f := range fragments {
		if values, ok := fragmentValues(f); !ok || len(values) == 0 {
			t.Errorf("fragment %d is not JSON: %s", i, f)
		}
		if strings.Contains(f, "{{secret:") {
			t.Errorf("fragment %d names a secret, which is not replaced there: %s", i, f)
		}
		if alone := r.render(t, all[i:i+1]); alone[0] != f {
			t.Errorf("the fragment of message %d depends on its neighbours (-together +alone):\n%s", i, cmp.Diff(f, alone[0]))
		}
	}
	backwards := slices.Clone(all)
	slices.Reverse(backwards)
	reversed := r.render(t, backwards)
	slices.Reverse(reversed)
	if diff := cmp.Diff(fragments, reversed); diff != "" {
		t.Errorf("fragments depend on the order of messages:\n%s", diff)
	}
	if !r.suite.Scripted {
		checkContents(t, all, fragments)
		r.checkImages(t, all, fragments)
	}
	r.render(t, nil)
}

// checkContents looks for each text of the messages in their fragments.
func checkContents(t *testing.T, messages []abi.Message, fragments []string) {
	t.Helper()
	for i, m := range messages {
		values, _ := fragmentValues(fragments[i])
		all := strings.Join(stringsOf(values), "\x01")
		for _, p := range m.Parts {
			if p.Type != abi.PartReasoning && !strings.Contains(all, p.Text) {
				t.Errorf("the text %q of message %d is not in its fragment %s", p.Text, i, fragments[i])
			}
			if p.Name != "" && p.Type == abi.PartToolCall && !strings.Contains(all, p.Name) {
				t.Errorf("the tool %q of message %d is not in its fragment %s", p.Name, i, fragments[i])
			}
		}
	}
}

// checkImages looks for the place of each image's contents in a string.
func (r runner) checkImages(t *testing.T, messages []abi.Message, fragments []string) {
	t.Helper()
	for i, m := range messages {
		values, _ := fragmentValues(fragments[i])
		all := strings.Join(stringsOf(values), "\x01")
		for _, p := range m.Parts {
			if r.suite.Images && p.Type == abi.PartImage && !strings.Contains(all, "{{blob:"+p.Blob+"}}") {
				t.Errorf("the image of message %d is not in its fragment %s", i, fragments[i])
			}
		}
	}
}

// fragmentValues reads JSON values with commas between them.
func fragmentValues(fragment string) (values []any, ok bool) {
	return values, json.Unmarshal([]byte("["+fragment+"]"), &values) == nil
}

// stringsOf collects all strings in JSON values.
func stringsOf(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, stringsOf(e)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, e := range v {
			all = append(all, stringsOf(e)...)
		}
		return all
	}
	return nil
}
