package main

import (
	"testing"

	"github.com/zchost/zchost/abi"
)

// What each error is (REL-7), from its type or else from the status.
func TestErrors(t *testing.T) {
	t.Parallel()
	typed := func(kind string) string {
		return `{"type":"error","error":{"type":"` + kind + `","message":"x"},"request_id":"r"}`
	}
	for _, tc := range []struct {
		status int64
		body   string
		want   abi.FailureClass
	}{
		{400, typed("invalid_request_error"), abi.FailureInvalidRequest},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, abi.FailureContextOverflow},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"tools: the prompt is too long"}}`, abi.FailureInvalidRequest},
		{401, typed("authentication_error"), abi.FailureAuth},
		{402, typed("billing_error"), abi.FailureQuota},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, abi.FailureQuota},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: Your credit balance is too low"}}`, abi.FailureInvalidRequest},
		{403, typed("permission_error"), abi.FailureAuth},
		{404, typed("not_found_error"), abi.FailureModelNotFound},
		{404, `404 page not found`, abi.FailureInvalidRequest},
		{413, typed("request_too_large"), abi.FailureContextOverflow},
		{429, typed("rate_limit_error"), abi.FailureRateLimited},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"x","details":{"error_code":"enforced_spend_limit_reached"}}}`, abi.FailureQuota}, // C128
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"x","details":{"error_code":"organization_on_hold"}}}`, abi.FailureAuth},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"x","details":{"error_code":"tool_name_conflict"}}}`, abi.FailureInvalidRequest},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Prompt is too long: it says so"}}`, abi.FailureInvalidRequest},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: it says so"}}`, abi.FailureInvalidRequest},
		{400, "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens` and try again\"}}", abi.FailureContextOverflow},
		{409, typed("conflict_error"), abi.FailureServer},
		{429, `{"error":"slow down"}`, abi.FailureRateLimited},
		{500, typed("api_error"), abi.FailureServer},
		{504, typed("timeout_error"), abi.FailureTimeout},
		{529, typed("overloaded_error"), abi.FailureOverloaded},
		{529, ``, abi.FailureOverloaded},
		{503, `<html>`, abi.FailureOverloaded},
		{200, `<html>`, abi.FailureServer},
		{200, typed("overloaded_error"), abi.FailureOverloaded},
	} {
		f := (messages{}).Error(abi.HTTPResponse{Status: tc.status, Body: tc.body, URL: "http://x/v1/messages"})
		if f.Class != tc.want || f.Message == "" || f.Status != tc.status {
			t.Errorf("%d %s: %+v, want %s", tc.status, tc.body, f, tc.want)
		}
	}
}

// The operator reads the code, and what is most often wrong with the address.
func TestErrorMessage(t *testing.T) {
	t.Parallel()
	const url = "http://x/v1/messages"
	for body, want := range map[string]abi.Failure{
		`{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`: {
			Class: abi.FailureModelNotFound, Message: "model: m (from " + url + ": check base_url)", Status: 404, Code: "not_found_error",
		},
		`{"error":{"type":"not_found_error","details":{"error_code":"c"}}}`: {
			Class: abi.FailureModelNotFound, Message: "c (from " + url + ": check base_url)", Status: 404, Code: "c",
		},
		`<html>`: {Class: abi.FailureInvalidRequest, Message: "HTTP 404 with a web page in place of an answer (from " + url + ": check base_url)", Status: 404},
	} {
		if got := (messages{}).Error(abi.HTTPResponse{Status: 404, Body: body, URL: url}); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}
