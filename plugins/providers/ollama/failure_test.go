package main

import (
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
)

func response(status int64, body, url string) abi.HTTPResponse {
	return abi.HTTPResponse{Status: status, Body: body, URL: url}
}

// TestErrorClass holds the table of classes (REL-7, C056, C128): the body has no
// field that tells one, so the status decides.
func TestErrorClass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int64
		body   string
		want   abi.FailureClass
	}{
		"unknown model":              {404, `{"error":"model 'm' not found"}`, abi.FailureModelNotFound},
		"unknown path":               {404, `404 page not found`, abi.FailureInvalidRequest},
		"404 page":                   {404, `<html>no</html>`, abi.FailureInvalidRequest},
		"queue is full":              {503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, abi.FailureOverloaded},
		"no tools":                   {400, `{"error":"m does not support tools"}`, abi.FailureInvalidRequest},
		"C056 context":               {400, `{"error":"the input length exceeds the context length"}`, abi.FailureContextOverflow},
		"C056 a text that speaks of": {400, `{"error":"bad option: the input length exceeds the context length"}`, abi.FailureInvalidRequest},
		"C056 413":                   {413, ``, abi.FailureContextOverflow},
		"C128 cloud without a key":   {401, `{"error":"unauthorized","signin_url":"https://ollama.com/connect"}`, abi.FailureAuth},
		"C128 403":                   {403, ``, abi.FailureAuth},
		"C128 402":                   {402, `{"error":"no credit"}`, abi.FailureQuota},
		"cloud's limit":              {429, `{"error":"you have reached your hourly usage limit"}`, abi.FailureRateLimited},
		"runner is gone":             {500, `{"error":"model runner has unexpectedly stopped"}`, abi.FailureServer},
		"cloud cannot be reached":    {502, `{"error":"bad gateway"}`, abi.FailureServer},
		"C018 200 with a number":     {200, `{"error":"slow","status":429}`, abi.FailureRateLimited},
		"C018 status before number":  {500, `{"error":"slow","status":429}`, abi.FailureServer},
		"200 with an error":          {200, `{"error":"no such route"}`, abi.FailureServer},
		"a number that is no status": {200, `{"error":"x","code":7}`, abi.FailureServer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := chat{}.Error(response(c.status, c.body, "http://localhost:11434/api/chat"))
			if f.Class != c.want || f.Status != c.status || f.Message == "" {
				t.Errorf("failure = %+v, want %s", f, c.want)
			}
		})
	}
}

// TestErrorMessage checks what the operator gets to read.
func TestErrorMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   abi.HTTPResponse
		want string
	}{
		"model":          {response(404, `{"error":"model 'm' not found"}`, "http://h/api/chat"), "model 'm' not found (from http://h/api/chat: check base_url)"},
		"C020 /v1":       {response(404, `404 page not found`, "http://h/v1/api/chat"), "HTTP 404 with a body that is not JSON: 404 page not found (from http://h/v1/api/chat: base_url is without /v1 here: try http://h)"},
		"page":           {response(502, `<html>x</html>`, "http://h/api/chat"), "HTTP 502 with a web page in place of an answer (from http://h/api/chat: check base_url)"},
		"other JSON":     {response(500, `{"x":1}`, "http://h/api/chat"), `HTTP 500 with JSON that is neither an answer nor an error: {"x":1} (from http://h/api/chat: check base_url)`},
		"only the words": {response(500, `{"error":"out of memory"}`, "http://h/api/chat"), "out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (chat{}).Error(c.in).Message; got != c.want {
				t.Errorf("message = %s\nwant %s", got, c.want)
			}
		})
	}
	long := chat{}.Error(response(500, strings.Repeat("漢", 1000), ""))
	if len(long.Message) > 400 {
		t.Errorf("the message has %d bytes", len(long.Message))
	}
}
