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
		{403, typed("permission_error"), abi.FailureAuth},
		{404, typed("not_found_error"), abi.FailureModelNotFound},
		{404, `404 page not found`, abi.FailureInvalidRequest},
		{413, typed("request_too_large"), abi.FailureContextOverflow},
		{429, typed("rate_limit_error"), abi.FailureRateLimited},
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
