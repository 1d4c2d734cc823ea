package failure_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// The classes are those that abi.md and the conformance suite name (REL-7).
func TestByStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int64]abi.FailureClass{
		0: "", 200: "", 302: "", 600: "",
		400: abi.FailureInvalidRequest, 404: abi.FailureInvalidRequest, 422: abi.FailureInvalidRequest,
		401: abi.FailureAuth, 403: abi.FailureAuth, 402: abi.FailureQuota,
		408: abi.FailureTimeout, 504: abi.FailureTimeout,
		409: abi.FailureServer, 425: abi.FailureServer, 500: abi.FailureServer, 502: abi.FailureServer, 599: abi.FailureServer,
		413: abi.FailureContextOverflow, 429: abi.FailureRateLimited,
		503: abi.FailureOverloaded, 529: abi.FailureOverloaded,
	} {
		if got := failure.ByStatus(status); got != want {
			t.Errorf("ByStatus(%d) = %q, want %q", status, got, want)
		}
	}
}

func TestUnexpectedBody(t *testing.T) {
	t.Parallel()
	html := []abi.Header{{Name: "content-type", Value: "text/html; charset=utf-8"}}
	for _, c := range []struct {
		r    abi.HTTPResponse
		want string
	}{
		{abi.HTTPResponse{Status: 500, Body: " \n"}, "HTTP 500 with an empty body"},
		{abi.HTTPResponse{Status: 502, Body: "\n<html>"}, "HTTP 502 with a web page in place of an answer"},
		{abi.HTTPResponse{Status: 502, Headers: html, Body: "Bad gateway"}, "HTTP 502 with a web page in place of an answer"},
		{abi.HTTPResponse{Status: 200, Body: "{}"}, "HTTP 200 with JSON that is neither an answer nor an error: {}"},
		{abi.HTTPResponse{Status: 404, Body: "not here"}, "HTTP 404 with a body that is not JSON: not here"},
	} {
		if got := failure.UnexpectedBody(&c.r); got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	if got := failure.Quote("short"); got != "short" {
		t.Errorf("a short text became %q", got)
	}
	got := failure.Quote("x" + strings.Repeat("ö", failure.MaxQuote))
	if !utf8.ValidString(got) || !strings.HasSuffix(got, "ö…") || len(got) > failure.MaxQuote+len("…") {
		t.Errorf("a long text became %q", got)
	}
}

func TestVersioned(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"http://x/v1": true, "http://x/v1beta/models": true, "http://x": false, "http://v.x/very": false,
	} {
		if got := failure.Versioned(url); got != want {
			t.Errorf("Versioned(%q) = %t", url, got)
		}
	}
}
