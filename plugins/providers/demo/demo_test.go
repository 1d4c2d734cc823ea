package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// outcome is what a host would make of a script.
type outcome struct {
	Text      string
	Reasoning string
	Finish    abi.FinishReason
	Done      bool
	Failure   abi.FailureClass
	End       abi.ScriptEnd
	Call      string
}

func script(t *testing.T, said string, stream bool) *abi.Script {
	t.Helper()
	r, err := demo{}.Request(abi.ChatRequest{
		Model:    "demo",
		Stream:   stream,
		Options:  abi.Raw(`{"delay_ms":0}`),
		Messages: []abi.Message{{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: said}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Script == nil {
		t.Fatal("no script")
	}
	return r.Script
}

// play gives the script to the plugin as a host does.
func play(t *testing.T, s *abi.Script, stream bool) outcome {
	t.Helper()
	body := ""
	for _, p := range s.Pieces {
		body += p.Data
	}
	out := outcome{End: s.End}
	if s.Status >= 400 {
		out.Failure = demo{}.Error(abi.HTTPResponse{Status: s.Status, Body: body}).Class
		return out
	}
	var events []abi.Event
	switch {
	case stream:
		events = frames(t, body)
	case s.End == "":
		var err error
		if events, err = (demo{}).Response(abi.HTTPResponse{Status: 200, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range events {
		out.take(t, e)
	}
	return out
}

func frames(t *testing.T, body string) []abi.Event {
	t.Helper()
	var d provider.Decoder
	for _, block := range strings.Split(body, "\n\n") {
		data := strings.TrimPrefix(block, "data: ")
		if err := (demo{}).Frame(&d, []byte(data), ""); err != nil {
			t.Fatal(err)
		}
	}
	return d.Events
}

func (o *outcome) take(t *testing.T, e abi.Event) {
	t.Helper()
	switch e.Type {
	case abi.EventText:
		o.Text += e.Text
	case abi.EventReasoning:
		o.Reasoning += e.Text
	case abi.EventFinish:
		o.Finish = e.Reason
	case abi.EventDone:
		o.Done = true
	case abi.EventFailure:
		o.Failure = e.Failure.Class
	case abi.EventToolCall:
		o.Call += e.Name + " " + e.Arguments
	case abi.EventMeta, abi.EventUsage:
	default:
		t.Errorf("unexpected event %s", e.Type)
	}
}

// TestCommands holds what each command does to a stream and to the answer in one
// piece: what the chain is to make of it is in the comments.
func TestCommands(t *testing.T) {
	t.Parallel()
	const ok, length, filter, refusal = abi.FinishStop, abi.FinishLength, abi.FinishContentFilter, abi.FinishRefusal
	type want struct {
		text    bool
		finish  abi.FinishReason
		end     abi.ScriptEnd
		failure abi.FailureClass
	}
	for said, c := range map[string]struct{ stream, whole want }{
		"hello":            {want{true, ok, "", ""}, want{true, ok, "", ""}},
		"":                 {want{true, ok, "", ""}, want{true, ok, "", ""}},
		"/demo":            {want{true, ok, "", ""}, want{true, ok, "", ""}},
		"/demo help":       {want{true, ok, "", ""}, want{true, ok, "", ""}},
		"/demo what":       {want{true, ok, "", ""}, want{true, ok, "", ""}},
		"/demo cut":        {want{true, "", "cut", ""}, want{false, "", "cut", ""}},         // REL-4
		"/demo cut before": {want{false, "", "cut", ""}, want{true, ok, "", ""}},            // REL-3
		"/demo empty":      {want{false, ok, "", ""}, want{false, ok, "", ""}},              // REL-5, fails
		"/demo empty once": {want{false, ok, "", ""}, want{true, ok, "", ""}},               // REL-5, recovers
		"/demo silent":     {want{true, "", "silence", ""}, want{false, "", "silence", ""}}, // STR-1, idle
		"/demo slow":       {want{true, ok, "", ""}, want{true, ok, "", ""}},
		"/demo fail":       {want{false, "", "", abi.FailureServer}, want{false, "", "", abi.FailureServer}}, // REL-3, fails
		"/demo overloaded": {want{false, "", "", abi.FailureOverloaded}, want{true, ok, "", ""}},             // REL-6
		"/demo length":     {want{true, length, "", ""}, want{true, length, "", ""}},                         // STR-5
		"/demo filter":     {want{true, filter, "", ""}, want{true, filter, "", ""}},
		"/demo refusal":    {want{true, refusal, "", ""}, want{true, refusal, "", ""}},
		"/demo reasoning":  {want{true, ok, "", ""}, want{true, ok, "", ""}},
		" /demo  cut ":     {want{true, "", "cut", ""}, want{false, "", "cut", ""}},
		"/demo long 3":     {want{true, ok, "", ""}, want{true, ok, "", ""}},
		"/demo long":       {want{true, ok, "", ""}, want{true, ok, "", ""}},
	} {
		for stream, w := range map[bool]want{true: c.stream, false: c.whole} {
			t.Run(said+"/stream="+strconv.FormatBool(stream), func(t *testing.T) {
				t.Parallel()
				got := play(t, script(t, said, stream), stream)
				if diff := cmp.Diff(w, want{got.Text != "", got.Finish, got.End, got.Failure}, cmp.AllowUnexported(want{})); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if got.Done != (w.finish != "") {
					t.Errorf("done = %v", got.Done)
				}
			})
		}
	}
}

func TestStreamAndWholeSayTheSame(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"hello there", "/demo help", "/demo reasoning", "/demo length", "/demo long 20"} {
		if diff := cmp.Diff(play(t, script(t, said, true), true), play(t, script(t, said, false), false)); diff != "" {
			t.Errorf("%s (-stream +whole):\n%s", said, diff)
		}
	}
}

func TestAnswerRepeatsLittleOfWhatWasSaid(t *testing.T) {
	t.Parallel()
	if got := play(t, script(t, "good morning", true), true); !strings.Contains(got.Text, "good morning") {
		t.Errorf("answer = %q", got.Text)
	}
	if got := play(t, script(t, strings.Repeat("漢", 1<<16), true), true); len(got.Text) > 4096 || strings.Contains(got.Text, "\uFFFD") {
		t.Errorf("answer has %d bytes", len(got.Text))
	}
}

func TestLongCountsItsFrames(t *testing.T) {
	t.Parallel()
	const frames = 4000
	texts := 0
	for _, p := range script(t, "/demo long 4000", true).Pieces {
		texts += strings.Count(p.Data, `data: {"type":"text"`)
	}
	if texts != frames {
		t.Errorf("%d frames of text, want %d", texts, frames)
	}
	for _, count := range []string{"0", "-1", "20001", "many"} {
		if got := play(t, script(t, "/demo long "+count, true), true); !strings.HasPrefix(got.Text, "How long?") {
			t.Errorf("long %s = %.40q", count, got.Text)
		}
	}
}

func TestUsageCountsWords(t *testing.T) {
	t.Parallel()
	r, err := demo{}.Request(abi.ChatRequest{
		Stream:   false,
		System:   "be nice",
		Messages: []abi.Message{{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: "/demo long 5"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	events, err := demo{}.Response(abi.HTTPResponse{Body: r.Script.Pieces[0].Data})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == abi.EventUsage {
			if *e.Usage.Input != 5 || *e.Usage.Output != 5 || e.Usage.Reasoning != nil {
				t.Errorf("usage = %d in, %d out", *e.Usage.Input, *e.Usage.Output)
			}
			return
		}
	}
	t.Error("no usage")
}

// TestMergedMessage: when the turn before got no answer, its message and the new
// one are one message of several parts. Only the new one counts.
func TestMergedMessage(t *testing.T) {
	t.Parallel()
	r, err := demo{}.Request(abi.ChatRequest{Stream: true, Messages: []abi.Message{{Role: abi.RoleUser, Parts: []abi.Part{
		{Type: abi.PartText, Text: "/demo fail"}, {Type: abi.PartText, Text: "/demo cut"},
	}}}})
	if err != nil || r.Script.Status != 0 || r.Script.End != abi.ScriptEndCut {
		t.Errorf("script = %+v, %v", r.Script, err)
	}
}

func TestDelays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said, options string
		want          int64
	}{
		{"hi", ``, defaultDelay},
		{"hi", `{"delay_ms":0}`, 0},
		{"hi", `{"delay_ms":7}`, 7},
		{"/demo slow", `{"delay_ms":7}`, slowPause},
		{"/demo long 2", ``, 1},
		{"/demo long 2", `{"delay_ms":0}`, 0},
	} {
		r, err := demo{}.Request(abi.ChatRequest{Stream: true, Options: abi.Raw(c.options), Messages: []abi.Message{
			{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: c.said}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if c.want == 0 {
			if n := len(r.Script.Pieces); n != 1 || r.Script.Pieces[0].DelayMS != 0 {
				t.Errorf("%s with %s has %d pieces", c.said, c.options, n)
			}
			continue
		}
		if got := r.Script.Pieces[1].DelayMS; got != c.want {
			t.Errorf("%s with %s waits %d ms, want %d", c.said, c.options, got, c.want)
		}
	}
	for _, options := range []string{`{"delay_ms":-1}`, `{"delay_ms":"x"}`, `[]`, `{`} {
		if _, err := (demo{}).Request(abi.ChatRequest{Options: abi.Raw(options)}); err == nil {
			t.Errorf("options %s were accepted", options)
		}
	}
}

func TestJunkIsAFailure(t *testing.T) {
	t.Parallel()
	var d provider.Decoder
	for _, data := range []string{"", "  ", "<html>", "{}"} {
		if err := (demo{}).Frame(&d, []byte(data), ""); err != nil {
			t.Fatal(err)
		}
	}
	if len(d.Events) != 2 || d.Events[0].Type != abi.EventFailure || d.Events[1].Type != abi.EventFailure {
		t.Errorf("events = %+v", d.Events)
	}
	for _, body := range []string{"", "{}", "<html>"} {
		events, err := demo{}.Response(abi.HTTPResponse{Status: 200, Body: body})
		if err != nil || len(events) != 1 || events[0].Type != abi.EventFailure {
			t.Errorf("response %q = %+v, %v", body, events, err)
		}
		if f := (demo{}).Error(abi.HTTPResponse{Status: 502, Body: body}); f.Class != abi.FailureServer || f.Status != 502 {
			t.Errorf("error %q = %+v", body, f)
		}
	}
}

// TestTool: the call that is made, and what is said of its result.
func TestTool(t *testing.T) {
	t.Parallel()
	tools := []abi.Tool{
		{Name: "read_file", InputSchema: abi.Raw(`{"type":"object","required":["path"]}`)},
		{Name: "broken", InputSchema: abi.Raw(`{"type":`)},
		{Name: "time", InputSchema: abi.Raw(`{"type":"object","required":[]}`)},
		{Name: "list_dir", InputSchema: abi.Raw(`{"required":["path"]}`)},
	}
	for said, c := range map[string]struct {
		tools []abi.Tool
		call  string
	}{
		"/demo tool":    {tools, "list_dir {}"},
		" /demo  tool ": {tools[:3], "time {}"},
		"/demo tool write_file  {\"path\": \"a b\"}": {tools, `write_file {"path": "a b"}`},
		"/demo tool x": {nil, "x {}"},
		"/demo  tool":  {tools[:2], ""},
		"/demo tools":  {tools, ""},
		"hello":        {tools, ""},
	} {
		for _, stream := range []bool{true, false} {
			r, err := demo{}.Request(abi.ChatRequest{Stream: stream, Tools: c.tools, Options: abi.Raw(`{"delay_ms":0}`), Messages: []abi.Message{
				{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: said}}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, r.Script, stream)
			if got.Call != c.call || got.Text == "" || (got.Finish == abi.FinishToolCalls) != (c.call != "") || !got.Done {
				t.Errorf("%q, stream %t: %+v", said, stream, got)
			}
		}
	}
}

func TestToolResult(t *testing.T) {
	t.Parallel()
	for want, part := range map[string]abi.Part{
		"list_dir answered:\n\nnotes.txt": {Type: abi.PartToolResult, Name: "list_dir", Text: "notes.txt"},
		"x gave no result:\n\nno":         {Type: abi.PartToolResult, Name: "x", Text: "no", IsError: true},
		"The tool answered:\n\n(nothing)": {Type: abi.PartToolResult},
	} {
		r, err := demo{}.Request(abi.ChatRequest{Stream: true, Messages: []abi.Message{{Role: abi.RoleTool, Parts: []abi.Part{part}}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := play(t, r.Script, true); !strings.HasPrefix(got.Text, want) || got.Call != "" {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}
