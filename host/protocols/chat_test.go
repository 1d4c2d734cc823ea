package protocols

import (
	"fmt"
	"net/http"
	"strings"
)

// chat is OpenAI's chat completions, as OpenAI, its compatible servers and
// OpenRouter (keep-alives, errors in a stream, reasoning) document them.
// https://platform.openai.com/docs/api-reference/chat-streaming
// https://openrouter.ai/docs/api/reference/errors-and-debugging
type chat struct{}

func (chat) plugin() string { return "openai-chat" }
func (chat) suffix() string { return "/v1" }

func (chat) reason(f finish) string {
	return map[finish]string{stop: "stop", calls: "tool_calls", length: "length", filter: "content_filter", refusal: "refusal", odd: "eos"}[f]
}

func (chat) chunk(delta, finish string) string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1741569952,"model":"m-1","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + "}]}\n\n"
}

func (c chat) streamed(r reply) frames {
	f := frames{head: c.chunk(`{"role":"assistant","content":""}`, "null"), signal: "data: [DONE]\n\n"}
	n := 0
	for _, p := range r.pieces {
		switch p.kind {
		case text:
			for _, d := range p.deltas() {
				f.body = append(f.body, c.chunk(`{"content":`+quote(d)+`}`, "null"))
			}
		case thinking:
			for _, d := range p.deltas() {
				f.body = append(f.body, c.chunk(`{"reasoning_content":`+quote(d)+`}`, "null"))
			}
		case call:
			f.body = append(f.body,
				c.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, n, quote(p.id), quote(p.name)), "null"))
			for _, half := range halves(p.args) {
				f.body = append(f.body, c.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, n, quote(half)), "null"))
			}
			n++
		case secret, server:
		}
	}
	f.finish = c.chunk("{}", quote(c.reason(r.finish))) +
		fmt.Sprintf(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1741569952,"model":"m-1","choices":[],"usage":%s}`+"\n\n", c.usage(r))
	return f
}

func (chat) usage(r reply) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, r.in, r.out, r.in+r.out)
}

// halves cuts s in two.
func halves(s string) []string { return []string{s[:len(s)/2], s[len(s)/2:]} }

func (c chat) whole(r reply) string {
	message := []string{`"role":"assistant"`}
	var content, tools []string
	for _, p := range r.pieces {
		switch p.kind {
		case text:
			content = append(content, p.joined())
		case thinking:
			message = append(message, `"reasoning_content":`+quote(p.joined()))
		case call:
			tools = append(tools, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(p.id), quote(p.name), quote(p.args)))
		case secret, server:
		}
	}
	message = append(message, `"content":`+quote(strings.Join(content, "")))
	if tools != nil {
		message = append(message, `"tool_calls":[`+strings.Join(tools, ",")+`]`)
	}
	return fmt.Sprintf(`{"id":"chatcmpl-2","object":"chat.completion","created":1741569952,"model":"m-1","choices":[{"index":0,"message":{%s},"finish_reason":%s}],"usage":%s}`,
		strings.Join(message, ","), quote(c.reason(r.finish)), c.usage(r))
}

func (chat) problem(p problem) script {
	body := func(typ, code, message string) string {
		return fmt.Sprintf(`{"error":{"message":%s,"type":%s,"param":null,"code":%s}}`, quote(message), quote(typ), code)
	}
	busy := jsonScript(http.StatusTooManyRequests, body("requests", `"rate_limit_exceeded"`, "Rate limit reached"))
	return map[problem]script{
		overloaded:   jsonScript(http.StatusServiceUnavailable, body("service_unavailable", "null", "The engine is currently overloaded, please try again later")),
		internal:     jsonScript(http.StatusInternalServerError, body("server_error", "null", "The server had an error while processing your request")),
		limited:      busy,
		limitedFor:   busy.with("Retry-After", "1"),
		limitedDay:   busy.with("Retry-After", "86400"),
		unauthorized: jsonScript(http.StatusUnauthorized, body("invalid_request_error", `"invalid_api_key"`, "Incorrect API key provided")),
		overflow:     jsonScript(http.StatusBadRequest, body("invalid_request_error", `"context_length_exceeded"`, "This model's maximum context length is 128000 tokens")),
		noModel:      jsonScript(http.StatusNotFound, body("invalid_request_error", `"model_not_found"`, "The model does not exist")),
		badField:     jsonScript(http.StatusBadRequest, body("invalid_request_error", "null", "Unknown parameter")),
	}[p]
}

func (chat) broken(p problem) string {
	code := "502"
	if p == overloaded {
		code = "503"
	}
	return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1741569952,"model":"m-1","error":{"code":` + code + `,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n"
}

func (chat) idle() string { return ": OPENROUTER PROCESSING\n\n" }

func (chat) foreign() string {
	return `data: {"id":"chatcmpl-1","object":"chat.completion.progress","progress":0.5}` + "\n\n"
}

func (c chat) huge(n int, lines bool) string {
	return tall(c.chunk(`{"content":"`+strings.Repeat("a", n)+`"}`, "null"), lines)
}

// tall spreads the data of one frame over lines of at most half a MiB, if it
// is to have lines. Each line end within the data counts as one byte.
func tall(frame string, lines bool) string {
	if !lines {
		return frame
	}
	name, data, _ := strings.Cut(frame, "data: ")
	var b strings.Builder
	b.WriteString(name)
	for len(data) > 1<<19 {
		b.WriteString("data: " + data[:1<<19] + "\n")
		data = data[1<<19:]
	}
	return b.String() + "data: " + data
}

func (chat) read(r *http.Request, body []byte) request {
	in := decode(body)
	return request{stream: in.Stream != nil && *in.Stream, model: in.Model, key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
}
