package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

func user(parts ...abi.Part) abi.Message { return abi.Message{Role: abi.RoleUser, Parts: parts} }

func model(parts ...abi.Part) abi.Message { return abi.Message{Role: abi.RoleAssistant, Parts: parts} }

func text(s, phase string) abi.Part {
	return abi.Part{Type: abi.PartText, Text: s, Signature: phase}
}

func toolCall(id, arguments string) abi.Part {
	return abi.Part{Type: abi.PartToolCall, CallID: id, Name: "f", Arguments: arguments}
}

func opaque(typ abi.PartType, item string) abi.Part { return abi.Part{Type: typ, Opaque: item} }

func TestFragments(t *testing.T) {
	t.Parallel()
	const hi = `{"type":"message","role":"assistant","content":"Hi"}`
	for name, c := range map[string]struct {
		in   abi.Message
		want string
	}{
		"user":            {user(text("Hi \"you\"", "")), `{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi \"you\""}]}`},
		"user, two texts": {user(text("a", ""), text("b", "")), `{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`},
		"nothing at all":  {user(text("", "")), `{"type":"message","role":"user","content":[{"type":"input_text","text":""}]}`},
		"image and files": {
			user(text("see", ""), abi.Part{Type: abi.PartImage, Blob: "1a", MediaType: "image/png", Name: "x"}, abi.Part{Type: abi.PartFile, Blob: "2b", MediaType: "application/pdf", Name: "a \"b\".pdf"},
				abi.Part{Type: abi.PartFile, Blob: "3c", MediaType: "application/pdf"}),
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,{{blob:1a}}"},` +
				`{"type":"input_file","filename":"a \"b\".pdf","file_data":"data:application/pdf;base64,{{blob:2b}}"},{"type":"input_file","filename":"file.pdf","file_data":"data:application/pdf;base64,{{blob:3c}}"}]}`,
		},
		"STR-8 items in their order, byte for byte": {
			model(opaque(abi.PartReasoning, reasoning), opaque(abi.PartProviderTool, search), text("Hi", ""), opaque(abi.PartReasoning, `{"id": "rs_2"}`), toolCall("t1.1.1", `{"x": 1}`)),
			reasoning + "," + search + "," + hi + `,{"id": "rs_2"},{"type":"function_call","call_id":"t1_1_1","name":"f","arguments":"{\"x\": 1}"}`,
		},
		"STR-8 the phase": {
			model(text("Hi", "commentary")), `{"type":"message","role":"assistant","phase":"commentary","content":"Hi"}`,
		},
		"reasoning that nothing follows": {model(text("Hi", ""), opaque(abi.PartReasoning, reasoning)), hi},
		"reasoning without its item":     {model(abi.Part{Type: abi.PartReasoning, Text: "hm"}, text("Hi", "")), hi},
		"items that are no JSON":         {model(opaque(abi.PartReasoning, "x"), opaque(abi.PartProviderTool, `{"x":`), text("Hi", "")), hi},
		"reasoning alone":                {model(opaque(abi.PartReasoning, reasoning)), `{"type":"message","role":"assistant","content":""}`},
		"C030 arguments that are no object": {
			model(toolCall("1", `{"x":`), toolCall("2", `[1]`)),
			`{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"2","name":"f","arguments":"{}"}`,
		},
		"results": {
			abi.Message{Role: abi.RoleTool, Parts: []abi.Part{
				{Type: abi.PartToolResult, CallID: "t1.1.1", Name: "f", Text: "one\n"}, {Type: abi.PartToolResult, CallID: "t1.1.2", Name: "g", Text: "no", IsError: true},
			}},
			`{"type":"function_call_output","call_id":"t1_1_1","output":"one\n"},{"type":"function_call_output","call_id":"t1_1_2","output":"no"}`,
		},
		"the place of the messages cannot be forged": {user(text("{{messages}}", "")), `{"type":"message","role":"user","content":[{"type":"input_text","text":"\u007b{messages}}"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := responses{}.Messages(abi.ChatMessages{Messages: []abi.Message{c.in}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Errorf("fragments (-want +got):\n%s", diff)
			}
		})
	}
	for _, m := range []abi.Message{{Role: "narrator"}, {Role: abi.RoleTool, Parts: []abi.Part{text("x", "")}}} {
		if _, err := (responses{}).Messages(abi.ChatMessages{Messages: []abi.Message{m}}); err == nil {
			t.Errorf("message %+v was accepted", m)
		}
	}
}

// C026: ids stay apart, and are what the API takes.
func TestCallID(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	long := strings.Repeat("turn-0123456789", 5)
	seen := map[string]string{}
	for _, id := range []string{"t1.1.1", "t1.1.2", "t11.1", long + ".1.1", long + ".1.2", long + ".11.1", strings.Repeat("x", 64), strings.Repeat("x", 65), "a b/ü"} {
		got := callID(id)
		if !valid.MatchString(got) {
			t.Errorf("the id of %q is %q", id, got)
		}
		if before, ok := seen[got]; ok {
			t.Errorf("%q and %q have the same id", before, id)
		}
		seen[got] = id
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	for _, s := range []state{
		{last: -1, loaded: true},
		{last: 2, half: 0xD83D, thought: true, loaded: true},
		{last: 3, told: true, refused: true, calls: 2, loaded: true, items: []item{{place: 0, id: 1, call: 0, index: -1, begun: true}, {place: -1, id: 0, call: 1 << 31, index: 1, named: true, done: true}}},
	} {
		got := readState(s.String())
		got.load()
		if diff := cmp.Diff(s.items, got.items, cmp.AllowUnexported(item{})); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
		if untouched := readState(s.String()); got.String() != s.String() || untouched.String() != s.String() {
			t.Errorf("%q is written again as %q", s.String(), got.String())
		}
		if got.told != s.told || got.refused != s.refused || got.half != s.half || got.thought != s.thought || got.last != s.last || got.calls != s.calls {
			t.Errorf("%+v is read as %+v", s, got)
		}
	}
}

// The state stays within its bound whatever the server sends.
func TestStateIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range maxItems + 10 {
		b.WriteString(event("response.output_item.added", `"output_index":1000000000,"item":`+fcall("x", "y", "f", "")))
		b.WriteString(event("response.output_item.done", `"output_index":1000000000,"item":`+fcall("x", "y", "f", "")))
	}
	got := decode(t, frames(b.String()))
	if want := "failure server code= the response has too many items"; !strings.Contains(got, want) {
		t.Errorf("the last of %d lines are not %q", strings.Count(got, "\n"), want)
	}
}
