package turn_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// interrupted is a turn whose write tool ran, and whose second answer was cut.
func interrupted(t *testing.T) (*setup, *model, string) {
	t.Helper()
	m := &model{answer: script(use("rm", `{"x":"f"}`), []abi.Event{{Type: abi.EventText, Text: "I removed"}})}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	s.agent.Approve = turn.ApproveNever
	s.with(t, fake{"rm", abi.EffectWrite, ok("gone")})
	got := s.wait(t, s.send(t, "s", "go").ID)
	if got.State != journal.Interrupted || len(m.prompts) != 2 {
		t.Fatalf("turn %s after %d requests", got.State, len(m.prompts))
	}
	m.answer = script(say("ok"))
	return s, m, got.ID
}

// GDR-2: /continue sends the partial with its marker, the effects that have
// already happened, and the instruction not to repeat them; the tool does not
// run again.
func TestContinue(t *testing.T) {
	t.Parallel()
	s, m, id := interrupted(t)
	next, err := s.Resume(t.Context(), id, turn.Continue, turn.Message{Surface: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.wait(t, next.ID); got.State != journal.Complete || got.After != id || got.Relation != turn.Continue {
		t.Errorf("%+v", got)
	}
	if _, err := s.Resume(t.Context(), next.ID, turn.Continue, turn.Message{}); err == nil {
		t.Error("a complete turn was continued")
	}
	said := m.said()
	for _, want := range []string{
		`user: go|assistant: rm{"x":"f"}|tool: rmgone|assistant: I removed [stream interrupted]|user: Your last reply was interrupted.`,
		`have been made already. Do not make them again:` + "\n" + `- rm {"x":"f"}: done`,
	} {
		if !strings.Contains(said, want) {
			t.Errorf("request %q\nlacks %q", said, want)
		}
	}
	if n := len(s.calls(t, id)); n != 1 || len(s.calls(t, next.ID)) != 0 {
		t.Errorf("%d calls", n)
	}
}

// GDR-2: /retry sends the original again, without the turn that was interrupted.
func TestRetry(t *testing.T) {
	t.Parallel()
	s, m, id := interrupted(t)
	if effects, err := s.Effects(t.Context(), id); err != nil || len(effects) != 1 || effects[0].Name != "rm" {
		t.Errorf("effects %v, %v", effects, err)
	}
	next, err := s.Resume(t.Context(), id, turn.Retry, turn.Message{Surface: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.wait(t, next.ID); got.State != journal.Complete || got.Text != "go" {
		t.Errorf("%+v", got)
	}
	if said := m.said(); said != "user: go" {
		t.Errorf("request %q", said)
	}
	if old, err := s.journal.Turn(t.Context(), id); err != nil || !old.Hidden {
		t.Errorf("the old turn: %+v, %v", old, err)
	}
	if _, err := s.Resume(t.Context(), id, turn.Retry, turn.Message{}); err == nil {
		t.Error("a turn that is not the newest was asked again")
	}
}

// GDR-2: /discard drops the partial, and keeps what the tools did.
func TestDiscard(t *testing.T) {
	t.Parallel()
	s, m, id := interrupted(t)
	if err := s.Discard(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	s.wait(t, s.send(t, "s", "next").ID)
	if said := m.said(); said != `user: go|assistant: rm{"x":"f"}|tool: rmgone|assistant: [stream interrupted]|user: next` {
		t.Errorf("request %q", said)
	}
}

// A retry brings the attachments of the message with it.
func TestRetryWithAttachment(t *testing.T) {
	t.Parallel()
	m := &model{answer: script(nil, nil, nil, say("ok"))}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	got, _, err := s.Submit(t.Context(), turn.Message{Session: "s", Text: "look", Attachments: []journal.Attachment{
		{Name: "a.png", MediaType: "image/png", Data: []byte("png")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.wait(t, got.ID)
	next, err := s.Resume(t.Context(), got.ID, turn.Retry, turn.Message{})
	if err != nil {
		t.Fatal(err)
	}
	s.wait(t, next.ID)
	parts := m.prompts[len(m.prompts)-1].Messages[0].Parts
	if len(parts) != 2 || parts[1].Type != abi.PartImage || parts[1].Name != "a.png" {
		t.Fatalf("%+v", parts)
	}
	if b, err := s.journal.Blob(t.Context(), parts[1].Blob); err != nil || string(b.Data) != "png" {
		t.Errorf("%q, %v", b.Data, err)
	}
}

// long answers with a failure while the prompt has more than some text, and
// sums it up when it is asked to.
func long(limit int, summary string) func(*model) func(context.Context, string) ([]abi.Event, error) {
	return func(m *model) func(context.Context, string) ([]abi.Event, error) {
		return func(_ context.Context, text string) ([]abi.Event, error) {
			m.mu.Lock()
			p := m.prompts[len(m.prompts)-1]
			m.mu.Unlock()
			if strings.Contains(p.System, "You shorten conversations") {
				return say(summary), nil
			}
			n := 0
			for _, msg := range p.Messages {
				for _, part := range msg.Parts {
					n += len(part.Text)
				}
			}
			if n > limit {
				return nil, &abi.Failure{Class: abi.FailureContextOverflow, Message: "too long"}
			}
			return say("answer to " + text[:1]), nil
		}
	}
}

// REL-7, C056: a history that is too long is summarised once, at a turn's
// boundary, and the question is asked again; after a restart the model is shown
// the same.
func TestCompaction(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	m := &model{}
	m.answer = long(3000, "They spoke of a and b.")(m)
	s := start(t, path, m)
	for _, c := range []string{"a", "b"} {
		s.wait(t, s.send(t, "s", strings.Repeat(c, 1400)).ID)
	}
	got := s.wait(t, s.send(t, "s", strings.Repeat("c", 1000)).ID)
	if got.State != journal.Complete || len(m.prompts) != 2+3 {
		t.Fatalf("turn %s after %d requests: %v", got.State, len(m.prompts), got.Error)
	}
	said := m.said()
	if !strings.HasPrefix(said, "user: [Summary of the conversation so far, made because it became too long]\nThey spoke of a and b. cccc") {
		t.Errorf("request %.200q", said)
	}
	attempts, err := s.journal.Attempts(t.Context(), got.ID)
	if err != nil || len(attempts) != 3 || attempts[1].Iteration != 0 || attempts[2].Number != 2 {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
	s.wait(t, s.send(t, "s", "d").ID)
	live := m.said()
	s.stop(t)
	m2 := &model{}
	m2.answer = long(3000, "x")(m2)
	again := start(t, path, m2)
	again.wait(t, again.send(t, "s", "e").ID)
	if got := m2.said(); got != live+"|assistant: answer to d|user: e" {
		t.Errorf("after a restart %q\nwant %q", got, live)
	}
}

// C056: a summary that is as long as what it stands for is no progress: the
// turn ends with one clear failure, and the next one may try again.
func TestCompactionWithoutProgress(t *testing.T) {
	t.Parallel()
	m := &model{}
	m.answer = long(3000, strings.Repeat("x", 2900))(m)
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	for _, c := range []string{"a", "b"} {
		s.wait(t, s.send(t, "s", strings.Repeat(c, 1400)).ID)
	}
	got := s.wait(t, s.send(t, "s", strings.Repeat("c", 1000)).ID)
	if got.State != journal.Failed || got.Error.Class != abi.FailureContextOverflow || len(m.prompts) != 2+2 {
		t.Errorf("turn %s, %v after %d requests", got.State, got.Error, len(m.prompts))
	}
	m.answer = long(3000, "short")(m)
	if got := s.wait(t, s.send(t, "s", "d").ID); got.State != journal.Complete {
		t.Errorf("the next turn: %s, %v", got.State, got.Error)
	}
}

// A history that would fill the model's window is summarised before it is sent.
func TestCompactionBeforehand(t *testing.T) {
	t.Parallel()
	m := &model{}
	m.answer = long(1<<20, "sum")(m)
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	s.agent.Context = 1000 // tokens, some 4000 bytes
	for _, c := range []string{"a", "b", "c"} {
		s.wait(t, s.send(t, "s", strings.Repeat(c, 1400)).ID)
	}
	// Two requests for the summary: each holds half of the window at most.
	if len(m.prompts) != 5 || !strings.Contains(m.prompts[2].System, "shorten") {
		t.Errorf("%d requests", len(m.prompts))
	}
}

// A model with a smaller window than before, also smaller than the requests for
// a summary: they are made smaller, too (C056).
func TestCompactionInSmallWindow(t *testing.T) {
	t.Parallel()
	const window = 9 << 10
	m := &model{answer: script(say("ok"))}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	for range 10 {
		s.wait(t, s.send(t, "s", strings.Repeat("a", 2<<10)).ID)
	}
	answer := long(window, "They spoke of much.")(m)
	refused := 0
	m.answer = func(ctx context.Context, text string) ([]abi.Event, error) {
		if len(text) > window {
			refused++
			return nil, &abi.Failure{Class: abi.FailureContextOverflow, Message: "too long"}
		}
		return answer(ctx, text)
	}
	got := s.wait(t, s.send(t, "s", strings.Repeat("c", 1<<10)).ID)
	if got.State != journal.Complete || refused == 0 {
		t.Fatalf("turn %s, %d summaries refused: %v", got.State, refused, got.Error)
	}
}
