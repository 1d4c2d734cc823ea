package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
	"github.com/zchost/zchost/sdk/provider/openai"
)

// acme is a vendor with a member and two words of its own.
func acme() openai.Dialect {
	return openai.Dialect{
		Member: func(e *openai.Error, key string, s *jsonscan.Scanner) bool {
			if key != "wait_ms" {
				return false
			}
			e.RetryMS, _ = lenient.Int(s)
			return true
		},
		Sure: func(word string, _ int64) abi.FailureClass {
			if word == "broke" {
				return abi.FailureQuota
			}
			return ""
		},
		Vague: func(word string) abi.FailureClass {
			if word == "odd" {
				return abi.FailureInvalidRequest
			}
			return ""
		},
	}
}

func TestResponse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		r    abi.HTTPResponse
		want abi.Failure
	}{
		{"the usual form", abi.HTTPResponse{Status: 429, Body: `{"error":{"message":"slow","type":"t","code":"insufficient_quota"}}`},
			abi.Failure{Class: abi.FailureQuota, Message: "slow", Code: "insufficient_quota", Status: 429}},
		{"a text", abi.HTTPResponse{Status: 500, Body: `{"error":"oh"}`}, abi.Failure{Class: abi.FailureServer, Message: "oh", Status: 500}},
		{"an array", abi.HTTPResponse{Status: 401, Body: `[{"error":{"message":"no"}}]`}, abi.Failure{Class: abi.FailureAuth, Message: "no", Status: 401}},
		{"own words", abi.HTTPResponse{Status: 400, Body: `{"error":{"message":"pay","code":"broke","wait_ms":7}}`},
			abi.Failure{Class: abi.FailureQuota, Message: "pay", Code: "broke", Status: 400, RetryAfterMS: 7}},
		{"a vague word behind a status", abi.HTTPResponse{Status: 503, Body: `{"error":{"message":"m","code":"odd"}}`},
			abi.Failure{Class: abi.FailureOverloaded, Message: "m", Code: "odd", Status: 503}},
		{"an unknown model", abi.HTTPResponse{Status: 404, Body: `{"error":{"message":"m","param":"model"}}`},
			abi.Failure{Class: abi.FailureModelNotFound, Message: "m (check it)", Status: 404}},
		{"no error", abi.HTTPResponse{Status: 502, Body: `<html>`},
			abi.Failure{Class: abi.FailureServer, Message: "HTTP 502 with a web page in place of an answer (check it)", Status: 502}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := acme()
			if diff := cmp.Diff(c.want, d.Response(c.r, "check it")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// An error in a stream has no status but its own number, or none at all.
func TestFailureInAStream(t *testing.T) {
	t.Parallel()
	var plain openai.Dialect
	for body, want := range map[string]abi.Failure{
		`{"error":{"message":"m","code":429}}`:             {Class: abi.FailureRateLimited, Message: "m", Code: "429", Status: 429},
		`{"error":{"message":"m"}}`:                        {Class: abi.FailureServer, Message: "m"},
		`{"message":"m","type":"invalid_request_error"}`:   {Class: abi.FailureInvalidRequest, Message: "m", Code: "invalid_request_error"},
		`{"error":{"message":"m","metadata":{"raw":"r"}}}`: {Class: abi.FailureServer, Message: "m: r"},
	} {
		e, ok := plain.Read([]byte(body))
		if diff := cmp.Diff(want, plain.Failure(&e, 0)); diff != "" || !ok {
			t.Errorf("%s: %t, -want +got:\n%s", body, ok, diff)
		}
	}
	if _, ok := plain.Read([]byte(`{"error":{}}`)); ok {
		t.Error("an empty error told something")
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	got, err := openai.Models(abi.HTTPResponse{Body: `{"data":[{"id":"a","context_window":8},{"id":"b","top_provider":{"max_completion_tokens":4}}]}`})
	if diff := cmp.Diff([]abi.Model{{ID: "a", Context: 8}, {ID: "b", Output: 4}}, got.Models); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}

// Nothing from outside makes it panic, and every failure has a class.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"error":{"message":"m","code":1e999}}`, `[[["x"]]]`, `{"error":`, strings.Repeat(`{"error":`, 50)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		d := acme()
		if d.Response(abi.HTTPResponse{Status: 500, Body: body}, "check it").Class == "" {
			t.Errorf("no class for %q", body)
		}
	})
}
