package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

const chatURL = "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent"

const (
	wrongKey = `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"x"}}]}}`
	dayQuota = `{"error":{"code":429,"message":"You exceeded your quota.","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"20"}]},` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37s"}]}}`
	minuteQuota = `{"error":{"code":429,"message":"You exceeded your quota.","status":"RESOURCE_EXHAUSTED","details":[` +
		`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"10"}]},` +
		`{"@type":"type.googleapis.com/google.rpc.Help","links":[{"url":"x"}]},` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074824224s"}]}}`
	noQuota = `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateContentInputTokensPerModelPerMinute","quotaValue":"0"}]}]}}`
)

// TestErrorClass holds the table of classes (REL-7, C018, C056, C128).
func TestErrorClass(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int64
		body   string
		want   abi.FailureClass
	}{
		"C128 wrong key, which is a 400":         {400, wrongKey, abi.FailureAuth},
		"C128 wrong key, in an array":            {400, "[" + wrongKey + "]", abi.FailureAuth},
		"C128 no key":                            {403, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"unregistered callers"}}`, abi.FailureAuth},
		"C128 401":                               {401, `{"error":{"code":401,"status":"UNAUTHENTICATED"}}`, abi.FailureAuth},
		"C128 401 that says nothing":             {401, ``, abi.FailureAuth},
		"C128 region":                            {400, `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"User location is not supported"}}`, abi.FailureInvalidRequest},
		"C128 quota of the day with 429":         {429, dayQuota, abi.FailureQuota},
		"C128 quota of nothing with 429":         {429, noQuota, abi.FailureQuota},
		"C128 billing":                           {403, `{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}`, abi.FailureQuota},
		"C128 quota of the minute with 429":      {429, minuteQuota, abi.FailureRateLimited},
		"C128 429 that says nothing":             {429, `Too Many Requests`, abi.FailureRateLimited},
		"C128 unknown model":                     {404, `{"error":{"code":404,"status":"NOT_FOUND","message":"models/x is not found"}}`, abi.FailureModelNotFound},
		"unknown route":                          {404, `<html>404</html>`, abi.FailureInvalidRequest},
		"C056 413":                               {413, ``, abi.FailureContextOverflow},
		"C056":                                   {400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}`, abi.FailureContextOverflow},
		"C056 a word in the message is no class": {400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Unknown name: The input token count (9) exceeds the maximum number of tokens allowed (8)."}}`, abi.FailureInvalidRequest},
		"C050 a missing signature":               {400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"Function call is missing a thought_signature"}}`, abi.FailureInvalidRequest},
		"408":                                    {408, ``, abi.FailureTimeout},
		"499, aborted by the server":             {499, `{"error":{"code":499,"status":"CANCELLED"}}`, abi.FailureServer},
		"500":                                    {500, `{"error":{"code":500,"status":"INTERNAL"}}`, abi.FailureServer},
		"502 page":                               {502, `<html>Bad Gateway</html>`, abi.FailureServer},
		"503":                                    {503, `{"error":{"code":503,"status":"UNAVAILABLE","message":"The model is overloaded."}}`, abi.FailureOverloaded},
		"504":                                    {504, `{"error":{"code":504,"status":"DEADLINE_EXCEEDED"}}`, abi.FailureTimeout},
		"529":                                    {529, ``, abi.FailureOverloaded},
		"200, the body's number":                 {200, `{"error":{"code":502,"message":"m"}}`, abi.FailureServer},
		"200, the body's number as text":         {200, `{"error":{"code":"429","message":"m"}}`, abi.FailureRateLimited},
		"200, only a word":                       {200, `{"error":{"status":"INVALID_ARGUMENT"}}`, abi.FailureInvalidRequest},
		"200, only a string":                     {200, `{"error":"no such route"}`, abi.FailureServer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := gemini{}.Error(abi.HTTPResponse{Status: c.status, Body: c.body, URL: chatURL})
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
	const noVersion = "https://gateway.example.com/models/m:generateContent"
	for name, c := range map[string]struct {
		in   abi.HTTPResponse
		want []string
	}{
		"C014 empty body": {abi.HTTPResponse{Status: 200, URL: chatURL}, []string{"empty body", chatURL}},
		"C020 error string": {
			abi.HTTPResponse{Status: 200, URL: noVersion, Body: `{"error":"no such route"}`},
			[]string{"no such route", noVersion, "https://gateway.example.com/v1beta"},
		},
		"STR-4 page": {abi.HTTPResponse{Status: 200, URL: noVersion, Body: "\n<!doctype html>"}, []string{"web page", noVersion, "/v1beta"}},
		"STR-4 JSON that is nothing": {
			abi.HTTPResponse{Status: 200, URL: chatURL, Body: `{"ok":true}`}, []string{"neither", `{"ok":true}`, chatURL},
		},
		"C010 not JSON":         {abi.HTTPResponse{Status: 200, URL: chatURL, Body: "\x1f\uFFFD"}, []string{"not JSON", chatURL}},
		"404 without a version": {abi.HTTPResponse{Status: 404, URL: noVersion, Body: "404"}, []string{noVersion, "/v1beta"}},
		"404 of the API":        {abi.HTTPResponse{Status: 404, URL: chatURL, Body: `{"error":{"message":"not found"}}`}, []string{"not found", "model's name"}},
		"wrong key":             {abi.HTTPResponse{Status: 400, Body: wrongKey}, []string{"API key not valid."}},
		"only a code":           {abi.HTTPResponse{Status: 400, Body: `{"error":{"status":"ABORTED"}}`}, []string{"ABORTED"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := gemini{}.Error(c.in)
			for _, want := range c.want {
				if !strings.Contains(f.Message, want) {
					t.Errorf("message %q does not hold %q", f.Message, want)
				}
			}
		})
	}
	if f := (gemini{}).Error(abi.HTTPResponse{Status: 500, Body: strings.Repeat("漢", 1<<20)}); len(f.Message) > 2*failure.MaxQuote {
		t.Errorf("message has %d bytes", len(f.Message))
	}
}

// REL-6: a wait in the body is as good as one in the header.
func TestErrorSaysHowLongToWait(t *testing.T) {
	t.Parallel()
	delay := func(d string) string { return `{"error":{"code":429,"details":[{"retryDelay":"` + d + `"}]}}` }
	for name, c := range map[string]struct {
		body string
		want int64
	}{
		"of the minute":                     {minuteQuota, 34074},
		"whole seconds":                     {delay("37s"), 37000},
		"C052 a day":                        {delay("86400s"), 86400000},
		"of the day: another key, no delay": {dayQuota, 0},
		"junk":                              {delay("soon"), 0},
		"negative":                          {delay("-5s"), 0},
		"endless":                           {delay("1e300s"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (gemini{}).Error(abi.HTTPResponse{Status: 429, Body: c.body}).RetryAfterMS; got != c.want {
				t.Errorf("retry_after_ms = %d, want %d", got, c.want)
			}
		})
	}
}

// TestResponses reads whole answers, and bodies that are none.
func TestResponses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"answer": {
			`{"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2},"responseId":"r1","modelVersion":"m","candidates":[{"finishReason":"STOP","content":{"parts":[{"text":"Hi"}]}}]}`,
			lines(meta, "text Hi", usage, stop, "done"),
		},
		"calls, signed": {
			`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"x": 1}},"thoughtSignature":"S"},{"functionCall":{"name":"g","args":{}}}]},"finishReason":"STOP"}]}`,
			lines(`call 0 id= name=f {"x": 1} signed S`, "call 1 id= name=g {}", "finish tool_calls (STOP)", "done"),
		},
		"C048 malformed call":   {`{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, lines("finish unknown (MALFORMED_FUNCTION_CALL)", "done")},
		"C014 no candidates":    {`{"candidates":[]}`, lines("finish unknown ()", "done")},
		"C014 only a usage":     {`{"usageMetadata":{"promptTokenCount":3},"modelVersion":"m"}`, lines("meta  m", "usage in=3", "finish unknown ()", "done")},
		"the prompt is blocked": {`{"promptFeedback":{"blockReason":"OTHER"}}`, "failure content_filtered code=OTHER the prompt was blocked: OTHER"},
		"STR-4 the chunks of a stream in an array": {
			`[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},` + "\n" + `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}]`,
			lines("text a", "call 0 id= name=f ", "finish tool_calls (STOP)", "done"),
		},
		"STR-4 an array that ends with an error": {
			`[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"error":{"code":503,"message":"full","status":"UNAVAILABLE"}}]`,
			lines("text a", "failure overloaded code=UNAVAILABLE full"),
		},
		"C018 error in a 200": {`{"error":{"code":502,"message":"no"}}`, "failure server code=502 no (from " + chatURL + ": check base_url and the model's name)"},
		"not JSON":            {`data: {}`, "failure server code= HTTP 200 with a body that is not JSON: data: {} (from " + chatURL + ": check base_url and the model's name)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, err := gemini{}.Response(abi.HTTPResponse{Status: 200, Body: c.body, URL: chatURL})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, tell(events)); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
