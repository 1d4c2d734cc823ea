package reliability_test

import (
	"testing"
	"time"

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
		{name: "a second finish reason (C146)", events: []abi.Event{text("a"), finish(abi.FinishStop), finish(abi.FinishLength), done()}, outcome: "complete"},
		{name: "text after the signal", events: []abi.Event{text("a"), finish(abi.FinishStop), done(), text("b")}, outcome: "complete"},
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
				got.outcomes()
				first := got.ledger.attempts[0]
				if first.Outcome != tc.outcome || first.Warning != tc.warning {
					t.Errorf("outcome %q, warning %q; want %q, %q", first.Outcome, first.Warning, tc.outcome, tc.warning)
				}
				visible := tc.events[0].Type == abi.EventText
				if visible && got.Text() != "a" {
					t.Errorf("text %q, want what came before the end", got.Text())
				}
				if want := map[bool]int{true: 1, false: 2}[visible]; len(ua.asked) != want {
					t.Errorf("asked %d times, want %d (REL-4)", len(ua.asked), want)
				}
				if first.Usage.Input != nil || first.UsageSource != journal.UsageUnknown {
					t.Error("usage that nobody reported must be unknown (CST-2)")
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

// Usage that no model can have is as good as none: it would spoil every sum
// (CST-2).
func TestAbsurdUsage(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{-1, 1<<40 + 1, 1<<63 - 1} {
		bubble(t, func(t *testing.T) {
			use := abi.Event{Type: abi.EventUsage, Usage: &abi.Usage{Output: &n}}
			a, _ := candidate("a", reply{events: [][]abi.Event{{text("x"), use, finish(abi.FinishStop), done()}}})
			got := run(t, t.Context(), a)
			if u := got.Unsettled; got.State != reliability.Complete || u.Usage.Output != nil || u.UsageSource != journal.UsageUnknown {
				t.Errorf("%d tokens are stored as %+v, %s", n, u.Usage, u.UsageSource)
			}
		})
	}
}

// What is visible is never asked for again: text, reasoning, and a tool that
// the provider ran itself (REL-4, STR-7). A signature alone shows nothing.
func TestVisible(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		event   abi.Event
		visible bool
	}{
		{"text", text("a"), true},
		{"empty text", text(""), false},
		{"reasoning", thought("hm"), true},
		{"a signature alone", abi.Event{Type: abi.EventReasoning, Signature: "s"}, false},
		{"empty reasoning", abi.Event{Type: abi.EventReasoning}, false},
		{"a provider's own tool", abi.Event{Type: abi.EventProviderTool, Name: "search"}, true},
		{"a tool call", toolCall(at(0), "a", "ls", "{}"), false},
		{"meta", abi.Event{Type: abi.EventMeta, Model: "m"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T) {
				a, ua := candidate("a", cut(tc.event), good("Hi"))
				got := run(t, t.Context(), a)
				if want := map[bool]int{true: 1, false: 2}[tc.visible]; len(ua.asked) != want {
					t.Errorf("asked %d times, want %d", len(ua.asked), want)
				}
				if tc.visible != (got.State == reliability.Interrupted && got.Visible) {
					t.Errorf("state %v, visible %v", got.State, got.Visible)
				}
				if first := got.ledger.types(abi.EventText, abi.EventReasoning, abi.EventProviderTool) != ""; tc.visible && !first {
					t.Error("it is visible and not in the sink")
				}
			})
		})
	}
}

// A signature is stored and given back byte for byte, with the reasoning that
// it signs and no other (STR-8).
func TestSignature(t *testing.T) {
	t.Parallel()
	const sig = `{"data":"AAA=","x":"\u00e9\n"}`
	signed := abi.Event{Type: abi.EventReasoning, Signature: sig}
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", reply{events: [][]abi.Event{
			{thought("one "), thought("step"), signed}, {thought("another")}, {text("Hi"), finish(abi.FinishStop), done()},
		}})
		got := run(t, t.Context(), a)
		want := []abi.Part{
			{Type: abi.PartReasoning, Text: "one step", Signature: sig},
			{Type: abi.PartReasoning, Text: "another"},
			{Type: abi.PartText, Text: "Hi"},
		}
		if diff := cmp.Diff(want, got.Parts); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
		var stored abi.Event
		if err := stored.DecodeJSON([]byte(got.ledger.data(abi.EventReasoning))); err != nil || stored.Signature != sig {
			t.Errorf("the journal has the signature %q, %v", stored.Signature, err)
		}
	})
}

// The row of an attempt holds what the vendor's support asks for (CST-1).
func TestRow(t *testing.T) {
	t.Parallel()
	meta := abi.Event{Type: abi.EventMeta, ID: "chat-1", Model: "m-2026"}
	whole := [][]abi.Event{{meta, text("Hi"), finish(abi.FinishStop), done()}}
	refused := &abi.Failure{Class: abi.FailureServer, Status: 503, Code: "busy", Message: "come back", RetryAfterMS: 5000}
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", reply{open: refused}, reply{events: whole, noID: true})
		got := run(t, t.Context(), a)
		got.outcomes()
		first, second := got.ledger.attempts[0], got.ledger.attempts[1]
		if first.Status != 503 || first.Code != "busy" || first.Message != "come back" || first.Wait != 0 {
			t.Errorf("first attempt %+v", first)
		}
		if second.Status != 200 || second.Served != "m-2026" || second.RequestID != "chat-1" || second.Wait != 5*time.Second {
			t.Errorf("second attempt %+v", second)
		}
		if second.Ended.IsZero() || second.Fingerprint != "a@1#00000000" || second.Number != 2 {
			t.Errorf("second attempt %+v", second)
		}
	})
	bubble(t, func(t *testing.T) {
		a, _ := candidate("a", reply{events: whole})
		if got := run(t, t.Context(), a); got.Unsettled.RequestID != "req-1" {
			t.Errorf("request id %q, want that of the head", got.Unsettled.RequestID)
		}
	})
}
