package protocols

import (
	"strings"
	"testing"

	"github.com/zchost/zchost/host/journal"
)

// Cases of cases.md that concern one protocol alone, through the whole host.
func TestProtocolCases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wire  wire
		cases []fault
	}{
		{responses{}, responsesCases()},
		{gemini{}, geminiCases()},
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
