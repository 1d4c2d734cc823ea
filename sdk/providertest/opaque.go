package providertest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

// sentBack: what only the provider understands is in the fragment of the answer,
// byte for byte and in the same order (STR-8).
func (r runner) sentBack(t *testing.T, events []abi.Event) {
	t.Helper()
	parts := partsOf(events)
	if !slices.ContainsFunc(parts, func(p abi.Part) bool { return p.Signature != "" || p.Opaque != "" }) {
		return
	}
	paused := func(e abi.Event) bool { return e.Type == abi.EventFinish && e.Reason == abi.FinishPause }
	if !slices.ContainsFunc(events, paused) { // a paused answer goes back as it is (C042)
		parts = append(parts, abi.Part{Type: abi.PartText, Text: "So much for that."})
	}
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

// partsOf joins events as the host does, as far as it matters here: of the calls
// there are only those with a signature.
func partsOf(events []abi.Event) []abi.Part {
	var parts []abi.Part
	var place *int64
	for _, e := range events {
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
			if e.Signature == "" {
				continue
			}
		case abi.EventMeta, abi.EventUsage, abi.EventFinish, abi.EventDone, abi.EventFailure:
			continue
		}
		last := len(parts) - 1
		if last >= 0 && continues(parts[last], p) && cmp.Equal(place, e.Index) {
			parts[last].Text += p.Text
			parts[last].Signature, parts[last].Opaque = p.Signature, p.Opaque
		} else {
			parts = append(parts, p)
		}
		place = e.Index
	}
	return parts
}

// continues reports whether a part goes on with text or reasoning.
func continues(last, p abi.Part) bool {
	return last.Type == p.Type && (p.Type == abi.PartText || p.Type == abi.PartReasoning) && last.Signature == "" && last.Opaque == ""
}

// signatures returns the strings of a signature that is a JSON object or array,
// else the signature.
func signatures(signature string) []string {
	var v any
	if !strings.HasPrefix(signature, "{") && !strings.HasPrefix(signature, "[") || json.Unmarshal([]byte(signature), &v) != nil {
		return []string{signature}
	}
	return stringsOf(v)
}
