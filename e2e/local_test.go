//go:build e2e

package e2e

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zchost/zchost/abi"
)

// The dialects of servers that people run themselves, as their code and their
// issue trackers show them. `|` is a flush.
const (
	llamaHead  = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1750271648,"id":"chatcmpl-PZ5Z","model":"local","system_fingerprint":"b5966-a414","object":"chat.completion.chunk"}` + "\n\n|"
	llamaText  = `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Hel"}}],"created":1750271648,"id":"chatcmpl-PZ5Z","model":"local","object":"chat.completion.chunk"}` + "\n\n|" + `data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"lo"}}],"created":1750271648,"id":"chatcmpl-PZ5Z","model":"local","object":"chat.completion.chunk"}` + "\n\n|"
	llamaEnd   = `data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"created":1750271648,"id":"chatcmpl-PZ5Z","model":"local","object":"chat.completion.chunk"}` + "\n\n|"
	llamaUsage = `data: {"choices":[],"created":1750271648,"id":"chatcmpl-PZ5Z","model":"local","object":"chat.completion.chunk","usage":{"completion_tokens":2,"prompt_tokens":21,"total_tokens":23},"timings":{"prompt_n":21,"predicted_n":2,"predicted_per_second":46.2}}` + "\n\n|"
	done       = "data: [DONE]\n\n"

	ollamaText  = `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1734567890,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}` + "\n\n|" + `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1734567890,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"lo"},"finish_reason":null}]}` + "\n\n|"
	ollamaThink = `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1734567890,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"a greeting"},"finish_reason":null}]}` + "\n\n|"
	ollamaEnd   = `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1734567890,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}` + "\n\n|" + `data: {"id":"chatcmpl-123","object":"chat.completion.chunk","created":1734567890,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[],"usage":{"prompt_tokens":26,"completion_tokens":3,"total_tokens":29}}` + "\n\n|"
)

// local is a server that answers every request in the same way.
type local struct {
	status      int
	contentType string
	body        string
	gzip        bool
	cut         bool // breaks the connection after the body
	requests    atomic.Int64
	auth        atomic.Value // the Authorization of the last request
}

func (l *local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.requests.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	l.auth.Store(r.Header.Get("Authorization"))
	contentType := l.contentType
	if contentType == "" {
		contentType = "text/event-stream"
	}
	w.Header().Set("Content-Type", contentType)
	var out io.Writer = w
	flush := func() { _ = http.NewResponseController(w).Flush() }
	if l.gzip {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		defer func() {
			if !l.cut {
				_ = zip.Close()
			}
		}()
		out, flush = zip, func() { _ = zip.Flush(); _ = http.NewResponseController(w).Flush() }
	}
	if l.status != 0 {
		w.WriteHeader(l.status)
	}
	for piece := range strings.SplitSeq(l.body, "|") {
		_, _ = io.WriteString(out, piece)
		flush()
	}
	if l.cut {
		panic(http.ErrAbortHandler)
	}
}

// start serves l and returns a host that asks it.
func (l *local) start(t *testing.T, more ...string) *host {
	t.Helper()
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	return newHost(t, s.URL+"/v1", []string{"local"}, more...)
}

func TestLocalDialectsAnswer(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*local{
		"llama.cpp":                         {body: llamaHead + llamaText + llamaEnd + llamaUsage + done},
		"llama.cpp, no usage":               {body: llamaHead + llamaText + llamaEnd + done},
		"done without a blank line":         {body: llamaHead + llamaText + llamaEnd + "data: [DONE]"},
		"finish, then the end (STR-1)":      {body: llamaHead + llamaText + llamaEnd},
		"Ollama":                            {body: ollamaText + ollamaEnd + done},
		"Ollama, thinking":                  {body: ollamaThink + ollamaText + ollamaEnd + done},
		"comments as heartbeat":             {body: ": OPENROUTER PROCESSING\n\n|" + llamaText + ": ping\n\n|" + llamaEnd + done},
		"empty data as heartbeat (C006)":    {body: "data:\n\n|" + llamaText + "data: \n\n|" + llamaEnd + done},
		"CRLF (C002)":                       {body: strings.ReplaceAll(llamaHead+llamaText+llamaEnd+done, "\n", "\r\n")},
		"CR (C002)":                         {body: strings.ReplaceAll(llamaHead+llamaText+llamaEnd+done, "\n", "\r")},
		"BOM (C004)":                        {body: "\xEF\xBB\xBF" + llamaText + llamaEnd + done},
		"gzip (C010)":                       {body: llamaText + llamaEnd + done, gzip: true},
		"text/plain as content type":        {body: llamaText + llamaEnd + done, contentType: "text/plain; charset=utf-8"},
		"vendor events between (C148)":      {body: llamaText + "event: vendor.progress\ndata: {\"tool\":\"x\"}\n\n|" + llamaEnd + done},
		"JSON where a stream was asked for": {contentType: "application/json", body: `{"id":"x","object":"chat.completion","model":"local","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.start(t).send(t, "hi").want(t, 0, "complete", "Hello", "")
			if n := l.requests.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
			if l.auth.Load() != "Bearer "+key {
				t.Error("the request does not hold the key")
			}
		})
	}
}

// C036: a server that counts up gives one row with its last numbers.
func TestLocalUsageCountsUp(t *testing.T) {
	t.Parallel()
	count := func(n string) string {
		return `data: {"id":"r1","choices":[],"usage":{"prompt_tokens":31,"completion_tokens":` + n + `,"total_tokens":0}}` + "\n\n|"
	}
	l := &local{body: llamaText + count("20") + count("45") + llamaEnd + count("90") + count("90") + done}
	a := l.start(t).send(t, "hi")
	a.want(t, 0, "complete", "Hello", "")
	if u := a.summary.Usage; u.Input == nil || *u.Input != 31 || u.Output == nil || *u.Output != 90 {
		t.Errorf("usage %+v, want 31 in and 90 out", u)
	}
}

func TestLocalDialectsFail(t *testing.T) {
	t.Parallel()
	overflow := `{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":4100,"n_ctx":4096}`
	for name, c := range map[string]struct {
		local *local
		class abi.FailureClass // "" for any
		says  string
	}{
		"loading":                         {&local{status: 503, contentType: "application/json", body: `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`}, abi.FailureOverloaded, "Loading model"},
		"context overflow":                {&local{status: 400, contentType: "application/json", body: `{"error":` + overflow + `}`}, abi.FailureContextOverflow, "context size"},
		"unknown model (Ollama)":          {&local{status: 404, contentType: "application/json", body: `{"error":{"message":"model \"local\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`}, "", "not found"},
		"wrong path, 200 (C020)":          {&local{contentType: "application/json", body: `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`}, "", "Unexpected endpoint"},
		"wrong path, a page (C020)":       {&local{contentType: "text/html", body: "<!doctype html><title>Open WebUI</title>"}, "", "/v1"},
		"error in the stream (C018)":      {&local{body: llamaHead + `data: {"error":{"code":500,"message":"no free slot","type":"server_error"}}` + "\n\n" + done}, abi.FailureServer, "no free slot"},
		"error as a string (C018)":        {&local{body: `data: {"error":"BOOM"}` + "\n\n"}, "", "BOOM"},
		"error by its name (C018)":        {&local{body: "event: error\ndata: {\"message\":\"BOOM\"}\n\n"}, "", "BOOM"},
		"error as a field of its own":     {&local{body: "error: " + overflow + "\n\n" + done}, "", "context size"},
		"error without framing":           {&local{body: `{"error":` + overflow + `}`}, "", "context size"},
		"nothing at all (C014)":           {&local{body: ""}, "", "empty"},
		"finish and no text (REL-5)":      {&local{body: llamaHead + llamaEnd + done}, "", ""},
		"gzip without its header (C010)":  {&local{body: "\x1f\x8b\x08\x00\x00\x00\x00\x00"}, "", "compressed"},
		"cut before any text (REL-3)":     {&local{body: llamaHead, cut: true}, "", ""},
		"end before any text":             {&local{body: llamaHead}, "", ""},
		"not JSON in a data line (STR-4)": {&local{body: "data: oops\n\n" + done}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.local.start(t, "provider_retries = 0").send(t, "hi")
			a.want(t, 2, "failed", "", "turn-failed")
			if c.class != "" {
				a.wantClass(t, c.class)
			}
			if c.says != "" {
				a.wantSaid(t, c.says)
			}
		})
	}
}

// REL-4, C016: what was shown stays, and nobody is asked again.
func TestLocalDialectsBreakOff(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*local{
		"cut":                     {body: llamaHead + llamaText, cut: true},
		"clean end, no finish":    {body: llamaHead + llamaText},
		"error in the stream":     {body: llamaText + `data: {"error":{"code":500,"message":"no free slot"}}` + "\n\n" + done},
		"error as a field, done":  {body: llamaText + `error: {"code":500,"message":"no free slot","type":"server_error"}` + "\n\n" + done},
		"half a finish (C012)":    {body: llamaText + `data: {"choices":[{"index":0,"delta":{},"finish_re`},
		"half a character (C008)": {body: llamaText + "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xE6"},
		"gzip, cut in a block":    {body: llamaText, gzip: true, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.start(t).send(t, "hi").want(t, 3, "interrupted", "Hello", "turn-stream-interrupted")
			if n := l.requests.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// A server at home wants no key.
func TestLocalWithoutKey(t *testing.T) {
	t.Parallel()
	l := &local{body: ollamaText + ollamaEnd + done}
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	h := newHost(t, s.URL+"/v1", []string{"local"}, "api_keys = []")
	h.send(t, "hi").want(t, 0, "complete", "Hello", "")
	if l.auth.Load() != "" {
		t.Errorf("the request has the authorization %v", l.auth.Load())
	}
}
