package turn_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// What the model is shown is the same from memory and from the journal,
// whatever happened in the session before (MRK-3, MRK-4).
func TestHistoryFromMemoryAndJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var runs atomic.Int64
	text := func(s string) abi.Event { return abi.Event{Type: abi.EventText, Text: s} }
	hm := abi.Event{Type: abi.EventReasoning, Text: "hm", Signature: "S"}
	endings := map[string][][]abi.Event{
		"answer":    {append([]abi.Event{hm}, say("ok")...)},
		"tools":     {append([]abi.Event{hm, text("look")}, use("ls", `{"x":"1"}`, "rm", `{"x":"2"}`)...), say("done")},
		"cut":       {{hm, text("half")}},
		"tools cut": {use("ls", `{"x":"1"}`), {hm, text("half")}},
		"fail":      {nil},
		"broken":    {use("ls", `{"x":`), use("ls", `{"x":`)},
		"pause":     {{{Type: abi.EventProviderTool, ID: "p", Name: "web", Opaque: "{}"}, {Type: abi.EventFinish, Reason: abi.FinishPause}, {Type: abi.EventDone}}, say("found")},
		"limit":     {use("ls", `{"x":"1"}`)},
		"length":    {{text("long"), {Type: abi.EventFinish, Reason: abi.FinishLength}, {Type: abi.EventDone}}},
	}
	rapid.Check(t, func(rt *rapid.T) {
		path := filepath.Join(dir, fmt.Sprint(runs.Add(1), ".db"))
		m := &model{}
		s := start(t, path, m)
		s.with(t, fake{"ls", abi.EffectRead, ok("files")}, fake{"rm", abi.EffectWrite, ok("gone")})
		last := ""
		for i := range rapid.IntRange(1, 6).Draw(rt, "turns") {
			kind := rapid.SampledFrom([]string{"answer", "tools", "cut", "tools cut", "fail", "broken", "pause", "limit", "length"}).Draw(rt, "kind")
			m.answer = script(endings[kind]...)
			s.agent.MaxIterations = rapid.SampledFrom([]int{0, 3}).Draw(rt, "iterations")
			how := rapid.SampledFrom([]string{"send", "send", "send", "retry", "continue", "discard"}).Draw(rt, "how")
			last = step(t, s, how, last, fmt.Sprint("message ", i))
		}
		m.answer = script(say("ok"))
		s.wait(t, s.send(t, "s", "now").ID)
		m.valid(t)
		live := m.said()
		s.stop(t)
		again := &model{answer: script(say("ok"))}
		s = start(t, path, again)
		s.wait(t, s.send(t, "s", "later").ID)
		if diff := cmp.Diff(strings.Split(live+"|assistant: ok|user: later", "|"), strings.Split(again.said(), "|")); diff != "" {
			rt.Errorf("(-memory +journal):\n%s", diff)
		}
		again.valid(t)
		s.stop(t)
	})
}

// step does one thing in the session, and returns the turn's id.
func step(t *testing.T, s *setup, how, last, message string) string {
	t.Helper()
	relation := map[string]journal.Relation{"retry": turn.Retry, "continue": turn.Continue}[how]
	switch {
	case how == "discard" && last != "":
		_ = s.Discard(context.WithoutCancel(t.Context()), last) // a whole answer cannot be
	case relation != "" && last != "":
		next, err := s.Resume(t.Context(), last, relation, turn.Message{})
		if err == nil {
			return s.wait(t, next.ID).ID
		}
	}
	return s.wait(t, s.send(t, "s", message).ID).ID
}
