package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

const chatURL = "https://api.example.com/v1/responses"

// TestErrorClass holds the table of classes (REL-7, C018, C056, C128) with the
// bodies of the servers that are known to send them.
func TestErrorClass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int64
		body   string
		want   abi.FailureClass
	}{
		"C128 wrong key":                   {401, `{"error":{"code":"invalid_api_key","type":"invalid_request_error"}}`, abi.FailureAuth},
		"C128 401 that says nothing":       {401, ``, abi.FailureAuth},
		"C128 region":                      {403, `{"error":{"code":"unsupported_country_region_territory","message":"no"}}`, abi.FailureAuth},
		"C128 402":                         {402, `{"error":{"code":402,"message":"credits"}}`, abi.FailureQuota},
		"C128 quota with 429":              {429, `{"error":{"code":"insufficient_quota","type":"insufficient_quota"}}`, abi.FailureQuota},
		"C128 quota by type alone":         {429, `{"error":{"code":null,"type":"insufficient_quota"}}`, abi.FailureQuota},
		"C128 rate limit with 429":         {429, `{"error":{"code":"rate_limit_exceeded"}}`, abi.FailureRateLimited},
		"C128 429 that says nothing":       {429, `Too Many Requests`, abi.FailureRateLimited},
		"C128 unknown model":               {404, `{"error":{"code":"model_not_found","message":"m"}}`, abi.FailureModelNotFound},
		"unknown model, Ollama":            {404, `{"error":{"message":"model not found","type":"not_found_error","code":null}}`, abi.FailureModelNotFound},
		"unknown model, vLLM":              {404, `{"object":"error","message":"no","type":"NotFoundError","code":404}`, abi.FailureModelNotFound},
		"unknown model, Azure":             {404, `{"error":{"code":"DeploymentNotFound","message":"no"}}`, abi.FailureModelNotFound},
		"unknown model, Mistral":           {400, `{"object":"error","message":"Invalid model: m","type":"invalid_model","code":"1500"}`, abi.FailureModelNotFound},
		"unknown model, param":             {404, `{"error":{"message":"no","param":"model"}}`, abi.FailureModelNotFound},
		"unknown route":                    {404, `{"detail":"Not Found"}`, abi.FailureInvalidRequest},
		"unknown route, text":              {404, `404 page not found`, abi.FailureInvalidRequest},
		"C056 context":                     {400, `{"error":{"code":"context_length_exceeded","message":"m"}}`, abi.FailureContextOverflow},
		"C056 context, llama.cpp":          {400, `{"error":{"code":400,"message":"m","type":"exceed_context_size_error","n_prompt_tokens":14,"n_ctx":8}}`, abi.FailureContextOverflow},
		"C056 context, llama.cpp with 500": {500, `{"error":{"code":500,"type":"exceed_context_size_error"}}`, abi.FailureContextOverflow},
		"C056 413":                         {413, ``, abi.FailureContextOverflow},
		"C056 413, Groq":                   {413, `{"error":{"type":"tokens","code":"rate_limit_exceeded"}}`, abi.FailureContextOverflow},
		"filter, Azure":                    {400, `{"error":{"code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, abi.FailureContentFiltered},
		"filter, Azure's inner code":       {400, `{"error":{"code":"BadRequest","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, abi.FailureContentFiltered},
		"filter, OpenRouter":               {403, `{"error":{"code":403,"message":"flagged","metadata":{"reasons":["violence"]}}}`, abi.FailureContentFiltered},
		"400":                              {400, `{"error":{"message":"context_length_exceeded 429 quota","type":"invalid_request_error"}}`, abi.FailureInvalidRequest},
		"405":                              {405, ``, abi.FailureInvalidRequest},
		"408":                              {408, ``, abi.FailureTimeout},
		"409":                              {409, ``, abi.FailureServer},
		"422":                              {422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, abi.FailureInvalidRequest},
		"425":                              {425, ``, abi.FailureServer},
		"500":                              {500, `{"error":{"type":"server_error"}}`, abi.FailureServer},
		"500, overloaded by type":          {500, `{"error":{"type":"overloaded_error"}}`, abi.FailureOverloaded},
		"200, overloaded by code":          {200, `{"error":{"code":"server_is_overloaded","message":"m"}}`, abi.FailureOverloaded},
		"502 page":                         {502, `<html>Bad Gateway</html>`, abi.FailureServer},
		"503":                              {503, ``, abi.FailureOverloaded},
		"504":                              {504, ``, abi.FailureServer},
		"529":                              {529, ``, abi.FailureOverloaded},
		"429, overloaded, Moonshot":        {429, `{"error":{"type":"engine_overloaded_error"}}`, abi.FailureOverloaded},
		"200, the body's number":           {200, `{"error":{"code":502,"message":"m"}}`, abi.FailureServer},
		"200, the body's number, 400":      {200, `{"error":{"code":400,"message":"m"}}`, abi.FailureInvalidRequest},
		"200, only a string":               {200, `{"error":"no such route"}`, abi.FailureServer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := responses{}.Error(abi.HTTPResponse{Status: c.status, Body: c.body, URL: chatURL})
			if f.Class != c.want {
				t.Errorf("class = %s, want %s (%s)", f.Class, c.want, f.Message)
			}
			if f.Status != c.status {
				t.Errorf("status = %d, want %d", f.Status, c.status)
			}
			if f.Message == "" {
				t.Error("no message")
			}
		})
	}
}

// TestErrorMessage checks what the operator gets to read.
func TestErrorMessage(t *testing.T) {
	t.Parallel()
	const noVersion = "http://localhost:1234/responses"
	for name, c := range map[string]struct {
		in   abi.HTTPResponse
		want []string
	}{
		"C014 empty body": {abi.HTTPResponse{Status: 200, URL: chatURL}, []string{"empty body", chatURL}},
		"C020 error string": {
			abi.HTTPResponse{Status: 200, URL: noVersion, Body: `{"error":"no such route"}`},
			[]string{"no such route", noVersion, "http://localhost:1234/v1"},
		},
		"STR-4 page": {abi.HTTPResponse{Status: 200, URL: noVersion, Body: "\n<!doctype html>"}, []string{"web page", noVersion, "/v1"}},
		"STR-4 JSON that is nothing": {
			abi.HTTPResponse{Status: 200, URL: chatURL, Body: `{"ok":true}`}, []string{"neither", `{"ok":true}`, chatURL},
		},
		"C010 not JSON":         {abi.HTTPResponse{Status: 200, URL: chatURL, Body: "\x1f\uFFFD"}, []string{"not JSON", chatURL}},
		"404 without a version": {abi.HTTPResponse{Status: 404, URL: noVersion, Body: "404 page not found"}, []string{noVersion, "/v1"}},
		"404 of an API":         {abi.HTTPResponse{Status: 404, URL: chatURL, Body: `{"error":{"message":"Invalid URL"}}`}, []string{"Invalid URL", chatURL}},
		"the upstream's words": {
			abi.HTTPResponse{Status: 502, Body: `{"error":{"metadata":{"raw":"no GPU"},"message":"Provider returned error","code":502}}`},
			[]string{"Provider returned error", "no GPU"},
		},
		"FastAPI":     {abi.HTTPResponse{Status: 422, Body: `{"detail":[{"msg":"field required"}]}`}, []string{"field required"}},
		"only a code": {abi.HTTPResponse{Status: 400, Body: `{"error":{"code":"weird"}}`}, []string{"weird"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := responses{}.Error(c.in)
			for _, want := range c.want {
				if !strings.Contains(f.Message, want) {
					t.Errorf("message %q does not hold %q", f.Message, want)
				}
			}
		})
	}
}

func TestErrorMessageIsBounded(t *testing.T) {
	t.Parallel()
	f := responses{}.Error(abi.HTTPResponse{Status: 500, Body: strings.Repeat("漢", 1<<20)})
	if len(f.Message) > 2*failure.MaxQuote {
		t.Errorf("message has %d bytes", len(f.Message))
	}
}

func TestErrorSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   abi.HTTPResponse
		want int64
	}{
		"retry-after-ms": {abi.HTTPResponse{Status: 429, Headers: []abi.Header{{Name: "retry-after-ms", Value: "1500"}}}, 1500},
		"junk":           {abi.HTTPResponse{Status: 429, Headers: []abi.Header{{Name: "retry-after-ms", Value: "soon"}}}, 0},
		"negative":       {abi.HTTPResponse{Status: 429, Headers: []abi.Header{{Name: "retry-after-ms", Value: "-5"}}}, 0},
		"endless":        {abi.HTTPResponse{Status: 429, Headers: []abi.Header{{Name: "retry-after-ms", Value: "1e300"}}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (responses{}).Error(c.in).RetryAfterMS; got != c.want {
				t.Errorf("retry_after_ms = %d, want %d", got, c.want)
			}
		})
	}
}

// TestResponses reads whole answers, and bodies that are none.
func TestResponses(t *testing.T) {
	t.Parallel()
	whole := func(members string) string { return `{"object":"response","id":"r1","model":"m",` + members + `}` }
	const counted = `"usage":{"input_tokens":3,"output_tokens":2}`
	for name, c := range map[string]struct{ body, want string }{
		"answer": {
			whole(`"status":"completed","error":null,` + counted + `,"output":[` + reasoning + `,` + search + `,` + msg + `]`),
			lines(meta, `reasoning 0 "I think." opaque `+reasoning, `tool ws_1 web_search "weather" `+search, `text 2 "Hello"`, usage, stop, "done"),
		},
		"calls": {
			whole(`"status":"completed","output":[` + fcall("fc_0", "a", "f", `{"x":1}`) + `,` + fcall("fc_0", "a", "g", "") + `]`),
			lines(meta, `call 0 id=a name=f {"x":1}`, "call 1 id=a name=g ", calls, "done"),
		},
		"refusal": {
			whole(`"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]`),
			lines(meta, `text 0 "no"`, "finish refusal (completed)", "done"),
		},
		"C044 incomplete":           {whole(`"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[],` + counted), lines(meta, usage, "finish length (max_output_tokens)", "done")},
		"C152 incomplete, a call":   {whole(`"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[` + fcall("", "c1", "w", `{"p":"a`) + `]`), lines(meta, `call 0 id=c1 name=w {"p":"a`, "finish length (max_output_tokens)", "done")},
		"C014 no output":            {whole(`"status":"completed","output":[]`), lines(meta, stop, "done")},
		"no status":                 {whole(`"output":[` + msg + `]`), lines(meta, `text 0 "Hello"`, stop, "done")},
		"failed":                    {whole(`"status":"failed","error":{"code":"server_error","message":"BOOM"},"output":[]`), lines(meta, "failure server code=server_error BOOM")},
		"in the background":         {whole(`"status":"queued","output":[]`), lines(meta, "failure server code= the provider ended the response with the status not complete")},
		"C018 error in a 200":       {`{"error":{"code":502,"message":"no"}}`, "failure server code=502 no (from " + chatURL + ": check base_url)"},
		"not JSON":                  {`data: {}`, "failure server code= HTTP 200 with a body that is not JSON: data: {} (from " + chatURL + ": check base_url)"},
		"a chat completion is none": {`{"choices":[{"message":{"content":"Hi"}}]}`, `failure server code= HTTP 200 with JSON that is neither an answer nor an error: {"choices":[{"message":{"content":"Hi"}}]} (from ` + chatURL + ": check base_url)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, err := responses{}.Response(abi.HTTPResponse{Status: 200, Body: c.body, URL: chatURL})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, tell(events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
