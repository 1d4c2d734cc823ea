package protocols

import (
	"fmt"
	"net/http"
	"strings"
)

// responses is OpenAI's Responses API.
// https://platform.openai.com/docs/api-reference/responses-streaming
type responses struct{}

func (responses) plugin() string { return "openai-responses" }
func (responses) suffix() string { return "/v1" }

// event is an event with its type in its JSON too. The sequence numbers of a
// real stream count up; no client may depend on them (C148).
func (responses) event(typ, fields string) string {
	return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\",\"sequence_number\":1," + fields + "}\n\n"
}

// response is the object that the first and the last event hold.
func (responses) response(status, incomplete, fault, output, usage string) string {
	return fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1741569952,"status":%s,"error":%s,"incomplete_details":%s,"instructions":null,"max_output_tokens":null,"model":"m-1","output":[%s],"parallel_tool_calls":true,"previous_response_id":null,"store":false,"temperature":1.0,"tool_choice":"auto","tools":[],"usage":%s}`,
		quote(status), fault, incomplete, output, usage)
}

func (s responses) streamed(r reply) frames {
	f := frames{}
	begun := s.response("in_progress", "null", "null", "", "null")
	f.head = s.event("response.created", `"response":`+begun) + s.event("response.in_progress", `"response":`+begun)
	for i, p := range r.pieces {
		f.body = append(f.body, s.item(i, r, p)...)
	}
	typ := "response.completed"
	if r.finish == length || r.finish == filter {
		typ = "response.incomplete"
	}
	f.signal = s.event(typ, `"response":`+s.last(r))
	return f
}

// item is a piece as the events that stream it.
func (s responses) item(i int, r reply, p piece) []string {
	at := fmt.Sprintf(`"item_id":"item_%d","output_index":%d`, i, i)
	added := func(item string) string {
		return s.event("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item))
	}
	done := s.event("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, s.content(i, r, p)))
	var out []string
	switch p.kind {
	case text:
		kind, delta, part := "output_text", "delta", `{"type":"output_text","annotations":[],"logprobs":[],"text":""}`
		if r.finish == refusal {
			kind, part = "refusal", `{"type":"refusal","refusal":""}`
		}
		begin := added(fmt.Sprintf(`{"id":"item_%d","type":"message","status":"in_progress","role":"assistant","content":[]}`, i)) +
			s.event("response.content_part.added", at+`,"content_index":0,"part":`+part)
		for _, d := range p.deltas() {
			out = append(out, s.event("response."+kind+".delta", at+`,"content_index":0,"`+delta+`":`+quote(d)))
		}
		out[0] = begin + out[0]
		field := map[string]string{"output_text": "text", "refusal": "refusal"}[kind]
		out[len(out)-1] += s.event("response."+kind+".done", at+`,"content_index":0,"`+field+`":`+quote(p.joined())) + done
	case thinking:
		out = []string{added(fmt.Sprintf(`{"id":"item_%d","type":"reasoning","summary":[]}`, i)) +
			s.event("response.reasoning_summary_part.added", at+`,"summary_index":0,"part":{"type":"summary_text","text":""}`)}
		for _, d := range p.deltas() {
			out = append(out, s.event("response.reasoning_summary_text.delta", at+`,"summary_index":0,"delta":`+quote(d)))
		}
		out[len(out)-1] += s.event("response.reasoning_summary_text.done", at+`,"summary_index":0,"text":`+quote(p.joined())) + done
	case call:
		out = []string{added(fmt.Sprintf(`{"id":"item_%d","type":"function_call","status":"in_progress","arguments":"","call_id":%s,"name":%s}`, i, quote(p.id), quote(p.name)))}
		for _, half := range halves(p.args) {
			out = append(out, s.event("response.function_call_arguments.delta", at+`,"delta":`+quote(half)))
		}
		out[len(out)-1] += s.event("response.function_call_arguments.done", at+`,"arguments":`+quote(p.args)) + done
	case secret, server:
		out = []string{added(s.content(i, r, p)) + done}
	}
	return out
}

// content is a piece as a whole output item.
func (responses) content(i int, r reply, p piece) string {
	switch p.kind {
	case text:
		part := `{"type":"output_text","annotations":[],"logprobs":[],"text":` + quote(p.joined()) + `}`
		if r.finish == refusal {
			part = `{"type":"refusal","refusal":` + quote(p.joined()) + `}`
		}
		return fmt.Sprintf(`{"id":"item_%d","type":"message","status":"completed","role":"assistant","content":[%s]}`, i, part)
	case thinking:
		return fmt.Sprintf(`{"id":"item_%d","type":"reasoning","summary":[{"type":"summary_text","text":%s}],"encrypted_content":%s}`, i, quote(p.joined()), quote(p.signature))
	case secret:
		return fmt.Sprintf(`{"id":"item_%d","type":"reasoning","summary":[],"encrypted_content":%s}`, i, quote(p.signature))
	case call:
		return fmt.Sprintf(`{"id":"item_%d","type":"function_call","status":"completed","arguments":%s,"call_id":%s,"name":%s}`, i, quote(p.args), quote(p.id), quote(p.name))
	case server:
		return p.args
	}
	return ""
}

// last is the response when it has ended.
func (s responses) last(r reply) string {
	items := make([]string, len(r.pieces))
	for i, p := range r.pieces {
		items[i] = s.content(i, r, p)
	}
	status, incomplete := "completed", "null"
	switch r.finish {
	case length:
		status, incomplete = "incomplete", `{"reason":"max_output_tokens"}`
	case filter:
		status, incomplete = "incomplete", `{"reason":"content_filter"}`
	case stop, calls, refusal, odd:
	}
	usage := fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":%d}`, r.in, r.out, r.in+r.out)
	return s.response(status, incomplete, "null", strings.Join(items, ","), usage)
}

func (s responses) whole(r reply) string { return s.last(r) }

func (responses) problem(p problem) script { return chat{}.problem(p) }

func (s responses) broken(p problem) string {
	code := "server_error"
	if p == overloaded {
		code = "server_is_overloaded"
	}
	fault := fmt.Sprintf(`{"code":%s,"message":"An error occurred while processing your request."}`, quote(code))
	return s.event("response.failed", `"response":`+s.response("failed", "null", fault, "", "null"))
}

func (s responses) idle() string {
	return "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":3}\n\n"
}
func (s responses) foreign() string { return s.event("response.vendor.progress", `"progress":0.5`) }

func (s responses) huge(n int, lines bool) string {
	return tall(s.event("response.output_text.delta", `"item_id":"item_0","output_index":0,"content_index":0,"delta":"`+strings.Repeat("a", n)+`"`), lines)
}

func (responses) read(r *http.Request, body []byte) request { return chat{}.read(r, body) }
