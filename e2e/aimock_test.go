//go:build e2e

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
)

// aimock makes a host that asks these models of the shared server.
func aimock(t *testing.T, models []string, more ...string) *host {
	t.Helper()
	return newHost(t, mock.url+"/v1", models, more...)
}

func TestStreams(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"plain"},"response":{"content":"Hello from the other side.",
		"usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16}}}`)
	a := aimock(t, []string{"plain"}).send(t, "hi")
	a.want(t, 0, "complete", "Hello from the other side.", "")
	if u := a.summary.Usage; u.Input == nil || *u.Input != 7 || u.Output == nil || *u.Output != 9 {
		t.Errorf("usage %+v, want 7 in and 9 out", u)
	}
	if a.summary.Candidate != "peer/plain" {
		t.Errorf("candidate %q", a.summary.Candidate)
	}
	mock.wantRequests(t, []string{"plain"}, "plain stream")
	if got := mock.requests(t, "plain")[0].Headers["authorization"]; !strings.HasPrefix(got, "Bearer ") && got != "[REDACTED]" {
		t.Errorf("the request has the authorization %q", got)
	}
}

func TestWithoutStreaming(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"at-once"},"response":{"content":"All at once: 漢字🚲."}}`)
	a := aimock(t, []string{"at-once"}).send(t, "hi", "--no-stream")
	a.want(t, 0, "complete", "All at once: 漢字🚲.", "")
	mock.wantRequests(t, []string{"at-once"}, "at-once whole")
}

// aimock cuts a text at UTF-16 units, so that the two halves of an emoji come
// as two escapes in two chunks (the kind of C008 and C032).
func TestSurrogatesInTwoChunks(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"halves"},"response":{"content":"1234567🚲89"}}`)
	aimock(t, []string{"halves"}).send(t, "hi").want(t, 0, "complete", "1234567🚲89", "")
}

// C034: reasoning is shown apart from the answer.
func TestReasoning(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"thinks"},"response":{"content":"Four.","reasoning":"two and two"}}`)
	a := aimock(t, []string{"thinks"}).send(t, "2+2?")
	a.want(t, 0, "complete", "Four.", "")
	if !slices.Contains(a.types(), "reasoning") {
		t.Errorf("events: %v", a.types())
	}
}

// STR-5: an answer that was cut at the limit is not success.
func TestLengthIsIncomplete(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"short"},"response":{"content":"As far as it goes","finishReason":"length"}}`)
	aimock(t, []string{"short"}).send(t, "hi").want(t, 5, "incomplete", "As far as it goes", "turn-incomplete-length")
	mock.wantRequests(t, []string{"short"}, "short stream")
}

// MRK-4 and REL-3 over several turns: each request holds the whole history.
func TestManyTurns(t *testing.T) {
	t.Parallel()
	mock.on(t,
		`{"match":{"model":"talk","turnIndex":0},"response":{"content":"first answer"}}`,
		`{"match":{"model":"talk","turnIndex":1},"response":{"content":"second answer"}}`,
		`{"match":{"model":"talk","turnIndex":2},"response":{"content":"third answer"}}`)
	h := aimock(t, []string{"talk"})
	for i, want := range []string{"first answer", "second answer", "third answer"} {
		h.send(t, "question "+string(rune('1'+i)), "--session", "s").want(t, 0, "complete", want, "")
	}
	requests := mock.requests(t, "talk")
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	var roles []string
	for _, m := range requests[2].Body.Messages {
		roles = append(roles, m.Role)
	}
	if want := "system user assistant user assistant user"; strings.Join(roles, " ") != want {
		t.Errorf("the third request has the roles %v, want %s", roles, want)
	}
}

// REL-3, REL-6: an error before any output is asked again without streaming.
func TestErrorThenAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, fault string }{
		{"e500", `{"error":{"message":"broken","type":"server_error"},"status":500}`},
		{"e503", `{"error":{"message":"busy","type":"server_error"},"status":503}`},
		{"e429", `{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"},"status":429,"retryAfter":1}`},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			mock.on(t,
				`{"match":{"model":"`+c.model+`","sequenceIndex":0},"response":`+c.fault+`}`,
				`{"match":{"model":"`+c.model+`","sequenceIndex":1},"response":{"content":"better now"}}`)
			a := aimock(t, []string{c.model}).send(t, "hi")
			a.want(t, 0, "complete", "better now", "")
			mock.wantRequests(t, []string{c.model}, c.model+" stream", c.model+" whole")
			if a.summary.Attempts != 2 {
				t.Errorf("%d attempts in the ledger, want 2", a.summary.Attempts)
			}
		})
	}
}

// REL-12: the error names every attempt and the first cause.
func TestErrorForEver(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct {
		fault string
		class abi.FailureClass
	}{
		"always500": {`{"error":{"message":"out of order","type":"server_error"},"status":500}`, abi.FailureServer},
		"always503": {`{"error":{"message":"out of order","type":"server_error"},"status":503}`, abi.FailureOverloaded},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			mock.on(t, `{"match":{"model":"`+model+`"},"response":`+c.fault+`}`)
			a := aimock(t, []string{model}, "provider_retries = 1").send(t, "hi")
			a.want(t, 2, "failed", "", "turn-failed")
			a.wantSaid(t, "out of order")
			mock.wantRequests(t, []string{model}, model+" stream", model+" whole", model+" whole")
			if a.summary.Attempts != 3 {
				t.Errorf("%d attempts in the ledger, want 3", a.summary.Attempts)
			}
		})
	}
}

// C052: a wait beyond the limit is not slept through.
func TestRetryAfterTooLong(t *testing.T) {
	t.Parallel()
	mock.on(t,
		`{"match":{"model":"tomorrow"},"response":{"error":{"message":"come back","type":"rate_limit_error"},"status":429,"retryAfter":86400}}`,
		`{"match":{"model":"today"},"response":{"content":"here I am"}}`)
	a := aimock(t, []string{"tomorrow", "today"}).send(t, "hi")
	a.want(t, 0, "complete", "here I am", "")
	if a.summary.Candidate != "peer/today" {
		t.Errorf("candidate %q", a.summary.Candidate)
	}
	mock.on(t, `{"match":{"model":"tomorrow-only"},"response":{"error":{"message":"come back","type":"rate_limit_error"},"status":429,"retryAfter":86400}}`)
	a = aimock(t, []string{"tomorrow-only"}).send(t, "hi")
	a.want(t, 2, "failed", "", "turn-failed")
	a.wantClass(t, abi.FailureRateLimited)
	mock.wantRequests(t, []string{"tomorrow-only"}, "tomorrow-only stream")
}

// REL-7, C128: these are not asked again.
func TestNotRetried(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct {
		fault string
		class abi.FailureClass
	}{
		"e401": {`{"error":{"message":"bad key","type":"invalid_request_error","code":"invalid_api_key"},"status":401}`, abi.FailureAuth},
		"e400": {`{"error":{"message":"bad field","type":"invalid_request_error"},"status":400}`, abi.FailureInvalidRequest},
		"e404": {`{"error":{"message":"no model","type":"invalid_request_error","code":"model_not_found"},"status":404}`, abi.FailureModelNotFound},
		"e402": {`{"error":{"message":"pay first","type":"insufficient_quota","code":"insufficient_quota"},"status":429}`, abi.FailureQuota},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			mock.on(t, `{"match":{"model":"`+model+`"},"response":`+c.fault+`}`)
			a := aimock(t, []string{model}).send(t, "hi")
			a.want(t, 2, "failed", "", "turn-failed")
			a.wantClass(t, c.class)
			mock.wantRequests(t, []string{model}, model+" stream")
		})
	}
}

// The four cuts: one candidate and two, before any text and after some.
func TestCutBeforeText(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"cut-once","sequenceIndex":0},"response":{"content":"never seen"},"chaos":{"disconnectRate":1}}`,
		`{"match":{"model":"cut-once","sequenceIndex":1},"response":{"content":"asked again"}}`)
	aimock(t, []string{"cut-once"}).send(t, "hi").want(t, 0, "complete", "asked again", "")
	mock.wantRequests(t, []string{"cut-once"}, "cut-once stream", "cut-once whole")

	mock.on(t, `{"match":{"model":"cut-first"},"response":{"content":"never seen"},"chaos":{"disconnectRate":1}}`,
		`{"match":{"model":"second"},"response":{"content":"the second model"}}`)
	a := aimock(t, []string{"cut-first", "second"}, "provider_retries = 1").send(t, "hi")
	a.want(t, 0, "complete", "the second model", "")
	if a.summary.Candidate != "peer/second" {
		t.Errorf("candidate %q", a.summary.Candidate)
	}
	mock.wantRequests(t, []string{"cut-first", "second"}, "cut-first stream", "cut-first whole", "cut-first whole", "second whole")
}

func TestCutAfterText(t *testing.T) {
	t.Parallel()
	for _, models := range [][]string{{"cut-late"}, {"cut-late-too", "not-asked"}} {
		mock.on(t, `{"match":{"model":"`+models[0]+`"},"response":{"content":"The answer is forty-two and more"},"latency":60,"truncateAfterChunks":4}`,
			`{"match":{"model":"not-asked"},"response":{"content":"The answer is forty-two and more"}}`)
		a := aimock(t, models).send(t, "hi")
		if a.summary.Text == "" || !strings.HasPrefix("The answer is forty-two and more", a.summary.Text) {
			t.Errorf("text %q", a.summary.Text)
		}
		a.want(t, 3, "interrupted", a.summary.Text, "turn-stream-interrupted")
		mock.wantRequests(t, []string{models[0], "not-asked"}, models[0]+" stream")
	}
}

// STR-3: a server that goes silent is left, before the head and in the body,
// and the failure names the clock. Nothing was seen, so it is asked again.
func TestSilence(t *testing.T) {
	t.Parallel()
	for model, c := range map[string]struct{ how, clock string }{
		"no-head": {`"latency":8000`, "header_timeout"},
		"no-body": {`"streamingProfile":{"ttft":10,"tps":0.1}`, "idle_timeout"},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			mock.on(t, `{"match":{"model":"`+model+`"},"response":{"content":"one two three"},`+c.how+`}`)
			a := aimock(t, []string{model}, `idle_timeout = "1s"`, `header_timeout = "1s"`).send(t, "hi")
			a.want(t, 0, "complete", "one two three", "")
			mock.wantRequests(t, []string{model}, model+" stream", model+" whole")
			if !strings.Contains(a.stdout, c.clock) {
				t.Errorf("nothing names %s: %s", c.clock, a.stdout)
			}
		})
	}
}

// A slow stream is no stalled one.
func TestSlowStream(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"slow"},"response":{"content":"slow and steady wins"},"streamingProfile":{"ttft":300,"tps":5,"jitter":0.2}}`)
	aimock(t, []string{"slow"}, `idle_timeout = "2s"`).send(t, "hi").want(t, 0, "complete", "slow and steady wins", "")
}

// STR-4, C020: a 200 that is neither a stream nor JSON is a typed failure.
func TestMalformed(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"garbage"},"response":{"content":"x"},"chaos":{"malformedRate":1}}`)
	a := aimock(t, []string{"garbage"}, "provider_retries = 0").send(t, "hi")
	a.want(t, 2, "failed", "", "turn-failed")
	if a.summary.Error == nil || a.summary.Error.Class == "" {
		t.Errorf("error %+v", a.summary.Error)
	}
}

// An agent without tools, whose model calls one again and again, gives no
// answer (STR-6): nothing runs, and the turn does not end as complete.
func TestToolCall(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"tools"},"response":{"toolCalls":[{"name":"weather","arguments":{"city":"Oslo"}}]}}`)
	a := aimock(t, []string{"tools"}, "provider_retries = 0").send(t, "weather?")
	if a.code == 0 || a.summary.State == "complete" {
		t.Errorf("exit %d, state %q: a call of a tool that does not exist is no answer", a.code, a.summary.State)
	}
}

// GDR-1, CST-1: what happened can be read afterwards.
func TestWhyAndUsage(t *testing.T) {
	t.Parallel()
	mock.on(t,
		`{"match":{"model":"why","sequenceIndex":0},"response":{"error":{"message":"broken","type":"server_error"},"status":500}}`,
		`{"match":{"model":"why","sequenceIndex":1},"response":{"content":"fine","usage":{"prompt_tokens":11,"completion_tokens":3,"total_tokens":14}}}`)
	h := aimock(t, []string{"why"})
	turn := h.send(t, "hi").summary.Turn
	why, stderr, code := h.run(t, "why", turn)
	if code != 0 || !strings.Contains(why, "peer/why") || !strings.Contains(why, "500") {
		t.Errorf("why: exit %d\n%s\n%s", code, why, stderr)
	}
	usage, stderr, code := h.run(t, "usage", "--json")
	if code != 0 || !json.Valid([]byte(usage)) || !strings.Contains(usage, "11") {
		t.Errorf("usage: exit %d\n%s\n%s", code, usage, stderr)
	}
}
