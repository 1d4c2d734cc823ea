package protocols

import (
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// Cases of cases.md that concern one protocol alone, through the whole host.
func TestProtocolCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wire  wire
		cases []fault
	}{
		{anthropic{}, anthropicCases()},
		{responses{}, responsesCases()},
		{gemini{}, geminiCases()},
		{ollama{}, ollamaCases()},
	} {
		t.Run(c.wire.plugin(), func(t *testing.T) {
			t.Parallel()
			runFaults(t, c.wire, c.cases, false)
		})
	}
}

// plays is a stream that a case gives, and an answer to what follows.
func plays(s string) func(w wire) []script {
	return twice(func(w wire) script { return stream(w, s) })
}

// unnamed is a stream whose events have no names.
func unnamed(stream string) string {
	var b strings.Builder
	for line := range strings.Lines(stream) {
		if !strings.HasPrefix(line, "event:") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// renamed is a stream whose events all have this name.
func renamed(stream, name string) string {
	return strings.ReplaceAll(unnamed(stream), "data: ", "event: "+name+"\ndata: ")
}

// anthropicCases are those of the Messages API.
func anthropicCases() []fault {
	a := anthropic{}
	f := a.streamed(say("Hel|lo"))
	hello := f.all()
	begun := f.head + f.body[0] + f.body[1]
	tool := a.streamed(reply{pieces: []piece{{text: "I look."}, called("toolu_1", "ls", `{"p":"a"}`)}, finish: calls, in: 7, out: 3})
	bare := a.event("content_block_start", `"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"status","input":{}}`) + a.event("content_block_stop", `"index":0`)
	cached := strings.Replace(hello, `"input_tokens":7,`, `"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,`, 1)
	looked := outcome{state: journal.Complete, text: "I look.better now", ledger: "stream complete; stream complete", usage: "7/3", kept: 4}
	thenStream := func(s string) func(w wire) []script {
		return func(w wire) []script { return []script{stream(w, s), stream(w, w.streamed(say("better| now")).all())} }
	}
	return []fault{
		{name: "C004-bom", scripts: plays("\xEF\xBB\xBF" + hello), want: complete()},
		{name: "C012-half-stop", scripts: plays(begun + f.finish + "event: message_stop\ndata: {\"ty"), want: complete().warned()},
		{name: "C028-no-delta", scripts: thenStream(f.head + bare + tool.finish + tool.signal), want: outcome{
			state: journal.Complete, text: "better now", ledger: "stream complete; stream complete", kept: 4,
		}},
		{name: "C040-end-turn", scripts: plays(begun + f.finish), want: complete().warned()},
		// The first request is complete, and so is the turn: the warning is the first one's.
		{name: "C040-tool-use", scripts: thenStream(tool.head + strings.Join(tool.body, "") + tool.finish), want: looked},
		{name: "C148-no-names", scripts: plays(unnamed(hello)), want: complete()},
		{name: "C148-message", scripts: plays(renamed(hello, "message")), want: complete()},
		{name: "C148-error", scripts: plays(f.head + "event: error\ndata: {\"message\":\"BOOM\"}\n\n"), want: again("server")},
		{name: "C148-blank", scripts: plays("event: message_start\n\n" + hello), want: complete()},
		{name: "C148-done", scripts: plays(hello + "data: [DONE]\n\n"), want: complete()},
		{name: "C148-done-only", scripts: plays(begun + f.finish + "data: [DONE]\n\n"), want: complete().warned()},
		{name: "CST2-cut", scripts: func(w wire) []script { return []script{stream(w, f.head+f.body[0]).ends(closing)} }, want: usageOf(partial("truncated"), "7/-")},
		{name: "CST2-cache", scripts: plays(cached), want: usageOf(complete(), "127/3")},
		{name: "window", scripts: plays(strings.Replace(hello, `"end_turn"`, `"model_context_window_exceeded"`, 1)), want: outcome{
			state: journal.Incomplete, marker: "turn-incomplete-length", text: "Hello", ledger: "stream incomplete", usage: "7/3",
		}},
	}
}

// The parts of an answer that the provider paused go back as they are, and
// what it ran itself never gets a result of ours (C042).
func TestPause(t *testing.T) {
	t.Parallel()
	a := anthropic{}
	search := `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"a < b"}}`
	found := `{"type":"web_search_tool_result","tool_use_id":"srv1","content":[{"type":"web_search_result","title":"T","url":"https://example.com/","encrypted_content":"EqgfCioIARgB","page_age":null}]}`
	first := reply{pieces: []piece{{text: "I search."}, {kind: server, args: search}}, in: 7, out: 3}
	second := reply{pieces: []piece{{kind: server, args: found}, {text: " Found."}}, in: 7, out: 3}
	paused := strings.Replace(a.streamed(first).all(), `"end_turn"`, `"pause_turn"`, 1)
	v := startVendor(t, a)
	v.plays("p", stream(a, paused), stream(a, a.streamed(second).all()))
	v.plays("endless", stream(a, paused))
	h := startHost(t, newHome(t, provider("p", v, 1, "")+agent("p", "p", "", "")+agent("p", "endless", "", "")))
	s := ask(t, h, turn.Message{Session: "p", Agent: "p", Surface: "cli", Text: "go"})
	if s.err != nil || s.turn.State != journal.Complete || s.text != "I search. Found." {
		t.Fatalf("%v, %s, %q: %s", s.err, s.turn.State, s.text, s.turn.Error.Message)
	}
	requests := v.asked("p")
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	wantWithin(t, requests[1].body, []string{`{"role":"user"}`, `{"role":"assistant"}`, `{"type":"text","text":"I search."}`, search})
	if body := requests[1].body; !strings.Contains(body, search) || strings.Contains(body, "tool_result") {
		t.Errorf("the second request is not the paused answer: %s", body)
	}
	s = ask(t, h, turn.Message{Session: "endless", Agent: "endless", Surface: "cli", Text: "go"})
	if n := len(v.asked("endless")); s.err != nil || s.turn.State != journal.Incomplete || n != 6 {
		t.Errorf("%v, %s after %d requests, want incomplete after 6", s.err, s.turn.State, n)
	}
}

// responsesCases are those of the Responses API.
func responsesCases() []fault {
	s := responses{}
	hello := s.streamed(say("Hel|lo")).all()
	incomplete := func(reason string) string {
		return s.event("response.incomplete", `"response":`+s.response("incomplete", `{"reason":"`+reason+`"}`, "null", "",
			`{"input_tokens":5,"output_tokens":100,"total_tokens":105}`))
	}
	created := s.event("response.created", `"response":`+s.response("in_progress", "null", "null", "", "null"))
	reasoning := strings.Join(s.item(0, reply{}, piece{kind: secret, signature: "S"}), "")
	begun := s.event("response.output_item.added", `"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","arguments":"","call_id":"c1","name":"w"}`) +
		s.event("response.function_call_arguments.delta", `"item_id":"fc_1","output_index":1,"delta":"{\"p\":\"a"`)
	done := func(args string) string {
		return begun + s.event("response.output_item.done", `"output_index":1,"item":{"id":"fc_1","type":"function_call","status":"completed","arguments":`+quote(args)+`,"call_id":"c1","name":"w"}`)
	}
	cut := func(marker string) outcome {
		return outcome{state: journal.Incomplete, marker: marker, ledger: "stream incomplete", usage: "5/100"}
	}
	return []fault{
		{name: "C044-length", scripts: plays(created + reasoning + incomplete("max_output_tokens")), want: cut("turn-incomplete-length")},
		{name: "C044-filter", scripts: plays(created + begun + incomplete("content_filter")), want: cut("turn-incomplete-filter")},
		{name: "C044-open-call", scripts: plays(created + reasoning + begun + incomplete("max_output_tokens")), want: cut("turn-incomplete-length")},
		{name: "C152-cut", scripts: plays(created + done(`{"p":"a`) + incomplete("max_output_tokens")), want: cut("turn-incomplete-length")},
		{name: "C152-whole", scripts: plays(created + done(`{"p":"a"}`) + incomplete("max_output_tokens")), want: cut("turn-incomplete-length")},
		{name: "C148-no-names", scripts: plays(unnamed(hello)), want: complete()},
		{name: "C148-message", scripts: plays(renamed(hello, "message")), want: complete()},
		{name: "C148-done", scripts: plays(hello + "data: [DONE]\n\n"), want: complete()},
		{name: "C148-blank", scripts: plays("event: response.created\n\n" + hello), want: complete()},
		{name: "C148-error", scripts: plays(created + "event: error\ndata: {\"message\":\"BOOM\"}\n\n"),
			want: again("server")},
		{name: "failed-limit", knobs: `key_cooldown = "50ms"`, scripts: plays(created + s.event("response.failed",
			`"response":`+s.response("failed", "null", `{"code":"rate_limit_exceeded","message":"slow down"}`, "", "null"))),
			want: again("rate_limited")},
		{name: "failed-prompt", scripts: plays(created + s.event("response.failed",
			`"response":`+s.response("failed", "null", `{"code":"invalid_prompt","message":"against the policy"}`, "", "null"))),
			want: refused("content_filtered", "against the policy")},
	}
}

// geminiCases are those of Gemini.
func geminiCases() []fault {
	g := gemini{}
	hello := g.streamed(say("Hel|lo")).all()
	malformed := "data: {\"candidates\":[{\"content\":{},\"finishReason\":\"MALFORMED_FUNCTION_CALL\"}]}\r\n\r\n"
	usage := `{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":20,"thoughtsTokenCount":30,"totalTokenCount":150}`
	return []fault{
		{name: "C048-once", scripts: plays(malformed), want: again("empty")},
		{name: "C048-always", scripts: func(w wire) []script {
			return []script{stream(w, malformed), jsonScript(200, strings.TrimPrefix(strings.TrimSpace(malformed), "data: "))}
		}, want: outcome{state: journal.Failed, marker: turnFailed, ledger: "stream empty; whole empty", mentions: "no answer"}},
		{name: "blocked", scripts: plays(`data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":7},"modelVersion":"m-1"}` + "\r\n\r\n"),
			want: refused("content_filtered", "SAFETY")},
		{name: "CST2-thoughts", scripts: plays(g.chunk(`{"text":"Hello"}`, `,"finishReason":"STOP"`, usage)), want: usageOf(complete(), "100/50")},
		{name: "CST2-cut", scripts: func(w wire) []script {
			f := w.streamed(say("Hel|lo"))
			return []script{stream(w, f.head+f.body[0]).ends(closing)}
		}, want: usageOf(partial("truncated"), "7/-")},
		{name: "C148-done", scripts: plays(hello + "data: [DONE]\n\n"), want: complete()},
	}
}

func usageOf(o outcome, usage string) outcome { o.usage = usage; return o }

// ollamaCases are those of Ollama.
func ollamaCases() []fault {
	o := ollama{}
	f := o.streamed(say("Hel|lo"))
	ndjson := func(pieces ...string) func(w wire) []script {
		return func(w wire) []script {
			s := stream(w, pieces...)
			s.gap = 20 * time.Millisecond
			return []script{s, better(w)}
		}
	}
	return []fault{
		{name: "C046", scripts: ndjson(
			`{"message":{"con`, `tent":"a"},"done":false}`+"\n"+`{"message":{"content":"b"},"done":false}`+"\n"+`{"message":{"content":""},`,
			`"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}`,
		), want: outcome{state: journal.Complete, text: "ab", ledger: "stream complete", usage: "3/2"}},
		{name: "C148-done", scripts: plays(f.all() + "[DONE]\n"), want: complete()},
		{name: "crlf-between", scripts: plays(f.head + "\r\n\r\n" + f.body[0] + "\n" + f.body[1] + f.signal), want: complete()},
		{name: "no-reason", scripts: plays(strings.Replace(f.all(), `,"done_reason":"stop"`, "", 1)), want: complete()},
		{name: "no-counts", scripts: plays(strings.Replace(f.all(), `"prompt_eval_count":7,`, "", 1)), want: usageOf(complete(), "-/3")},
		{name: "junk", scripts: plays(f.head + f.body[0] + "<html>\n"), want: partial("server")},
		{name: "last-with-text", scripts: plays(f.head + o.last(reply{in: 7, out: 3}, `{"role":"assistant","content":"Hello"}`)), want: complete()},
	}
}
