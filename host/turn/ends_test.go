package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/turn"
)

// How a turn ends: its state, its marker, the message that is kept (MRK-2), and
// what the model is shown of it (MRK-3, MRK-4, C144).
func TestEnds(t *testing.T) {
	t.Parallel()
	// then gives the answers one after the other, the last one for ever.
	then := func(all ...[]abi.Event) func(context.Context, string) ([]abi.Event, error) {
		return func(_ context.Context, text string) ([]abi.Event, error) {
			if text == "next" {
				return say("ok"), nil
			}
			events := all[0]
			all = all[min(1, len(all)-1):]
			return events, nil
		}
	}
	ev := func(events ...abi.Event) func(context.Context, string) ([]abi.Event, error) { return then(events) }
	txt := func(s string) abi.Event { return abi.Event{Type: abi.EventText, Text: s} }
	fin := func(r abi.FinishReason) abi.Event { return abi.Event{Type: abi.EventFinish, Reason: r} }
	done := abi.Event{Type: abi.EventDone}
	hm := abi.Event{Type: abi.EventReasoning, Text: "hm"}
	for _, tc := range []struct {
		name   string
		answer func(context.Context, string) ([]abi.Event, error)
		state  journal.State
		mark   marker.Code
		shown  string
	}{
		{"cut after text", ev(txt("The total is 4")), journal.Interrupted, marker.StreamInterrupted, "The total is 4 [stream interrupted]"},
		{"only reasoning", ev(hm), journal.Interrupted, marker.StreamInterrupted, "[stream interrupted]"},
		{"reasoning and no text", ev(hm, fin(abi.FinishStop), done), journal.Interrupted, marker.TurnFailed, "[turn failed]"},
		{"cut, and then reasoning and no text", then(nil, []abi.Event{hm, fin(abi.FinishStop), done}), journal.Interrupted, marker.TurnFailed, "[turn failed]"},
		{"empty, and then cut after reasoning", then([]abi.Event{fin(abi.FinishStop), done}, []abi.Event{hm}), journal.Interrupted, marker.StreamInterrupted, "[stream interrupted]"},
		{"nothing at all", ev(), journal.Failed, marker.TurnFailed, "[turn failed]"},
		{"the output limit", ev(txt("abc"), fin(abi.FinishLength), done), journal.Incomplete, marker.IncompleteLength, "abc [answer cut at the output limit]"},
		{"a filter", ev(txt("abc"), fin(abi.FinishContentFilter), done), journal.Incomplete, marker.IncompleteFilter, ""},
		{"a refusal", ev(fin(abi.FinishRefusal), done), journal.Incomplete, marker.IncompleteRefusal, ""},
		{"a tool that is not there", ev(abi.Event{Type: abi.EventToolCall, Name: "x", Arguments: "{}"}, fin(abi.FinishToolCalls), done), journal.Incomplete, marker.IncompleteLimit, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := &model{answer: tc.answer}
			s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
			first := s.send(t, "s", "hello")
			got := s.wait(t, first.ID)
			if got.State != tc.state || got.Marker != string(tc.mark) {
				t.Errorf("state %s, marker %q; want %s, %q", got.State, got.Marker, tc.state, tc.mark)
			}
			messages, err := s.journal.Messages(t.Context(), first.SessionID, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, msg := range messages {
				if strings.Contains(fmt.Sprint(msg.Parts), "[") && msg.Role == abi.RoleAssistant && strings.Contains(msg.Parts[0].Text, "[") {
					t.Errorf("the marker is inside the text (MRK-1): %v", msg.Parts)
				}
			}
			s.wait(t, s.send(t, "s", "next").ID)
			if want := "user: hello|assistant: " + tc.shown; !strings.HasPrefix(m.prompt(), want) {
				t.Errorf("prompt %q does not begin with %q", m.prompt(), want)
			}
			events, err := s.journal.Events(t.Context(), first.ID, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			ends := 0
			for i, e := range events {
				if e.N != int64(i+1) {
					t.Errorf("event %d is numbered %d (SNK-1)", i+1, e.N)
				}
				if e.Type == journal.EventTurnEnded {
					ends++
				}
			}
			if ends != 1 {
				t.Errorf("%d ends", ends)
			}
		})
	}
}

// Cancelling: the cause decides the marker, the partial is kept, and the next
// message is answered (ADM-3).
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		cause *turn.Cause
		state journal.State
		mark  marker.Code
	}{
		{"user", turn.ByUser(), journal.Cancelled, marker.InterruptedByUser},
		{"client", turn.ByClient(), journal.Cancelled, marker.CancelledClientRPC},
		{"shutdown", turn.ByShutdown(), journal.Interrupted, marker.InterruptedByRestart},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := &model{started: make(chan string, 4), answer: func(ctx context.Context, text string) ([]abi.Event, error) {
				if text == "next" {
					return say("ok"), nil
				}
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}}
			s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
			first, next := s.send(t, "s", "hello"), s.send(t, "s", "next")
			<-m.started
			if !s.Cancel(first.ID, tc.cause) {
				t.Fatal("the turn was not there to cancel")
			}
			if got := s.wait(t, first.ID); got.State != tc.state || got.Marker != string(tc.mark) {
				t.Errorf("state %s, marker %q", got.State, got.Marker)
			}
			if got := s.wait(t, next.ID); got.State != journal.Complete {
				t.Errorf("the next turn is %s", got.State)
			}
			if s.Cancel(first.ID, tc.cause) {
				t.Error("a turn that has ended was cancelled again")
			}
		})
	}
}

// What only the end of a turn can tell is in its events: that a call of a tool
// was not run (STR-6), and the provider's own word for why the model stopped
// when nobody else knows it (STR-5).
func TestLastEvents(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		events   []abi.Event
		decision string
		finish   string
	}{
		{"a tool call", []abi.Event{
			{Type: abi.EventToolCall, Name: "x", Arguments: "{}"}, {Type: abi.EventFinish, Reason: abi.FinishToolCalls, Raw: "tool_calls"}, {Type: abi.EventDone},
		}, "STR-6", ""},
		{"a word of its own", []abi.Event{
			{Type: abi.EventText, Text: "Hi"}, {Type: abi.EventFinish, Reason: abi.FinishUnknown, Raw: "tired"}, {Type: abi.EventDone},
		}, "", "tired"},
		{"a usual one", say("Hi"), "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := &model{answer: func(context.Context, string) ([]abi.Event, error) { return tc.events, nil }}
			s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
			got := s.wait(t, s.send(t, "s", "hello").ID)
			events, err := s.journal.Events(t.Context(), got.ID, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			var rule reliability.Decision
			var ended turn.Ended
			for _, e := range events {
				if e.Type == journal.EventDecision {
					err = json.Unmarshal(e.Data, &rule)
				}
				if e.Type == journal.EventTurnEnded {
					err = errors.Join(err, json.Unmarshal(e.Data, &ended))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if rule.Rule != tc.decision || ended.Finish != tc.finish || ended.State != got.State {
				t.Errorf("decision %+v, end %+v", rule, ended)
			}
		})
	}
}
