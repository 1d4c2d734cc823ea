package reliability_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
)

// The four cuts: one candidate and two, each cut before any text and after
// some (REL-3, REL-4).
func TestFourCuts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		two      bool
		first    []reply
		outcomes string
		state    reliability.State
		text     string
	}{
		{
			name: "one candidate, before text", first: []reply{cut(), good("Hi")},
			outcomes: "a/m stream truncated; a/m whole complete", state: reliability.Complete, text: "Hi",
		},
		{
			name: "one candidate, after text", first: []reply{cut(text("The total is 4")), good("no")},
			outcomes: "a/m stream truncated", state: reliability.Interrupted, text: "The total is 4",
		},
		{
			name: "two candidates, before text", two: true, first: []reply{cut()},
			outcomes: "a/m stream truncated; a/m whole truncated; a/m whole truncated; a/m whole truncated; b/m whole complete",
			state:    reliability.Complete, text: "from b",
		},
		{
			name: "two candidates, after text", two: true, first: []reply{cut(text("The total"), text(" is 4"))},
			outcomes: "a/m stream truncated", state: reliability.Interrupted, text: "The total is 4",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", tc.first...)
				cs := []*reliability.Candidate{a}
				b, ub := candidate("b", good("from b"))
				if tc.two {
					cs = append(cs, b)
				}
				got := run(t, t.Context(), cs...)
				if got.outcomes() != tc.outcomes {
					t.Errorf("attempts:\n got %s\nwant %s", got.outcomes(), tc.outcomes)
				}
				if got.State != tc.state || got.Text() != tc.text {
					t.Errorf("state %v, text %q; want %v, %q", got.State, got.Text(), tc.state, tc.text)
				}
				if ua.open+ub.open != 0 {
					t.Errorf("%d streams were left open (STR-9)", ua.open+ub.open)
				}
				if tc.state == reliability.Interrupted && got.Err == nil {
					t.Error("no error says why it was interrupted")
				}
			})
		})
	}
}

// What a failure before any output leads to, class by class (REL-7).
func TestFailureTable(t *testing.T) {
	t.Parallel()
	const same = 4 // the stream, and provider_retries + 1
	for class, want := range map[abi.FailureClass]struct{ first, second int }{
		abi.FailureOverloaded:      {same, 1},
		abi.FailureRateLimited:     {same, 1},
		abi.FailureServer:          {same, 1},
		abi.FailureTimeout:         {same, 1},
		abi.FailureNetwork:         {same, 1},
		abi.FailureTruncated:       {same, 1},
		abi.FailureAuth:            {1, 1},
		abi.FailureQuota:           {1, 1},
		abi.FailureInvalidRequest:  {1, 1},
		abi.FailureContentFiltered: {1, 1},
		abi.FailureModelNotFound:   {1, 1},
		abi.FailurePlugin:          {1, 1},
		abi.FailureUnknown:         {1, 1},
		abi.FailureContextOverflow: {1, 0},
	} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", failing(class))
				b, ub := candidate("b", good("Hi"))
				got := run(t, t.Context(), a, b)
				if len(ua.asked) != want.first || len(ub.asked) != want.second {
					t.Errorf("asked %d and %d times, want %d and %d", len(ua.asked), len(ub.asked), want.first, want.second)
				}
				if want.second == 1 && (got.State != reliability.Complete || !got.Fallback || got.Candidate.Name() != "b/m") {
					t.Errorf("state %v, fallback %v: the answer must be attributed to b (CST-4)", got.State, got.Fallback)
				}
			})
		})
	}
}

// provider_retries = 0 still grants the one attempt without streaming (REL-3).
func TestNoRetriesGrantsOneAttempt(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", cut())
		a.Policy.Retries = 0
		got := run(t, t.Context(), a)
		if len(ua.asked) != 2 || ua.asked[0].Stream == ua.asked[1].Stream {
			t.Errorf("asked %d times, want one streaming and one not", len(ua.asked))
		}
		if got.State != reliability.Failed {
			t.Errorf("state %v, want failed", got.State)
		}
	})
}

// An empty answer is none (REL-5).
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	empty := reply{events: [][]abi.Event{{finish(abi.FinishStop), done()}}}
	blank := reply{events: [][]abi.Event{{text(" "), finish(abi.FinishStop), done()}}}
	noCalls := reply{events: [][]abi.Event{{finish(abi.FinishToolCalls), done()}}} // C146
	for _, tc := range []struct {
		name     string
		retries  int
		first    []reply
		outcomes string
		state    reliability.State
	}{
		{"one request without streaming", 2, []reply{empty, good("Hi")}, "a/m stream empty; a/m whole complete", reliability.Complete},
		{"and only one", 2, []reply{empty}, "a/m stream empty; a/m whole empty; b/m whole complete", reliability.Complete},
		{"and only one, also when it fails", 2, []reply{empty, failing(abi.FailureServer)}, "a/m stream empty; a/m whole server; b/m whole complete", reliability.Complete},
		{"none with provider_retries = 0", 0, []reply{empty}, "a/m stream empty; b/m whole complete", reliability.Complete},
		{"tool_calls without calls", 2, []reply{noCalls}, "a/m stream empty; a/m whole empty; b/m whole complete", reliability.Complete},
		{"visible white space", 2, []reply{blank}, "a/m stream empty", reliability.Interrupted},
		{
			"visible reasoning (C034)", 2, []reply{{events: [][]abi.Event{{thought("hm"), finish(abi.FinishStop), done()}}}},
			"a/m stream empty", reliability.Interrupted,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, _ := candidate("a", tc.first...)
				a.Policy.Retries = tc.retries
				b, _ := candidate("b", good("Hi"))
				got := run(t, t.Context(), a, b)
				if got.outcomes() != tc.outcomes || got.State != tc.state {
					t.Errorf("got %s, state %v; want %s, %v", got.outcomes(), got.State, tc.outcomes, tc.state)
				}
			})
		})
	}
}

// The waits: jitter, the floor, Retry-After and its cap (REL-6, C052).
func TestWaits(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration) reply {
		return reply{open: &abi.Failure{Class: abi.FailureServer, RetryAfterMS: d.Milliseconds()}}
	}
	for _, tc := range []struct {
		name  string
		first []reply
		took  time.Duration
		state reliability.State
	}{
		{"full jitter may be nothing", []reply{cut(), good("Hi")}, 0, reliability.Complete},
		{"overloaded waits 2 s at least", []reply{failing(abi.FailureOverloaded), good("Hi")}, 2 * time.Second, reliability.Complete},
		{"Retry-After is a minimum", []reply{after(30 * time.Second), good("Hi")}, 30 * time.Second, reliability.Complete},
		{"one over retry_after_max ends it", []reply{after(24 * time.Hour)}, 0, reliability.Failed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, _ := candidate("a", tc.first...)
				got := run(t, t.Context(), a)
				if got.took != tc.took || got.State != tc.state {
					t.Errorf("took %s, state %v; want %s, %v", got.took, got.State, tc.took, tc.state)
				}
				if tc.state == reliability.Failed && !strings.Contains(got.Err.Error(), "24h") {
					t.Errorf("the error %q does not name the wait", got.Err)
				}
			})
		})
	}
}

// The deadline of the chain ends a turn that would wait and wait.
func TestDeadline(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", reply{hang: true})
		got := run(t, t.Context(), a)
		if got.State != reliability.Failed || got.took != 10*time.Minute || !strings.Contains(got.Err.Error(), "turn_deadline") {
			t.Errorf("state %v after %s: %v", got.State, got.took, got.Err)
		}
	})
}

// A cancellation wins over every retry, at once (REL-7, C130).
func TestCancel(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for name, first := range map[string][]reply{
		"while it waits":     {{open: &abi.Failure{Class: abi.FailureServer, RetryAfterMS: 50_000}}},
		"while it connects":  {{delay: time.Hour}},
		"while it streams":   {{events: [][]abi.Event{{text("Hi")}}, hang: true}},
		"before any request": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", append(first, good("no"))...)
				ctx, cancel := context.WithCancelCause(t.Context())
				if first == nil {
					cancel(stop)
				} else {
					time.AfterFunc(time.Second, func() { cancel(stop) })
				}
				got := run(t, ctx, a)
				if got.State != reliability.Cancelled || got.took > time.Second || len(ua.asked) > 1 || ua.open != 0 {
					t.Errorf("state %v after %s, asked %d times, %d open", got.State, got.took, len(ua.asked), ua.open)
				}
			})
		})
	}
}

// "retrying" and "falling back" are said only of a request that is sent, and
// name where it goes (REL-11).
func TestSaysRetryOnlyWhenSent(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", cut())
		b, ub := candidate("b", failing(abi.FailureAuth))
		got := run(t, t.Context(), a, b)
		said := len(strings.Fields(got.ledger.types(journal.EventRetrying, journal.EventFallingBack)))
		if sent := len(ua.asked) + len(ub.asked) - 1; said != sent {
			t.Errorf("said %d times, sent %d more", said, sent)
		}
		if got.State != reliability.Failed || len(got.Err.Attempts) != 5 || got.Err.Class != "truncated" {
			t.Errorf("the error must name all 5 attempts and the first cause (REL-12): %v", got.Err)
		}
	})
}

// When the journal fails, nothing more is sent.
func TestJournalFailure(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", good("Hi"))
		c := reliability.Chain{Candidates: []*reliability.Candidate{a}}
		ans, err := c.Run(t.Context(), &ledger{fail: errDisk}, "t_1", 1, &reliability.Prompt{})
		if !errors.Is(err, errDisk) || len(ua.asked) != 0 || ans.State != reliability.Failed {
			t.Errorf("err %v, asked %d times, state %v", err, len(ua.asked), ans.State)
		}
	})
}
