package reliability_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
)

// How a stream ended decides (STR-1): each row of the table, before and after
// output.
func TestHowAStreamEnds(t *testing.T) {
	t.Parallel()
	reset := &abi.Failure{Class: abi.FailureTruncated, Message: "connection reset"}
	idle := &abi.Failure{Class: abi.FailureTimeout, Message: "idle_timeout"}
	for _, tc := range []struct {
		name    string
		events  []abi.Event
		end     error
		strict  bool
		outcome string
		warning string
	}{
		{name: "the signal", events: []abi.Event{text("a"), finish(abi.FinishStop), done()}, outcome: "complete"},
		{name: "the signal without a finish reason", events: []abi.Event{text("a"), done()}, outcome: "complete"},
		{name: "a finish reason, then the end", events: []abi.Event{text("a"), finish(abi.FinishStop)}, outcome: "complete", warning: reliability.WarnNoSignal},
		{name: "a finish reason, then a reset", events: []abi.Event{text("a"), finish(abi.FinishStop)}, end: reset, outcome: "complete", warning: reliability.WarnNoSignal},
		{name: "a finish reason, then silence", events: []abi.Event{text("a"), finish(abi.FinishStop)}, end: reliability.ErrSilence, outcome: "complete", warning: reliability.WarnNoSignal},
		{name: "the same where the signal is wanted", events: []abi.Event{text("a"), finish(abi.FinishStop)}, strict: true, outcome: "truncated"},
		{name: "neither, and a clean end", events: []abi.Event{text("a")}, outcome: "truncated"},
		{name: "neither, and a reset", events: []abi.Event{text("a")}, end: reset, outcome: "truncated"},
		{name: "neither, and no byte", events: []abi.Event{text("a")}, end: idle, outcome: "timeout"},
		{name: "an open tool call, and the end (C016)", events: []abi.Event{toolCall(at(0), "a", "ls", `{"p":`)}, outcome: "truncated"},
		{name: "cut by the output limit", events: []abi.Event{text("a"), finish(abi.FinishLength), done()}, outcome: "incomplete"},
		{name: "filtered", events: []abi.Event{text("a"), finish(abi.FinishContentFilter), done()}, outcome: "incomplete"},
		{name: "an error after the finish reason", events: []abi.Event{
			text("a"), finish(abi.FinishStop),
			{Type: abi.EventFailure, Failure: &abi.Failure{Class: abi.FailureServer}},
		}, outcome: "server"},
		{name: "an error in the stream", events: []abi.Event{
			text("a"), {Type: abi.EventFailure, Failure: &abi.Failure{Class: abi.FailureOverloaded, Code: "overloaded_error"}},
		}, outcome: "overloaded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", reply{events: [][]abi.Event{tc.events}, end: tc.end})
				a.Policy.Retries = 0
				a.Policy.StrictCompletion = tc.strict
				got := run(t, t.Context(), a)
				if got.Unsettled == nil {
					got.Unsettled = &got.ledger.attempts[0]
				}
				if first := got.Unsettled; got.State != reliability.Failed && (first.Outcome != tc.outcome || first.Warning != tc.warning) {
					t.Errorf("outcome %q, warning %q; want %q, %q", first.Outcome, first.Warning, tc.outcome, tc.warning)
				}
				visible := tc.events[0].Type == abi.EventText
				if want := map[bool]int{true: 1, false: 2}[visible]; len(ua.asked) != want {
					t.Errorf("asked %d times, want %d (REL-4)", len(ua.asked), want)
				}
				if got.ledger.attempts[0].Usage.Input != nil || got.Unsettled.UsageSource != journal.UsageUnknown {
					t.Error("usage that nobody reported must be unknown (CST-2)")
				}
			})
		})
	}
}

// The host joins the fragments of tool calls (STR-6).
func TestToolCalls(t *testing.T) {
	t.Parallel()
	type call struct{ Name, Arguments string }
	for _, tc := range []struct {
		name   string
		events []abi.Event
		finish abi.FinishReason
		want   []call
		cut    bool
	}{
		{"C022: no index, two chunks", []abi.Event{
			toolCall(nil, "a", "up", `{"x":1}`), toolCall(nil, "b", "down", `{"x":2}`),
		}, abi.FinishToolCalls, []call{{"up", `{"x":1}`}, {"down", `{"x":2}`}}, false},
		{"no index and no id", []abi.Event{
			toolCall(nil, "", "up", `{"x":`), toolCall(nil, "", "", `1}`), toolCall(nil, "", "up", `{"x":2}`),
		}, abi.FinishToolCalls, []call{{"up", `{"x":1}`}, {"up", `{"x":2}`}}, false},
		{"C024: interleaved, without id", []abi.Event{
			toolCall(at(0), "a", "t1", ""), toolCall(at(1), "b", "t2", ""),
			toolCall(at(0), "", "", `{"target":"A"}`), toolCall(at(1), "", "", `{"target":"B"}`),
		}, abi.FinishToolCalls, []call{{"t1", `{"target":"A"}`}, {"t2", `{"target":"B"}`}}, false},
		{"names are set, not appended", []abi.Event{
			toolCall(at(0), "a", "search", ""), toolCall(at(0), "a", "search", `{}`),
		}, abi.FinishToolCalls, []call{{"search", `{}`}}, false},
		{"a constant index", []abi.Event{
			toolCall(at(0), "a", "t1", `{"x":1}`), toolCall(at(0), "b", "t2", `{"x":`), toolCall(at(0), "b", "", `2}`),
		}, abi.FinishToolCalls, []call{{"t1", `{"x":1}`}, {"t2", `{"x":2}`}}, false},
		{"a constant id", []abi.Event{
			toolCall(at(0), "c", "t", `{"x":1}`), toolCall(at(1), "c", "t", `{"x":`), toolCall(at(1), "c", "", `2}`),
		}, abi.FinishToolCalls, []call{{"t", `{"x":1}`}, {"t", `{"x":2}`}}, false},
		{"a constant index without ids", []abi.Event{
			toolCall(at(0), "", "t1", `{"x":1}`), toolCall(at(0), "", "t2", `{"x":2}`),
		}, abi.FinishToolCalls, []call{{"t1", `{"x":1}`}, {"t2", `{"x":2}`}}, false},
		{"a drifting index", []abi.Event{
			toolCall(at(0), "a", "t", `{"x"`), toolCall(at(1), "a", "", `:1`), toolCall(at(2), "a", "", `}`),
		}, abi.FinishToolCalls, []call{{"t", `{"x":1}`}}, false},
		{"the whole call once more", []abi.Event{
			toolCall(at(0), "a", "t", `{"x":1}`), toolCall(at(0), "a", "t", `{"x":1}`),
		}, abi.FinishToolCalls, []call{{"t", `{"x":1}`}}, false},
		{"the name in each fragment", []abi.Event{
			toolCall(at(0), "a", "t", `{"x"`), toolCall(at(0), "a", "t", `:1}`),
		}, abi.FinishToolCalls, []call{{"t", `{"x":1}`}}, false},
		{"C028: no arguments", []abi.Event{
			toolCall(at(0), "a", "s1", ""), toolCall(at(1), "b", "s2", "null"), toolCall(at(2), "c", "s3", "   "),
		}, abi.FinishToolCalls, []call{{"s1", "{}"}, {"s2", "{}"}, {"s3", "{}"}}, false},
		{"C030: cut inside the arguments", []abi.Event{
			toolCall(at(0), "a", "w", `{"content":"aaaa`),
		}, abi.FinishToolCalls, nil, true},
		{"C032: cut inside an escape and a surrogate pair", []abi.Event{
			toolCall(at(0), "a", "w", `{"t":"a\`), toolCall(at(0), "", "", `n\u00`),
			toolCall(at(0), "", "", `e9 \ud83c`), toolCall(at(0), "", "", `\udf0d\"q\""}`),
		}, abi.FinishToolCalls, []call{{"w", `{"t":"a\n\u00e9 \ud83c\udf0d\"q\""}`}}, false},
		{"C146: calls and finish stop", []abi.Event{toolCall(at(0), "a", "t", "{}")}, abi.FinishStop, []call{{"t", "{}"}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, _ := candidate("a", reply{events: [][]abi.Event{tc.events, {finish(tc.finish), done()}}})
				got := run(t, t.Context(), a)
				var calls []call
				ids := map[string]bool{}
				for _, p := range got.Parts {
					if p.Type == abi.PartToolCall {
						calls = append(calls, call{p.Name, p.Arguments})
						ids[p.CallID] = true
					}
				}
				if diff := cmp.Diff(tc.want, calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if len(ids) != len(calls) {
					t.Errorf("%d ids for %d calls: the host's ids are unique (C026)", len(ids), len(calls))
				}
				if tc.cut != (got.State == reliability.Incomplete) {
					t.Errorf("state %v; a cut call makes the answer incomplete", got.State)
				}
			})
		})
	}
}

// The limits of one answer's calls (STR-6).
func TestToolCallLimits(t *testing.T) {
	t.Parallel()
	for name, events := range map[string]func() []abi.Event{
		"calls": func() (all []abi.Event) {
			for i := range int64(abi.MaxToolCalls + 1) {
				all = append(all, toolCall(at(i), "", "t", "{}"))
			}
			return all
		},
		"arguments": func() []abi.Event {
			return []abi.Event{toolCall(at(0), "a", "t", string(make([]byte, abi.MaxToolArguments+1)))}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, _ := candidate("a", reply{events: [][]abi.Event{events(), {finish(abi.FinishToolCalls), done()}}})
				if got := run(t, t.Context(), a); got.State != reliability.Failed {
					t.Errorf("state %v, want failed", got.State)
				}
			})
		})
	}
}

// Usage: the last value wins, field by field, and what was known when a stream
// broke is kept (CST-2, C036).
func TestUsage(t *testing.T) {
	t.Parallel()
	n := func(v int64) *int64 { return &v }
	use := func(in, out *int64) abi.Event {
		return abi.Event{Type: abi.EventUsage, Usage: &abi.Usage{Input: in, Output: out}}
	}
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", reply{events: [][]abi.Event{
			{text("x"), use(n(31), n(20))},
			{use(n(31), n(45))},
			{use(nil, n(90)), use(nil, n(90))},
		}})
		got := run(t, t.Context(), a)
		u := got.Unsettled
		if u == nil || *u.Usage.Input != 31 || *u.Usage.Output != 90 || u.UsageSource != journal.UsageReported {
			t.Fatalf("usage %+v, want 31/90 reported", u)
		}
		if u.Outcome != "truncated" || u.Usage.CacheRead != nil {
			t.Errorf("outcome %s, cache read %v: a field that nobody reported is unknown", u.Outcome, u.Usage.CacheRead)
		}
	})
}
