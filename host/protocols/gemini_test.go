package protocols

import (
	"fmt"
	"net/http"
	"strings"
)

// gemini is Google's generateContent.
// https://ai.google.dev/api/generate-content
// https://ai.google.dev/gemini-api/docs/thought-signatures
// https://google.aip.dev/193 (errors)
type gemini struct{}

func (gemini) plugin() string { return "gemini" }
func (gemini) suffix() string { return "/v1beta" }

func (gemini) reason(f finish) string {
	return map[finish]string{stop: "STOP", calls: "STOP", length: "MAX_TOKENS", filter: "SAFETY", refusal: "PROHIBITED_CONTENT", odd: "VENDOR_REASON"}[f]
}

// answer is a response, or the next part of one, with these parts.
func (gemini) answer(parts, finish, usage string) string {
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[%s],"role":"model"}%s,"index":0}],"usageMetadata":%s,"modelVersion":"m-1","responseId":"resp-1"}`, parts, finish, usage)
}

func (g gemini) chunk(parts, finish, usage string) string {
	return "data: " + g.answer(parts, finish, usage) + "\r\n\r\n"
}

func (g gemini) streamed(r reply) frames {
	early := fmt.Sprintf(`{"promptTokenCount":%d,"totalTokenCount":%d}`, r.in, r.in)
	f := frames{head: g.chunk(`{"text":""}`, "", early)}
	for _, p := range r.pieces {
		deltas := p.deltas()
		for i, d := range deltas {
			part := p
			part.text = d
			if p.kind == thinking && i < len(deltas)-1 {
				part.signature = ""
			}
			f.body = append(f.body, g.chunk(g.part(part), "", early))
		}
	}
	f.finish = g.chunk(`{"text":""}`, `,"finishReason":`+quote(g.reason(r.finish)), g.usage(r))
	return f
}

func (gemini) usage(r reply) string {
	return fmt.Sprintf(`{"promptTokenCount":%d,"candidatesTokenCount":%d,"totalTokenCount":%d}`, r.in, r.out, r.in+r.out)
}

// part is a piece as a Part.
func (gemini) part(p piece) string {
	signature := ""
	if p.signature != "" {
		signature = `,"thoughtSignature":` + quote(p.signature)
	}
	switch p.kind {
	case text:
		return `{"text":` + quote(p.joined()) + signature + `}`
	case thinking:
		return `{"text":` + quote(p.joined()) + `,"thought":true` + signature + `}`
	case secret:
		return `{"text":""` + signature + `}`
	case call:
		return fmt.Sprintf(`{"functionCall":{"name":%s,"args":%s}%s}`, quote(p.name), object(p.args), signature)
	case server:
		return p.args
	}
	return ""
}

func (g gemini) whole(r reply) string {
	parts := make([]string, len(r.pieces))
	for i, p := range r.pieces {
		parts[i] = g.part(p)
	}
	return g.answer(strings.Join(parts, ","), `,"finishReason":`+quote(g.reason(r.finish)), g.usage(r))
}

func (gemini) fault(code int, status, message, details string) string {
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%s%s}}`, code, quote(message), quote(status), details)
}

func (g gemini) problem(p problem) script {
	is := func(code int, status, message, details string) script {
		return jsonScript(code, g.fault(code, status, message, details))
	}
	busy := func(details string) script {
		return is(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "You exceeded your current quota", details)
	}
	wait := func(delay string) string {
		return `,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}]`
	}
	return map[problem]script{
		overloaded: is(http.StatusServiceUnavailable, "UNAVAILABLE", "The model is overloaded. Please try again later.", ""),
		internal:   is(http.StatusInternalServerError, "INTERNAL", "An internal error has occurred", ""),
		limited:    busy(""),
		limitedFor: busy(wait("1s")),
		limitedDay: busy(wait("86400s")),
		unauthorized: is(http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
			`,"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}}]`),
		overflow: is(http.StatusBadRequest, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", ""),
		noModel:  is(http.StatusNotFound, "NOT_FOUND", "models/m-1 is not found for API version v1beta", ""),
		badField: is(http.StatusBadRequest, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name", ""),
	}[p]
}

func (g gemini) broken(p problem) string {
	if p == overloaded {
		return "data: " + g.fault(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", "") + "\r\n\r\n"
	}
	return "data: " + g.fault(500, "INTERNAL", "An internal error has occurred", "") + "\r\n\r\n"
}

func (gemini) idle() string { return ": keep-alive\r\n\r\n" }

func (gemini) foreign() string {
	return `data: {"vendorProgress":0.5,"modelVersion":"m-1","responseId":"resp-1"}` + "\r\n\r\n"
}

func (g gemini) huge(n int, lines bool) string {
	return tall(g.chunk(`{"text":"`+strings.Repeat("a", n)+`"}`, "", "{}"), lines)
}

func (gemini) read(r *http.Request, _ []byte) request {
	_, rest, _ := strings.Cut(r.URL.Path, "/models/")
	model, method, _ := strings.Cut(rest, ":")
	return request{stream: method == "streamGenerateContent" && r.URL.Query().Get("alt") == "sse", model: model, key: r.Header.Get("X-Goog-Api-Key")}
}
