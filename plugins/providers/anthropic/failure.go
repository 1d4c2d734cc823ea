package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/failure"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// apiError is what a body or frame says about an error:
// {"type":"error","error":{"type":…,"message":…}}, of which gateways leave out
// the one or the other, or make error a text. Some errors have a code as well, in
// {"details":{"error_code":…}}.
type apiError struct {
	kind, code, message string
}

// isError reports whether the value of a member error tells of an error.
func isError(s *jsonscan.Scanner) bool {
	switch s.Kind() {
	case jsonscan.String, jsonscan.Object:
		return len(s.Raw()) > len(`""`)
	case jsonscan.Array, jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
	}
	return false
}

// readError reads the error in a document. It returns false if the document is
// not JSON or tells nothing.
func readError(data []byte) (apiError, bool) {
	var e apiError
	s := jsonscan.New(data)
	e.value(&s)
	return e, s.End() == nil && (e.message != "" || e.kind != "")
}

func (e *apiError) value(s *jsonscan.Scanner) {
	switch s.Kind() {
	case jsonscan.String:
		e.message = s.String()
		return
	case jsonscan.Object:
	case jsonscan.Array, jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
		return
	}
	var inner apiError
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "error":
			inner.value(s)
		case "type":
			if e.kind = lenient.String(s); e.kind == "error" { // the event's
				e.kind = ""
			}
		case "message", "detail":
			e.message = lenient.String(s)
		case "details":
			if s.Kind() == jsonscan.Object {
				e.code = readCode(s)
			}
		}
	}
	if inner.code != "" {
		e.code = inner.code
	}
	if inner.kind != "" {
		e.kind = inner.kind
	}
	if inner.message != "" {
		e.message = inner.message
	}
}

func readCode(s *jsonscan.Scanner) string {
	code := ""
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return code
		}
		if string(key) == "error_code" {
			code = lenient.String(s)
		}
	}
}

// Error says why a response is no answer.
func (messages) Error(r abi.HTTPResponse) abi.Failure {
	e, ok := readError([]byte(r.Body))
	f := e.failure(r.Status)
	f.Status = r.Status
	if !ok {
		f.Message = failure.UnexpectedBody(&r)
	}
	if !ok || r.Status < 400 || r.Status == 404 || r.Status == 405 {
		f.Message += " (from " + r.URL + ": check base_url)"
	}
	return f
}

func (e *apiError) failure(status int64) abi.Failure {
	f := abi.Failure{Class: e.class(status), Message: e.message, Code: e.kind}
	if e.code != "" {
		f.Code = e.code
	}
	if f.Message == "" {
		f.Message = f.Code
	}
	return f
}

// class decides what kind of failure it is, from the error's code and type, else
// from the HTTP status (platform.claude.com/docs/en/api/errors).
func (e *apiError) class(status int64) abi.FailureClass {
	switch e.code {
	case "contract_spend_limit_reached", "enforced_spend_limit_reached", // both with 429 (C128)
		"linked_organization_spend_limit_reached", "linked_organization_billing_unavailable":
		return abi.FailureQuota
	case "organization_on_hold":
		return abi.FailureAuth
	case "request_body_too_large_after_decoding":
		return abi.FailureContextOverflow
	}
	switch e.kind {
	case "invalid_request_error":
		switch {
		case tooLong(e.message):
			return abi.FailureContextOverflow
		case strings.HasPrefix(e.message, "Your credit balance is too low"): // has the status 400 and no code
			return abi.FailureQuota
		}
		return abi.FailureInvalidRequest
	case "authentication_error", "permission_error":
		return abi.FailureAuth
	case "billing_error":
		return abi.FailureQuota
	case "not_found_error":
		return abi.FailureModelNotFound
	case "request_too_large":
		return abi.FailureContextOverflow
	case "rate_limit_error":
		return abi.FailureRateLimited
	case "timeout_error":
		return abi.FailureTimeout
	case "overloaded_error":
		return abi.FailureOverloaded
	}
	if c := failure.ByStatus(status); c != "" {
		return c
	}
	return abi.FailureServer // api_error, and an error after the request was accepted
}

// tooLong recognises an error that the API has neither a type nor a code for, by
// the form of its whole message: "prompt is too long: 208310 tokens > 200000
// maximum", or "input length and `max_tokens` exceed context limit: 195000 + 8192 >
// 200000" and what can be done. Without it a conversation that has become too long
// could not be told from a request that is wrong. A text that only speaks of it has
// another form.
func tooLong(message string) bool {
	if rest, ok := strings.CutPrefix(message, "prompt is too long"); ok {
		rest, ok = number(strings.TrimPrefix(rest, ": "))
		return rest == "" || ok && strings.HasPrefix(rest, " tokens > ")
	}
	rest, ok := strings.CutPrefix(message, "input length and `max_tokens` exceed context limit: ")
	if ok {
		rest, ok = number(rest)
	}
	return ok && strings.HasPrefix(rest, " + ")
}

// number takes a number from the front of text.
func number(text string) (rest string, ok bool) {
	rest = strings.TrimLeft(text, "0123456789")
	return rest, len(rest) < len(text)
}
