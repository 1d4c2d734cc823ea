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
// some (REL-2, REL-3, REL-4).
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

// A fallback has a budget of its own, provider_retries + 1: the attempt that
// streams is the first candidate's alone, or of the first that is asked (REL-3).
func TestFallbackBudget(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", failing(abi.FailureServer))
		b, ub := candidate("b", failing(abi.FailureServer))
		b.Policy.Retries = 1
		run(t, t.Context(), a, b)
		if len(ua.asked) != 4 || len(ub.asked) != 2 {
			t.Errorf("asked %d and %d times, want 4 and 2", len(ua.asked), len(ub.asked))
		}
	})
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", good("no"))
		b, ub := candidate("b", failing(abi.FailureServer))
		open(a.Breaker)
		a.Breaker.Allow() // another turn's probe: a is left out (REL-10)
		run(t, t.Context(), a, b)
		if len(ua.asked) != 0 || len(ub.asked) != 4 || !ub.asked[0].Stream {
			t.Errorf("asked %d and %d times, want none and 4, the first of them streaming", len(ua.asked), len(ub.asked))
		}
	})
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
		{"filtered, and empty", 2, []reply{{events: [][]abi.Event{{finish(abi.FinishContentFilter), done()}}}}, "a/m stream incomplete; b/m whole complete", reliability.Complete},
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

// A cancellation that comes while an outcome is stored ends the walk: of the
// candidates behind it nothing is said, and none is asked (REL-7).
func TestCancelBetweenCandidates(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		a, _ := candidate("a", failing(abi.FailureInvalidRequest))
		b, ub := candidate("b", good("no"))
		c, uc := candidate("c", good("no"))
		open(b.Breaker)
		b.Breaker.Allow() // another turn's probe
		l := &flaky{refuse: func(_ int, write string, _ []journal.Event) bool {
			if write == "settle" {
				cancel()
			}
			return false
		}}
		chain := reliability.Chain{Candidates: []*reliability.Candidate{a, b, c}}
		got, err := chain.Run(ctx, l, "t_1", 1, &reliability.Prompt{})
		if err != nil || got.State != reliability.Cancelled || len(ub.asked)+len(uc.asked) != 0 || len(got.Err.Skipped) != 0 {
			t.Errorf("err %v, state %v, asked %d and %d times: %v", err, got.State, len(ub.asked), len(uc.asked), got.Err)
		}
	})
}

// "retrying" and "falling back" are said only of a request that is sent, and
// name where it goes (REL-11).
func TestSaysRetryOnlyWhenSent(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, ua := candidate("a", cut())
		b, ub := candidate("b", failing(abi.FailureAuth))
		got := run(t, t.Context(), a, b)
		want := "retrying retrying retrying falling_back"
		if said := got.ledger.types(journal.EventRetrying, journal.EventFallingBack); said != want || len(ua.asked) != 4 || len(ub.asked) != 1 {
			t.Errorf("said %q, asked %d and %d times", said, len(ua.asked), len(ub.asked))
		}
		if to := got.ledger.data(journal.EventFallingBack); !strings.Contains(to, `"b/m"`) {
			t.Errorf("it does not name the candidate: %s", to)
		}
		if got.State != reliability.Failed || len(got.Err.Attempts) != 5 || got.Err.Class != "truncated" {
			t.Errorf("the error must name all 5 attempts and the first cause (REL-12): %v", got.Err)
		}
	})
}

// The error of a chain names the status and the wait of each attempt, and holds
// at most 500 characters of the provider's (REL-12).
func TestChainError(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a",
			reply{open: &abi.Failure{Class: abi.FailureServer, Status: 503, Message: strings.Repeat("é", 2000), RetryAfterMS: 7000}},
			failing(abi.FailureInvalidRequest))
		got := run(t, t.Context(), a)
		if n := len([]rune(got.Err.Message)); n != 500 || !strings.HasSuffix(got.Err.Message, "é…") {
			t.Errorf("%d characters of the provider's text", n)
		}
		if text := got.Err.Error(); !strings.HasPrefix(text, "server: é") || !strings.HasSuffix(text, "…; 2 attempts: a/m server (503) wait 7s, a/m invalid_request") {
			t.Errorf("the error is %q", text)
		}
		got.outcomes()
		if n := len([]rune(got.ledger.attempts[0].Message)); n != 500 {
			t.Errorf("%d characters are stored", n)
		}
	})
}

// When no candidate can be asked, the error says of what class that is, and
// why, for each (REL-12).
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	for class, why := range map[abi.FailureClass]string{
		abi.FailureAuth:        "auth; 0 attempts; not asked: a/m: none of its keys can be used; not asked: b/m: none of its keys can be used",
		abi.FailureRateLimited: "rate_limited; 0 attempts; not asked: a/m: its key has to wait 1h0m0s; not asked: b/m: its key has to wait 1h0m0s; try again in 1h0m0s",
	} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", good("no"))
				b, ub := candidate("b", good("no"))
				for _, c := range []*reliability.Candidate{a, b} {
					lease(t, c).Failed(class, time.Hour, time.Minute)
				}
				got := run(t, t.Context(), a, b)
				if got.State != reliability.Failed || len(ua.asked)+len(ub.asked) != 0 || got.took != 0 {
					t.Errorf("state %v after %s", got.State, got.took)
				}
				if got.Err.Class != string(class) || got.Err.Error() != why {
					t.Errorf("class %q: %v", got.Err.Class, got.Err)
				}
			})
		})
	}
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
