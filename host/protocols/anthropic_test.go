package protocols

import (
	"fmt"
	"net/http"
	"strings"
)

// anthropic is the Messages API.
// https://platform.claude.com/docs/en/build-with-claude/streaming
// https://platform.claude.com/docs/en/api/errors
type anthropic struct{}

func (anthropic) plugin() string { return "anthropic" }
func (anthropic) suffix() string { return "" }

func (anthropic) reason(f finish) string {
	return map[finish]string{stop: "end_turn", calls: "tool_use", length: "max_tokens", filter: "refusal", refusal: "refusal", odd: "vendor_reason"}[f]
}

// event is an event with its type in its JSON too.
func (anthropic) event(typ, fields string) string {
	if fields != "" {
		fields = "," + fields
	}
	return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\"" + fields + "}\n\n"
}

func (a anthropic) streamed(r reply) frames {
	f := frames{
		head: a.event("message_start", fmt.Sprintf(`"message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m-1","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":1}}`, r.in)) +
			a.event("ping", ""),
		finish: a.event("message_delta", fmt.Sprintf(`"delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}`, quote(a.reason(r.finish)), r.out)),
		signal: a.event("message_stop", ""),
	}
	for i, p := range r.pieces {
		start, deltas := a.block(p)
		begin := a.event("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, i, start))
		end := a.event("content_block_stop", fmt.Sprintf(`"index":%d`, i))
		if len(deltas) == 0 {
			f.body = append(f.body, begin+end)
		}
		for j, d := range deltas {
			d = a.event("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, i, d))
			if j == 0 {
				d = begin + d
			}
			if j == len(deltas)-1 {
				d += end
			}
			f.body = append(f.body, d)
		}
	}
	return f
}

// block is a piece as the start of a content block and its deltas.
func (a anthropic) block(p piece) (start string, deltas []string) {
	switch p.kind {
	case text:
		for _, d := range p.deltas() {
			deltas = append(deltas, `{"type":"text_delta","text":`+quote(d)+`}`)
		}
		return `{"type":"text","text":""}`, deltas
	case thinking:
		for _, d := range p.deltas() {
			deltas = append(deltas, `{"type":"thinking_delta","thinking":`+quote(d)+`}`)
		}
		deltas = append(deltas, `{"type":"signature_delta","signature":`+quote(p.signature)+`}`)
		return `{"type":"thinking","thinking":"","signature":""}`, deltas
	case call:
		for _, half := range halves(p.args) {
			deltas = append(deltas, `{"type":"input_json_delta","partial_json":`+quote(half)+`}`)
		}
		return fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(p.id), quote(p.name)), deltas
	case secret:
		return a.content(p), nil
	case server:
		return a.content(p), nil
	}
	return "", nil
}

// content is a piece as a whole content block.
func (anthropic) content(p piece) string {
	switch p.kind {
	case text:
		return `{"type":"text","text":` + quote(p.joined()) + `}`
	case thinking:
		return `{"type":"thinking","thinking":` + quote(p.joined()) + `,"signature":` + quote(p.signature) + `}`
	case call:
		return fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(p.id), quote(p.name), object(p.args))
	case secret:
		return `{"type":"redacted_thinking","data":` + quote(p.signature) + `}`
	case server:
		return p.args // as the test gives it
	}
	return ""
}

func (a anthropic) whole(r reply) string {
	blocks := make([]string, len(r.pieces))
	for i, p := range r.pieces {
		blocks[i] = a.content(p)
	}
	return fmt.Sprintf(`{"id":"msg_2","type":"message","role":"assistant","model":"m-1","content":[%s],"stop_reason":%s,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`,
		strings.Join(blocks, ","), quote(a.reason(r.finish)), r.in, r.out)
}

func (anthropic) fault(typ, message string) string {
	return fmt.Sprintf(`"error":{"type":%s,"message":%s},"request_id":"req_1"`, quote(typ), quote(message))
}

func (a anthropic) problem(p problem) script {
	is := func(status int, typ, message string) script {
		return jsonScript(status, `{"type":"error",`+a.fault(typ, message)+`}`)
	}
	busy := is(http.StatusTooManyRequests, "rate_limit_error", "This request would exceed your rate limit")
	return map[problem]script{
		overloaded:   is(529, "overloaded_error", "Overloaded"),
		internal:     is(http.StatusInternalServerError, "api_error", "Internal server error"),
		limited:      busy,
		limitedFor:   busy.with("Retry-After", "1"),
		limitedDay:   busy.with("Retry-After", "86400"),
		unauthorized: is(http.StatusUnauthorized, "authentication_error", "invalid x-api-key"),
		overflow:     is(http.StatusBadRequest, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
		noModel:      is(http.StatusNotFound, "not_found_error", "model: m-1"),
		badField:     is(http.StatusBadRequest, "invalid_request_error", "top_k: Extra inputs are not permitted"),
	}[p]
}

func (a anthropic) broken(p problem) string {
	if p == overloaded {
		return a.event("error", a.fault("overloaded_error", "Overloaded"))
	}
	return a.event("error", a.fault("api_error", "Internal server error"))
}

func (a anthropic) idle() string    { return a.event("ping", "") }
func (a anthropic) foreign() string { return a.event("content_block_progress", `"index":0`) }

func (a anthropic) huge(n int, lines bool) string {
	return tall(a.event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"`+strings.Repeat("a", n)+`"}`), lines)
}

func (anthropic) read(r *http.Request, body []byte) request {
	in := decode(body)
	return request{stream: in.Stream != nil && *in.Stream, model: in.Model, key: r.Header.Get("X-Api-Key")}
}
