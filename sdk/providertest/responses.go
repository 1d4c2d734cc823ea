package providertest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

func (r runner) response(t *testing.T, in abi.HTTPResponse) []abi.Event {
	t.Helper()
	if in.Status == 0 {
		in.Status = 200
	}
	var out abi.ChatEvents
	r.ask(t, abi.ExportChatResponse, &in, &out)
	for _, e := range out.Events {
		checkEvent(t, e)
	}
	checkOrder(t, out.Events)
	return out.Events
}

func has(events []abi.Event, typ abi.EventType) bool {
	return slices.ContainsFunc(events, func(e abi.Event) bool { return e.Type == typ })
}

// answers: the events of a stream, complete or a failure.
func (r runner) answers(t *testing.T) {
	for _, a := range r.suite.Answers {
		t.Run(a.Name, func(t *testing.T) {
			got := r.response(t, a.Response)
			if diff := cmp.Diff(a.Want, got); a.Want != nil && diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if complete := has(got, abi.EventFinish) && has(got, abi.EventDone); !complete && !has(got, abi.EventFailure) {
				t.Error("the answer neither ends with finish and done nor is a failure")
			}
		})
	}
	for _, body := range junkBodies() {
		got := r.response(t, abi.HTTPResponse{Body: body, URL: "https://provider.test/v1"})
		// Events that conclude nothing are allowed: the host then asks chat_error.
		if has(got, abi.EventDone) || (has(got, abi.EventFinish) && !has(got, abi.EventFailure)) {
			t.Errorf("the body %q is taken for an answer", body)
		}
	}
}

// junkBodies are what a server sends that has no answer.
func junkBodies() []string {
	return []string{
		"", " ", "{", "{}", "[]", "null", "0", `"text"`, "<html><head><title>502 Bad Gateway</title></head></html>", "Not found",
		`{"error":"no such route"}`, `{"error":{"message":"no"}}`, `{"detail":"no"}`, "\xff", "data: {}\n\n",
	}
}

// errors: a class by the status and by typed fields, never by a word.
func (r runner) errors(t *testing.T) {
	for _, e := range r.suite.Errors {
		t.Run(e.Name, func(t *testing.T) {
			if got := r.failure(t, e.Response); got.Class != e.Want {
				t.Errorf("status %d is of class %s, want %s: %s", e.Response.Status, got.Class, e.Want, got.Message)
			}
		})
	}
	for _, status := range []int64{200, 400, 401, 402, 403, 404, 405, 408, 409, 413, 415, 418, 422, 429, 451, 499, 500, 501, 502, 503, 504, 520, 524, 529, 599} {
		plain := r.failure(t, abi.HTTPResponse{Status: status, Body: "no"})
		for _, body := range junkBodies() {
			r.failure(t, abi.HTTPResponse{Status: status, Body: body})
		}
		worded := r.failure(t, abi.HTTPResponse{Status: status, Body: "not overloaded, no rate limit, quota, 401, 429, 503, timeout, context length exceeded, content filter"})
		if worded.Class != plain.Class {
			t.Errorf("status %d: words in a text turn %s into %s", status, plain.Class, worded.Class)
		}
	}
	if r.suite.Scripted {
		return
	}
	for status, want := range map[int64][]abi.FailureClass{
		401: {abi.FailureAuth},
		403: {abi.FailureAuth},
		400: {abi.FailureInvalidRequest},
		408: {abi.FailureTimeout, abi.FailureServer},
		429: {abi.FailureRateLimited},
		500: {abi.FailureServer},
		502: {abi.FailureServer, abi.FailureNetwork},
		503: {abi.FailureOverloaded, abi.FailureServer},
		529: {abi.FailureOverloaded},
	} {
		if got := r.failure(t, abi.HTTPResponse{Status: status}); !slices.Contains(want, got.Class) {
			t.Errorf("status %d is %s, want %v", status, got.Class, want)
		}
	}
}

func (r runner) failure(t *testing.T, in abi.HTTPResponse) abi.Failure {
	t.Helper()
	var out abi.Failure
	r.ask(t, abi.ExportChatError, &in, &out)
	checkFailure(t, out)
	if out.Status != in.Status {
		t.Errorf("the failure of a response with status %d has the status %d", in.Status, out.Status)
	}
	return out
}
