package turn_test

import (
	"context"
	"database/sql" //nolint:depguard // a database that refuses one table cannot be had otherwise
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/turn"
)

// MRK-2, CST-1: when the calls of an answer cannot be stored, none runs; what
// was visible of the answer is kept, and the attempt has its outcome.
func TestCallsCannotBeStored(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	m := &model{answer: script(append([]abi.Event{{Type: abi.EventText, Text: "I look."}}, use("rm", `{"x":"1"}`)...))}
	s := start(t, path, m)
	var ran atomic.Int64
	s.agent.Approve = "never"
	s.with(t, fake{"rm", abi.EffectWrite, func(context.Context, string) (tool.Result, error) {
		ran.Add(1)
		return tool.Result{Content: "done"}, nil
	}})
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const full = "CREATE TRIGGER full BEFORE INSERT ON tool_calls BEGIN SELECT RAISE(ABORT, 'no room'); END"
	if _, err := db.ExecContext(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	got := s.wait(t, s.send(t, "s", "go").ID)
	if got.State != journal.Failed || ran.Load() != 0 {
		t.Errorf("turn %s, the tool ran %d times", got.State, ran.Load())
	}
	attempts, err := s.journal.Attempts(t.Context(), got.ID)
	if err != nil || len(attempts) != 1 || attempts[0].Outcome != journal.OutcomeComplete {
		t.Errorf("attempts %+v, %v", attempts, err)
	}
	m.answer = script(say("ok"))
	s.wait(t, s.send(t, "s", "next").ID)
	m.valid(t)
	if said := m.said(); said != "user: go|assistant: I look. [turn failed]|user: next" {
		t.Errorf("the model is shown %q", said)
	}
}

// A paused answer that has only calls leaves nothing to send back: no message
// without parts is stored, and nothing is asked again.
func TestPauseWithOnlyCalls(t *testing.T) {
	t.Parallel()
	n := int64(0)
	m := &model{answer: script([]abi.Event{
		{Type: abi.EventToolCall, Index: &n, Name: "ls", Arguments: `{"x":"1"}`},
		{Type: abi.EventFinish, Reason: abi.FinishPause}, {Type: abi.EventDone},
	})}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	s.with(t, fake{"ls", abi.EffectRead, ok("files")})
	got := s.wait(t, s.send(t, "s", "go").ID)
	if got.State != journal.Incomplete || len(m.prompts) != 1 {
		t.Errorf("turn %s after %d requests", got.State, len(m.prompts))
	}
	messages, err := s.journal.Messages(t.Context(), got.SessionID, 0)
	if err != nil || len(messages) != 1 {
		t.Errorf("messages %+v, %v", messages, err)
	}
}

// A call that is made again and again because its result changes is no
// repetition (STR-6): max_iterations bounds it.
func TestPoll(t *testing.T) {
	t.Parallel()
	poll := use("ls", `{"x":"1"}`)
	m := &model{answer: script(poll, poll, poll, poll, poll, poll, say("It is ready."))}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	var n atomic.Int64
	s.with(t, fake{"ls", abi.EffectRead, func(context.Context, string) (tool.Result, error) {
		return tool.Result{Content: fmt.Sprintf("%d %%", n.Add(1))}, nil
	}})
	got := s.wait(t, s.send(t, "s", "go").ID)
	if got.State != journal.Complete || n.Load() != 6 {
		t.Errorf("turn %s after %d calls: %s", got.State, n.Load(), s.states(t, got.ID))
	}
}

// C056: a request for a summary holds no more than half of the model's window.
func TestSummaryFitsTheWindow(t *testing.T) {
	t.Parallel()
	m := &model{}
	inner := long(1<<20, "sum")(m)
	var longest, summaries int
	m.answer = func(ctx context.Context, text string) ([]abi.Event, error) {
		if strings.HasPrefix(text, "The conversation:") || strings.HasPrefix(text, "Summary of what") {
			longest, summaries = max(longest, len(text)), summaries+1
		}
		return inner(ctx, text)
	}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	for i := range 30 {
		s.wait(t, s.send(t, "s", strings.Repeat(string(rune('a'+i%26)), 1000)).ID)
	}
	s.agent.Context = 2000 // tokens, some 8000 bytes: another model than before
	s.wait(t, s.send(t, "s", "z").ID)
	if summaries < 2 || longest > 6000 {
		t.Errorf("%d requests for a summary, the longest of %d bytes", summaries, longest)
	}
}

// As soon as the end of a turn is stored, the next turn of its session takes
// the history, or the answer is discarded (GDR-2): so it is back before.
func TestHistoryIsBackBeforeTheEnd(t *testing.T) {
	t.Parallel()
	var s *setup
	var back atomic.Bool
	m := &model{answer: script(say("Hi"))}
	s = startRefusing(t, filepath.Join(t.TempDir(), "journal.db"), m, func(step journal.Step) error {
		if step == journal.StepFinish {
			back.Store(s.Remembers(1)) // the first session
		}
		return nil
	})
	if got := s.wait(t, s.send(t, "s", "go").ID); got.SessionID != 1 || !back.Load() {
		t.Errorf("session %d: the history was put back after the end", got.SessionID)
	}
}

// A call that waits for its place when the turn is stopped does not begin.
func TestStoppedBeforeItsPlace(t *testing.T) {
	t.Parallel()
	var calls []string
	for i := range 10 {
		calls = append(calls, "ls", fmt.Sprintf(`{"x":"%d"}`, i))
	}
	m := &model{answer: script(use(calls...))}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	var ran atomic.Int64
	full := make(chan struct{})
	s.with(t, fake{"ls", abi.EffectRead, func(ctx context.Context, _ string) (tool.Result, error) {
		if ran.Add(1) == 8 {
			close(full)
		}
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}})
	sent := s.send(t, "s", "go")
	<-full
	s.Cancel(sent.ID, turn.ByUser())
	got := s.wait(t, sent.ID)
	if got.State != journal.Cancelled || ran.Load() != 8 {
		t.Errorf("turn %s, %d calls ran: %s", got.State, ran.Load(), s.states(t, got.ID))
	}
	m.answer = script(say("ok"))
	s.wait(t, s.send(t, "s", "next").ID)
	m.valid(t)
}

// C056: what fills the window may be images, with hardly any text: a summary of
// them is progress.
func TestCompactionOfImages(t *testing.T) {
	t.Parallel()
	m := &model{}
	m.answer = func(context.Context, string) ([]abi.Event, error) {
		m.mu.Lock()
		p := m.prompts[len(m.prompts)-1]
		m.mu.Unlock()
		images := 0
		for _, msg := range p.Messages {
			for _, part := range msg.Parts {
				if part.Type == abi.PartImage {
					images++
				}
			}
		}
		if images > 2 {
			return nil, &abi.Failure{Class: abi.FailureContextOverflow, Message: "too many images"}
		}
		if strings.Contains(p.System, "shorten") {
			return say("The person showed several pictures of a cat on a roof."), nil
		}
		return say("A cat."), nil
	}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	for i := range 4 {
		sent, _, err := s.Submit(t.Context(), turn.Message{
			Session: "s", Agent: "main", Surface: "cli", Text: "?",
			Attachments: []journal.Attachment{{Name: "cat.png", MediaType: "image/png", Data: []byte{byte(i), 1, 2}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.wait(t, sent.ID); got.State != journal.Complete {
			t.Errorf("turn %d: %s, %v", i+1, got.State, got.Error)
		}
	}
}

// Whichever write of the turn's events the journal refuses, no write tool runs
// twice, and the next request is valid, from memory and after a restart.
func TestEachEventRefused(t *testing.T) {
	t.Parallel()
	for n := range int64(8) { // a turn like this one writes its events in fewer steps
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal.db")
			text := abi.Event{Type: abi.EventText, Text: "I look."}
			m := &model{answer: script(
				append([]abi.Event{text}, use("rm", `{"x":"1"}`)...), append([]abi.Event{text}, use("rm", `{"x":"2"}`, "ls", `{"x":"1"}`)...), say("done"))}
			var writes atomic.Int64
			s := startRefusing(t, path, m, func(journal.Step) error {
				if writes.Add(1) == n+1 {
					return errFull
				}
				return nil
			})
			var ran [3]atomic.Int64
			s.agent.Approve = turn.ApproveNever
			s.with(t, fake{"ls", abi.EffectRead, ok("files")}, fake{"rm", abi.EffectWrite, func(_ context.Context, arguments string) (tool.Result, error) {
				ran[arguments[6]-'0'].Add(1)
				return tool.Result{Content: "done"}, nil
			}})
			got := s.wait(t, s.send(t, "s", "go").ID)
			writes.Store(n + 1) // the turns after it are left alone
			if ran[1].Load() > 1 || ran[2].Load() > 1 || !got.State.Ended() {
				t.Errorf("turn %s, calls ran %d and %d times", got.State, ran[1].Load(), ran[2].Load())
			}
			m.answer = script(say("ok"))
			s.wait(t, s.send(t, "s", "next").ID)
			m.valid(t)
			live := m.said()
			s.stop(t)
			m2 := &model{answer: script(say("ok"))}
			again := start(t, path, m2)
			again.wait(t, again.send(t, "s", "after").ID)
			m2.valid(t)
			if said := m2.said(); said != live+"|assistant: ok|user: after" {
				t.Errorf("after a restart %q\nwant %q", said, live)
			}
		})
	}
}
