package providertest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
)

// sentBack: what only the provider understands is in the fragment of the answer,
// byte for byte and in the same order (STR-8).
func (r runner) sentBack(t *testing.T, events []abi.Event) {
	t.Helper()
	var parts []abi.Part
	for _, e := range events {
		if e.Signature == "" && e.Opaque == "" {
			continue
		}
		p := abi.Part{Text: e.Text, Signature: e.Signature, Opaque: e.Opaque}
		switch e.Type {
		case abi.EventText:
			p.Type = abi.PartText
		case abi.EventReasoning:
			p.Type = abi.PartReasoning
		case abi.EventProviderTool:
			p.Type, p.Name = abi.PartProviderTool, e.Name
		case abi.EventToolCall:
			p.Type, p.CallID, p.Name, p.Arguments = abi.PartToolCall, "t1.1.1", "list", "{}"
		case abi.EventMeta, abi.EventUsage, abi.EventFinish, abi.EventDone, abi.EventFailure:
			continue
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return
	}
	parts = append(parts, abi.Part{Type: abi.PartText, Text: "So much for that."})
	fragment := r.render(t, []abi.Message{{Role: abi.RoleAssistant, Parts: parts}})[0]
	values, _ := fragmentValues(fragment)
	rest, words := fragment, strings.Join(stringsOf(values), "\x01")
	for _, p := range parts {
		at := strings.Index(rest, p.Opaque)
		if at < 0 {
			t.Fatalf("%s is not sent back after what came before it: %s", p.Opaque, fragment)
		}
		rest = rest[at+len(p.Opaque):]
		for _, s := range signatures(p.Signature) {
			if !strings.Contains(words, s) {
				t.Errorf("the signature %s is not sent back: %s", s, fragment)
			}
		}
	}
}

// signatures returns the strings of a signature that is a JSON object, else the
// signature.
func signatures(signature string) []string {
	var v map[string]any
	if json.Unmarshal([]byte(signature), &v) != nil {
		return []string{signature}
	}
	return stringsOf(v)
}
