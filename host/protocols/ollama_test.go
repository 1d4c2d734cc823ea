package protocols

import (
	"fmt"
	"net/http"
	"strings"
)

// ollama is Ollama's own API.
// https://docs.ollama.com/api/chat, https://docs.ollama.com/api/errors
type ollama struct{}

func (ollama) plugin() string { return "ollama" }
func (ollama) suffix() string { return "" }

func (ollama) reason(f finish) string {
	return map[finish]string{stop: "stop", calls: "stop", length: "length", filter: "stop", refusal: "stop", odd: "vendor_reason"}[f]
}

const ollamaHead = `{"model":"m-1","created_at":"2026-01-02T15:04:05.123456Z","message":`

func (ollama) line(message string) string { return ollamaHead + message + `,"done":false}` + "\n" }

func (o ollama) streamed(r reply) frames {
	f := frames{head: o.line(`{"role":"assistant","content":""}`)}
	for _, p := range r.pieces {
		switch p.kind {
		case text:
			for _, d := range p.deltas() {
				f.body = append(f.body, o.line(`{"role":"assistant","content":`+quote(d)+`}`))
			}
		case thinking:
			for _, d := range p.deltas() {
				f.body = append(f.body, o.line(`{"role":"assistant","content":"","thinking":`+quote(d)+`}`))
			}
		case call:
			f.body = append(f.body, o.line(`{"role":"assistant","content":"","tool_calls":[`+o.call(p)+`]}`))
		case secret, server:
		}
	}
	f.signal = o.last(r, `{"role":"assistant","content":""}`) + "\n"
	return f
}

func (ollama) call(p piece) string {
	return fmt.Sprintf(`{"function":{"name":%s,"arguments":%s}}`, quote(p.name), object(p.args))
}

func (o ollama) last(r reply, message string) string {
	return fmt.Sprintf(`%s%s,"done":true,"done_reason":%s,"total_duration":4883583458,"load_duration":1334875,"prompt_eval_count":%d,"prompt_eval_duration":342546000,"eval_count":%d,"eval_duration":4535599000}`,
		ollamaHead, message, quote(o.reason(r.finish)), r.in, r.out)
}

func (o ollama) whole(r reply) string {
	var content, thought string
	var tools []string
	for _, p := range r.pieces {
		switch p.kind {
		case text:
			content += p.joined()
		case thinking:
			thought += p.joined()
		case call:
			tools = append(tools, o.call(p))
		case secret, server:
		}
	}
	message := `{"role":"assistant","content":` + quote(content)
	if thought != "" {
		message += `,"thinking":` + quote(thought)
	}
	if tools != nil {
		message += `,"tool_calls":[` + strings.Join(tools, ",") + `]`
	}
	return o.last(r, message+"}")
}

func (ollama) problem(p problem) script {
	is := func(status int, message string) script { return jsonScript(status, `{"error":`+quote(message)+`}`) }
	busy := is(http.StatusTooManyRequests, "you have reached your hourly usage limit")
	return map[problem]script{
		overloaded:   is(http.StatusServiceUnavailable, "server busy, please try again.  maximum pending requests exceeded"),
		internal:     is(http.StatusInternalServerError, "llama runner process has terminated: signal: killed"),
		limited:      busy,
		limitedFor:   busy.with("Retry-After", "1"),
		limitedDay:   busy.with("Retry-After", "86400"),
		unauthorized: is(http.StatusUnauthorized, "unauthorized"),
		overflow:     is(http.StatusBadRequest, "the input length exceeds the context length"),
		noModel:      is(http.StatusNotFound, "model 'm-1' not found"),
		badField:     is(http.StatusBadRequest, "invalid think value"),
	}[p]
}

func (ollama) broken(problem) string {
	return `{"error":"an error was encountered while running the model"}` + "\n"
}

func (ollama) idle() string { return "\n" }

func (ollama) foreign() string { return `{"status":"loading","model":"m-1"}` + "\n" }

func (o ollama) huge(n int, _ bool) string { // a frame is a line
	return o.line(`{"role":"assistant","content":"` + strings.Repeat("a", n) + `"}`)
}

func (ollama) read(r *http.Request, body []byte) request {
	in := decode(body)
	// It streams if the request does not say otherwise.
	return request{stream: in.Stream == nil || *in.Stream, model: in.Model, key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
}
