package turn_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/turn"
)

// A call that changes something and whose outcome nobody knows is `unknown`,
// not done: the model and a later /continue are told so. One that only reads has
// failed.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for effect, want := range map[abi.Effect]string{abi.EffectWrite: "rm unknown (unavailable)", abi.EffectRead: "rm done (unavailable)"} {
		m := &model{answer: script(use("rm", `{"x":"f"}`), say("ok"))}
		s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
		s.agent.Approve = turn.ApproveNever
		s.with(t, fake{"rm", effect, func(context.Context, string) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Class: tool.Unavailable, Unknown: true, Message: "it broke off"}
		}})
		got := s.wait(t, s.send(t, "s", "go").ID)
		if got.State != journal.Complete || s.states(t, got.ID) != want {
			t.Errorf("turn %s, calls %q, want %q", got.State, s.states(t, got.ID), want)
		}
		if !strings.Contains(m.said(), "it broke off") {
			t.Errorf("the model was told %q", m.said())
		}
	}
}
