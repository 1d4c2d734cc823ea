package reliability_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
)

// The host joins the fragments of tool calls (STR-6).
func TestToolCalls(t *testing.T) {
	t.Parallel()
	type call struct{ Name, Arguments string }
	for _, tc := range []struct {
		name   string
		events []abi.Event
		finish abi.FinishReason
		want   []call
		broken bool
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
		{"C030: names that no provider takes back", []abi.Event{
			toolCall(at(0), "a", "functions.ls", `{}`), toolCall(at(1), "b", "read file", `{}`), toolCall(at(2), "c", strings.Repeat("x", 80), `{}`),
		}, abi.FinishToolCalls, []call{{"invalid_functions_ls", `{}`}, {"invalid_read_file", `{}`}, {"invalid_" + strings.Repeat("x", 56), `{}`}}, false},
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
		}, abi.FinishToolCalls, []call{{"w", `{"invalid_arguments":"{\"content\":\"aaaa"}`}}, true},
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
				if got.State != reliability.Complete || tc.broken != (len(got.Broken) == 1 && ids[got.Broken[0]]) {
					t.Errorf("state %v, broken calls %v", got.State, got.Broken)
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
