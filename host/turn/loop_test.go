package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/turn"
)

// fake is a tool that does what run says.
type fake struct {
	name   string
	effect abi.Effect
	run    func(ctx context.Context, arguments string) (tool.Result, error)
}

func (f fake) Spec() tool.Spec {
	return tool.Spec{
		Name: f.name, Effect: f.effect, Source: "core",
		InputSchema: abi.Raw(`{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}`),
	}
}

func (f fake) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return f.run(ctx, string(c.Arguments))
}

// with gives the setup's agent tools.
func (s *setup) with(t *testing.T, tools ...tool.Tool) {
	t.Helper()
	set, err := tool.NewSet(tools)
	if err != nil {
		t.Fatal(err)
	}
	s.agent.Tools = func(context.Context) (*tool.Set, []string) { return set, nil }
}

// use is an answer that calls tools: name, arguments, name, arguments.
func use(calls ...string) []abi.Event {
	var events []abi.Event
	for i := 0; i < len(calls); i += 2 {
		n := int64(i)
		events = append(events, abi.Event{Type: abi.EventToolCall, Index: &n, Name: calls[i], Arguments: calls[i+1]})
	}
	return append(events, abi.Event{Type: abi.EventFinish, Reason: abi.FinishToolCalls}, abi.Event{Type: abi.EventDone})
}

func ok(content string) func(context.Context, string) (tool.Result, error) {
	return func(context.Context, string) (tool.Result, error) { return tool.Result{Content: content}, nil }
}

// script answers one request after the other.
func script(all ...[]abi.Event) func(context.Context, string) ([]abi.Event, error) {
	var n atomic.Int64
	return func(context.Context, string) ([]abi.Event, error) {
		return all[min(int(n.Add(1)), len(all))-1], nil
	}
}

// said renders the last prompt with its calls: "user: go|assistant: ls{}|tool: files".
func (m *model) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, msg := range m.prompts[len(m.prompts)-1].Messages {
		var parts []string
		for _, p := range msg.Parts {
			parts = append(parts, p.Name+p.Arguments+p.Text)
		}
		all = append(all, fmt.Sprintf("%s: %s", msg.Role, strings.Join(parts, " ")))
	}
	return strings.Join(all, "|")
}

func (s *setup) calls(t *testing.T, id string) []journal.ToolCall {
	t.Helper()
	list, err := s.journal.Calls(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// states renders the calls of a turn: "ls done, rm refused (denied)".
func (s *setup) states(t *testing.T, id string) string {
	t.Helper()
	var all []string
	for _, c := range s.calls(t, id) {
		text := c.Name + " " + string(c.State)
		if c.Reason != "" {
			text += " (" + c.Reason + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// A turn with tools: results are in the next request and, with the calls, in the
// next turn's history, also after a restart (MRK-4, STR-8).
func TestToolLoop(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	first := append([]abi.Event{{Type: abi.EventReasoning, Text: "hm", Signature: "S1"}, {Type: abi.EventText, Text: "Let me look."}}, use("ls", `{"x":"a"}`, "cat", `{"x":"b"}`)...)
	m := &model{answer: script(first, say("Two files."), say("ok"))}
	s := start(t, path, m)
	s.with(t, fake{"ls", abi.EffectRead, ok("files")}, fake{"cat", abi.EffectRead, ok("meow")})
	id := s.send(t, "s", "go").ID
	if got := s.wait(t, id); got.State != journal.Complete || len(m.prompts) != 2 || len(m.prompts[0].Tools) != 2 {
		t.Fatalf("turn %s after %d requests: %+v", got.State, len(m.prompts), got.Error)
	}
	want := `user: go|assistant: hm Let me look. ls{"x":"a"} cat{"x":"b"}|tool: lsfiles catmeow`
	if got := m.said(); got != want {
		t.Errorf("second request %q, want %q", got, want)
	}
	if got := s.states(t, id); got != "ls done, cat done" {
		t.Errorf("calls: %s", got)
	}
	want += "|assistant: Two files.|user: next"
	s.wait(t, s.send(t, "s", "next").ID)
	if got := m.said(); got != want {
		t.Errorf("next turn %q, want %q", got, want)
	}
	s.stop(t)
	m2 := &model{answer: script(say("ok"))}
	again := start(t, path, m2)
	again.wait(t, again.send(t, "s", "after").ID)
	if got := m2.said(); got != want+"|assistant: ok|user: after" {
		t.Errorf("after a restart %q", got)
	}
	if p := m2.prompts[0].Messages[1].Parts[0]; p.Signature != "S1" || m2.prompts[0].Messages[1].Provider != "fake" {
		t.Errorf("signature %q of provider %q, want S1 of fake", p.Signature, m2.prompts[0].Messages[1].Provider)
	}
}

// Calls that only read run side by side; as soon as one writes, one after the
// other in the order of the model.
func TestOrderOfCalls(t *testing.T) {
	t.Parallel()
	for _, write := range []bool{false, true} {
		var meet sync.WaitGroup
		meet.Add(2)
		var running, most atomic.Int64
		var mu sync.Mutex
		var order []string
		work := func(name string) func(context.Context, string) (tool.Result, error) {
			return func(context.Context, string) (tool.Result, error) {
				most.Store(max(most.Load(), running.Add(1)))
				if !write {
					meet.Done()
					meet.Wait() // comes back only if the other one runs, too
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				running.Add(-1)
				return tool.Result{Content: name}, nil
			}
		}
		effect := abi.EffectRead
		if write {
			effect = abi.EffectWrite
		}
		m := &model{answer: script(use("a", `{"x":"1"}`, "b", `{"x":"2"}`), say("ok"))}
		s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
		s.agent.Approve = turn.ApproveNever
		s.with(t, fake{"a", effect, work("a")}, fake{"b", abi.EffectRead, work("b")})
		if got := s.wait(t, s.send(t, "s", "go").ID); got.State != journal.Complete {
			t.Fatalf("turn %s: %+v", got.State, got.Error)
		}
		if write && (most.Load() != 1 || strings.Join(order, "") != "ab") {
			t.Errorf("%d at a time, in the order %v", most.Load(), order)
		}
	}
}

// What a model does that gets nowhere, and how the turn ends (STR-6).
func TestLimits(t *testing.T) {
	t.Parallel()
	n := 0
	for _, tc := range []struct {
		name     string
		answer   func(context.Context, string) ([]abi.Event, error)
		most     int
		state    journal.State
		mark     marker.Code
		requests int
		calls    string
	}{
		{
			"max_iterations", func(context.Context, string) ([]abi.Event, error) {
				n++
				return use("ls", fmt.Sprintf(`{"x":"%d"}`, n)), nil
			}, 3, journal.Incomplete, marker.IncompleteLimit, 3, "ls done, ls done, ls refused (limit)",
		},
		{
			"the same call again and again", script(use("ls", `{"x":"1"}`)), 0,
			journal.Incomplete, marker.IncompleteLimit, 5, "ls done, ls done, ls done, ls refused (repeated), ls refused (repeated)",
		},
		{
			"the same call, and then an answer",
			script(use("ls", `{"x":"1"}`), use("ls", `{"x":"1"}`), use("ls", `{"x":"1"}`), use("ls", `{"x":"1"}`), say("I stop")), 0,
			journal.Complete, "", 5, "ls done, ls done, ls done, ls refused (repeated)",
		},
		{
			"C030: cut arguments, corrected", script(use("ls", `{"x":"aaa`), use("ls", `{"x":"a"}`), say("ok")), 0,
			journal.Complete, "", 3, "ls refused (invalid), ls done",
		},
		{
			"cut arguments twice", script(use("ls", `{"x":"aaa`), use("ls", `{"x":"bbb`)), 0,
			journal.Incomplete, marker.IncompleteLimit, 2, "ls refused (invalid), ls refused (invalid)",
		},
		{
			"arguments that the schema refuses, and a tool that is not there", script(use("ls", `{"y":1}`, "rm", `{}`), say("ok")), 0,
			journal.Complete, "", 2, "ls refused (invalid), rm refused (invalid)",
		},
		{
			"C152: calls of an answer that hit the output limit", script([]abi.Event{
				{Type: abi.EventText, Text: "a"}, use("ls", `{"x":"1"}`)[0], {Type: abi.EventFinish, Reason: abi.FinishLength}, {Type: abi.EventDone},
			}), 0, journal.Incomplete, marker.IncompleteLength, 1, "",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			m := &model{answer: tc.answer}
			s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
			s.agent.MaxIterations = tc.most
			s.with(t, fake{"ls", abi.EffectRead, ok("files")})
			got := s.wait(t, s.send(t, "s", "go").ID)
			if got.State != tc.state || got.Marker != string(tc.mark) || len(m.prompts) != tc.requests {
				t.Errorf("%s, marker %q, %d requests, want %s, %q, %d; %+v", got.State, got.Marker, len(m.prompts), tc.state, tc.mark, tc.requests, got.Error)
			}
			if calls := s.states(t, got.ID); calls != tc.calls {
				t.Errorf("calls %q, want %q", calls, tc.calls)
			}
			m.answer = script(say("ok"))
			s.wait(t, s.send(t, "s", "next").ID)
			m.valid(t)
		})
	}
}

// valid checks that each call of the last prompt has its result, in order, and
// arguments that are an object (C096).
func (m *model) valid(t *testing.T) {
	t.Helper()
	messages := m.prompts[len(m.prompts)-1].Messages
	for i, msg := range messages {
		var calls, results []string
		for _, p := range msg.Parts {
			if p.Type != abi.PartToolCall {
				continue
			}
			calls = append(calls, p.CallID)
			var object map[string]any
			if err := json.Unmarshal([]byte(p.Arguments), &object); err != nil {
				t.Errorf("arguments %s: %v", p.Arguments, err)
			}
		}
		if len(calls) == 0 {
			continue
		}
		if i+1 < len(messages) && messages[i+1].Role == abi.RoleTool {
			for _, p := range messages[i+1].Parts {
				results = append(results, p.CallID)
			}
		}
		if diff := cmp.Diff(calls, results); diff != "" {
			t.Errorf("results (-calls +results):\n%s", diff)
		}
	}
}

// A call that writes waits for a person's word.
func TestApproval(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name       string
		canApprove bool
		approve    turn.Approve
		answer     string // "yes", "no", "" for none, else whose no it is
		calls      string
		ran        int
	}{
		{"yes", true, turn.ApproveWrite, "yes", "rm done", 1},
		{"no", true, turn.ApproveWrite, "no", "rm refused (denied)", 0},
		{"the terminal is gone", true, turn.ApproveWrite, turn.ByNobody + ": no key could be read", "rm refused (not approved)", 0},
		{"nobody answers", true, turn.ApproveWrite, "", "rm refused (expired)", 0},
		{"nobody can be asked", false, turn.ApproveWrite, "", "rm refused (not approved)", 0},
		{"never", false, turn.ApproveNever, "", "rm done", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				m := &model{answer: script(use("rm", `{"x":"f"}`), say("ok"))}
				s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
				s.agent.Approve = tc.approve
				s.with(t, fake{"rm", abi.EffectWrite, func(context.Context, string) (tool.Result, error) {
					ran++
					return tool.Result{Content: "gone"}, nil
				}})
				got, _, err := s.Submit(t.Context(), turn.Message{Session: "s", Text: "go", CanApprove: tc.canApprove})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if tc.answer != "" {
					call := s.calls(t, got.ID)[0].ID
					by := "anna"
					if strings.HasPrefix(tc.answer, turn.ByNobody) {
						by = tc.answer
					}
					if err := s.Answer(t.Context(), call, tc.answer == "yes", by); err != nil {
						t.Fatal(err)
					}
					if err := s.Answer(t.Context(), call, true, "ben"); err == nil {
						t.Error("a second answer was taken")
					}
				}
				if got = s.wait(t, got.ID); got.State != journal.Complete || s.states(t, got.ID) != tc.calls || ran != tc.ran {
					t.Errorf("turn %s, calls %q, ran %d times; want %q, %d", got.State, s.states(t, got.ID), ran, tc.calls, tc.ran)
				}
				s.stop(t)
			})
		})
	}
}

// Cancelled in the middle of a call: the call has the marker for a result, the
// next one did not run, nothing more is asked, and the history stays valid
// (MRK-4, C096, C132).
func TestCancelDuringCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: script(use("a", `{"x":"1"}`, "slow", `{"x":"1"}`, "c", `{"x":"1"}`), say("ok"))}
		s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
		s.agent.Approve = turn.ApproveNever
		s.with(t, fake{"a", abi.EffectWrite, ok("did a")}, fake{"c", abi.EffectWrite, ok("did c")},
			fake{"slow", abi.EffectWrite, func(ctx context.Context, _ string) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}})
		id := s.send(t, "s", "go").ID
		synctest.Wait()
		s.Cancel(id, turn.ByUser())
		got := s.wait(t, id)
		if got.State != journal.Cancelled || got.Marker != string(marker.InterruptedByUser) || len(m.prompts) != 1 {
			t.Errorf("turn %s, marker %q, %d requests", got.State, got.Marker, len(m.prompts))
		}
		list := s.calls(t, id)
		if list[0].State != journal.CallDone || list[1].State != journal.CallCancelled || list[2].State != journal.CallRefused {
			t.Errorf("calls: %s", s.states(t, id))
		}
		if list[1].Result != marker.English(marker.ToolInterrupted) {
			t.Errorf("result %q", list[1].Result)
		}
		s.wait(t, s.send(t, "s", "next").ID)
		m.valid(t)
		if said := m.said(); !strings.Contains(said, "adid a") || !strings.HasSuffix(said, "|assistant: [interrupted by user]|user: next") {
			t.Errorf("next request %q", said)
		}
		s.stop(t)
	})
}

// A provider that pauses its answer is asked to go on with what it gave, as it
// is, a bounded number of times (STR-5, C042).
func TestPause(t *testing.T) {
	t.Parallel()
	paused := []abi.Event{
		{Type: abi.EventProviderTool, ID: "srv1", Name: "web_search", Opaque: `{"id":"srv1"}`},
		{Type: abi.EventFinish, Reason: abi.FinishPause}, {Type: abi.EventDone},
	}
	m := &model{answer: script(paused, say("Found."))}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	if got := s.wait(t, s.send(t, "s", "go").ID); got.State != journal.Complete || len(m.prompts) != 2 {
		t.Fatalf("turn %s after %d requests", got.State, len(m.prompts))
	}
	if p := m.prompts[1].Messages[1].Parts[0]; p.Opaque != `{"id":"srv1"}` {
		t.Errorf("sent back %+v", p)
	}
	m.answer = script(paused)
	if got := s.wait(t, s.send(t, "s", "again").ID); got.State != journal.Incomplete || got.Marker != string(marker.IncompletePause) || len(m.prompts) != 2+6 {
		t.Errorf("turn %s, %s after %d requests", got.State, got.Marker, len(m.prompts))
	}
}

// A server that is too slow in the fourth iteration: only that request is made
// again (C054).
func TestOnlyTheLastRequestIsRepeated(t *testing.T) {
	t.Parallel()
	ran := 0
	n := 0
	m := &model{answer: func(context.Context, string) ([]abi.Event, error) {
		n++
		switch n {
		case 1, 2, 3:
			return use("ls", fmt.Sprintf(`{"x":"%d"}`, n)), nil
		case 4:
			return nil, &abi.Failure{Class: abi.FailureTimeout, Message: "stalled"}
		}
		return say("done"), nil
	}}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	s.with(t, fake{"ls", abi.EffectRead, func(context.Context, string) (tool.Result, error) {
		ran++
		return tool.Result{Content: "files"}, nil
	}})
	if got := s.wait(t, s.send(t, "s", "go").ID); got.State != journal.Complete || n != 5 || ran != 3 {
		t.Errorf("turn %s, %d requests, %d calls", got.State, n, ran)
	}
}
