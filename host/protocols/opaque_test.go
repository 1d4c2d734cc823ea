package protocols

import (
	"strings"
	"testing"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// signed is what a vendor gives that has to come back (STR-8).
type signed struct {
	pieces []piece
	// objects are in the next request, in this order; fields that are not
	// named may be there too.
	objects []string
	// verbatim is in the next request byte for byte.
	verbatim []string
	// marks are in no other vendor's request.
	marks []string
}

// oddSignature has what an encoder might write in another way.
const oddSignature = `Ep<AB+/&=é"\u2028`

// signedBy is what each vendor gives. Chat completions have signatures in
// dialects only, and Ollama has none.
func signedBy() map[string]signed {
	s := quote(oddSignature)
	search := `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"a < b & c"}}`
	found := `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"T\u00e9","url":"https://example.com/?a=1&b=2","encrypted_content":"EqgfCioIARgB","page_age":null}]}`
	item := `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"a < b \u0026 c"}}`
	code := `{"executableCode":{"language":"PYTHON","code":"print(1 < 2)"}}`
	result := `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"True\n"}}`
	return map[string]signed{
		"anthropic": {
			pieces: []piece{
				{kind: thinking, text: "the user| greets me", signature: oddSignature},
				{kind: secret, signature: "EmwKAhgBEgy3va3pzix"},
				{kind: server, args: search}, {kind: server, args: found},
				{text: "Hel|lo"},
			},
			objects: []string{
				`{"type":"thinking","thinking":"the user greets me","signature":` + s + `}`,
				`{"type":"redacted_thinking","data":"EmwKAhgBEgy3va3pzix"}`,
				search, found, `{"type":"text","text":"Hello"}`,
			},
			verbatim: []string{found},
			marks:    []string{"EmwKAhgBEgy3va3pzix", "Ep<AB", `Ep\u003cAB`, "EqgfCioIARgB", "srvtoolu_1"},
		},
		"openai-responses": {
			pieces: []piece{
				{kind: thinking, text: "the user| greets me", signature: oddSignature},
				{kind: server, args: item},
				{kind: secret, signature: "gAAAAABo"},
				{text: "Hel|lo"},
			},
			objects: []string{
				`{"type":"reasoning","summary":[{"type":"summary_text","text":"the user greets me"}],"encrypted_content":` + s + `}`,
				item,
				`{"type":"reasoning","summary":[],"encrypted_content":"gAAAAABo"}`,
				`{"role":"assistant"}`,
			},
			verbatim: []string{item},
			marks:    []string{"gAAAAABo", "Ep<AB", `Ep\u003cAB`, "ws_1"},
		},
		"gemini": {
			pieces: []piece{
				{kind: thinking, text: "the user| greets me", signature: oddSignature},
				{kind: server, args: code}, {kind: server, args: result},
				{text: "Hel|lo"},
				{kind: secret, signature: "CikBjz1rX"},
			},
			objects: []string{
				`{"thought":true,"thoughtSignature":` + s + `}`,
				code, result,
				`{"text":"Hello","!thoughtSignature":0}`,
				`{"thoughtSignature":"CikBjz1rX"}`,
			},
			marks: []string{"CikBjz1rX", "Ep<AB", `Ep\u003cAB`, "executableCode"},
		},
	}
}

// What only its vendor understands comes back byte for byte with the session's
// next request, also after a restart; another vendor that takes over gets none
// of it; and the first one, when the session returns, has it again (STR-8,
// C050).
func TestOpaqueParts(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		signed, ok := signedBy()[w.plugin()]
		if !ok {
			continue
		}
		for _, noStream := range []bool{false, true} {
			t.Run(w.plugin()+"/"+modeOf(!noStream), func(t *testing.T) {
				t.Parallel()
				opaque(t, w, signed, noStream)
			})
		}
	}
}

func opaque(t *testing.T, w wire, signed signed, noStream bool) {
	answer := reply{pieces: signed.pieces, in: 7, out: 3}
	first := stream(w, w.streamed(answer).all())
	if noStream {
		first = jsonScript(200, w.whole(answer))
	}
	v := startVendor(t, w)
	v.plays("own", first, better(w))
	// The other one speaks the same protocol, so that it is the host alone that
	// holds back what is not the other's.
	elsewhere := startVendor(t, w)
	elsewhere.plays("other", better(w))
	home := newHome(t, provider("own", v, 1, "")+agent("own", "own", "", "")+provider("other", elsewhere, 1, "")+agent("other", "other", "", ""))
	say := func(agent, text string, noStream bool) {
		t.Helper()
		h := startHost(t, home) // a restart before each turn but the first
		s := ask(t, h, turn.Message{Session: "s", Agent: agent, Surface: "cli", Text: text, NoStream: noStream})
		if s.err != nil || s.turn.State != journal.Complete {
			t.Fatalf("%s: %v, %s: %s", text, s.err, s.turn.State, s.turn.Error.Message)
		}
		if err := h.Shutdown(); err != nil {
			t.Fatal(err)
		}
	}
	say("own", "one", noStream)
	say("own", "two", true)
	say("other", "three", true)
	say("own", "four", true)
	for i, request := range v.asked("own")[1:] {
		wantWithin(t, request.body, signed.objects)
		for _, s := range signed.verbatim {
			if !strings.Contains(request.body, s) {
				t.Errorf("request %d does not hold, byte for byte, %s\n%s", i+2, s, request.body)
			}
		}
	}
	for _, mark := range signed.marks {
		if got := elsewhere.asked("other")[0].body; strings.Contains(got, mark) {
			t.Errorf("another vendor got %q: %s", mark, got)
		}
	}
	if got := elsewhere.asked("other")[0].body; !strings.Contains(got, "Hello") {
		t.Errorf("another vendor did not get the text: %s", got)
	}
}

// signedCalls are answers whose calls have signatures, or reasoning before
// them that has, and what of it the requests after it hold. The host's ids are
// not the vendor's.
func signedCalls() map[string]signed {
	s := quote(oddSignature)
	think := piece{kind: thinking, text: "t", signature: oddSignature}
	return map[string]signed{
		"anthropic": {
			pieces: []piece{think, called("toolu_1", "f", "{}"), called("toolu_2", "g", `{"x":1}`)},
			objects: []string{
				`{"type":"thinking","thinking":"t","signature":` + s + `}`,
				`{"type":"tool_use","name":"f","input":{}}`, `{"type":"tool_use","name":"g","input":{"x":1}}`,
				`{"type":"tool_result"}`, `{"type":"tool_result"}`,
			},
		},
		"openai-responses": {
			pieces: []piece{think, called("call_1", "f", "{}"), {kind: secret, signature: "gAAAAABo"}, called("call_2", "g", `{"x":1}`)},
			objects: []string{
				`{"type":"reasoning","encrypted_content":` + s + `}`, `{"type":"function_call","name":"f","arguments":"{}"}`,
				`{"type":"reasoning","encrypted_content":"gAAAAABo"}`, `{"type":"function_call","name":"g","arguments":"{\"x\":1}"}`,
				`{"type":"function_call_output"}`, `{"type":"function_call_output"}`,
			},
		},
		"gemini": { // the very parts of C050
			pieces: []piece{think, called("", "f", "{}"), {kind: call, name: "g", args: "{}", signature: "S2"}},
			objects: []string{
				`{"thought":true,"text":"t","thoughtSignature":` + s + `}`,
				`{"functionCall":{"name":"f","args":{}},"!thoughtSignature":0}`,
				`{"functionCall":{"name":"g","args":{}},"thoughtSignature":"S2"}`,
				`{"functionResponse":{"name":"f"}}`, `{"functionResponse":{"name":"g"}}`,
			},
		},
	}
}

// A signature comes back with the part that it came with: in the next request
// of the turn, and in the next turn, after a restart too (C050).
func TestSignedCalls(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		signed, ok := signedCalls()[w.plugin()]
		if !ok {
			continue
		}
		for _, noStream := range []bool{false, true} {
			t.Run(w.plugin()+"/"+modeOf(!noStream), func(t *testing.T) {
				t.Parallel()
				r := reply{pieces: signed.pieces, finish: calls, in: 7, out: 3}
				first := stream(w, w.streamed(r).all())
				second := stream(w, w.streamed(say("better| now")).all())
				if noStream {
					first, second = jsonScript(200, w.whole(r)), better(w)
				}
				v := startVendor(t, w)
				v.plays("p", first, second)
				home := newHome(t, provider("p", v, 1, "")+agent("p", "p", "", ""))
				for range 2 {
					h := startHost(t, home)
					if s := ask(t, h, turn.Message{Session: "s", Agent: "p", Surface: "cli", Text: "go", NoStream: noStream}); s.err != nil || s.turn.State != journal.Complete {
						t.Fatalf("%v, %s: %s", s.err, s.turn.State, s.turn.Error.Message)
					}
					if err := h.Shutdown(); err != nil {
						t.Fatal(err)
					}
				}
				requests := v.asked("p")
				if len(requests) != 3 {
					t.Fatalf("%d requests, want 3", len(requests))
				}
				for _, r := range requests[1:] {
					wantWithin(t, r.body, signed.objects)
				}
			})
		}
	}
}
