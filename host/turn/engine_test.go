package turn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/sink"
	"github.com/zchost/zchost/host/turn"
)

// model is an upstream that answers what its script says to the last message.
type model struct {
	mu      sync.Mutex
	prompts []*reliability.Prompt
	started chan string // the last message of each request, if not nil
	answer  func(ctx context.Context, text string) ([]abi.Event, error)
}

func (*model) Fingerprint() string { return "fake@1#00000000" }

func (m *model) Open(ctx context.Context, r reliability.Request) (reliability.Stream, error) {
	last := r.Prompt.Messages[len(r.Prompt.Messages)-1]
	text := last.Parts[len(last.Parts)-1].Text
	m.mu.Lock()
	m.prompts = append(m.prompts, r.Prompt)
	m.mu.Unlock()
	if m.started != nil {
		m.started <- text
	}
	return &answer{m: m, ctx: ctx, text: text}, nil
}

// answer is the stream of one request.
type answer struct {
	m    *model
	ctx  context.Context
	text string
	over bool
}

func (*answer) Head() reliability.Head { return reliability.Head{Status: 200} }
func (*answer) Close() error           { return nil }

func (a *answer) Next() ([]abi.Event, error) {
	if a.over {
		return nil, io.EOF
	}
	a.over = true
	return a.m.answer(a.ctx, a.text)
}

func say(text string) []abi.Event {
	return []abi.Event{
		{Type: abi.EventText, Text: text},
		{Type: abi.EventFinish, Reason: abi.FinishStop},
		{Type: abi.EventDone},
	}
}

// setup is an engine on a journal of its own.
type setup struct {
	*turn.Engine
	journal *journal.Journal
	hub     *sink.Hub
	model   *model
}

// Agent returns the one agent that there is.
func (s *setup) Agent(context.Context, string) (*turn.Agent, error) {
	return &turn.Agent{Name: "main", System: "Be brief.", Chain: &reliability.Chain{Candidates: []*reliability.Candidate{{
		Profile: "p", Provider: "fake", Model: "m", Upstream: s.model,
		Policy: reliability.Policy{Retries: 1, RetryAfterMax: time.Second},
		Keys:   reliability.NewKeys(time.Second), Breaker: &reliability.Breaker{},
	}}}}, nil
}

func start(t *testing.T, path string, m *model) *setup {
	t.Helper()
	j, err := journal.Open(t.Context(), path, journal.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{journal: j, hub: sink.NewHub(j), model: m}
	s.Engine = turn.New(j, s.hub, s, hclog.NewNullLogger())
	t.Cleanup(func() { s.stop(t) })
	return s
}

func (s *setup) stop(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := errors.Join(s.Close(ctx), s.journal.Close(ctx)); err != nil {
		t.Error(err)
	}
	s.hub.Close()
}

func (s *setup) send(t *testing.T, session, text string) journal.Turn {
	t.Helper()
	got, _, err := s.Submit(t.Context(), turn.Message{Session: session, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s *setup) wait(t *testing.T, id string) journal.Turn {
	t.Helper()
	got, err := s.Wait(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// prompt renders the last prompt: "user: a|assistant: b".
func (m *model) prompt() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []string
	for _, msg := range m.prompts[len(m.prompts)-1].Messages {
		var parts []string
		for _, p := range msg.Parts {
			parts = append(parts, p.Text)
		}
		all = append(all, fmt.Sprintf("%s: %s", msg.Role, strings.Join(parts, " ")))
	}
	return strings.Join(all, "|")
}

// A conversation: what was said before is in the next prompt, also after a
// restart, and the turn's end is stored with the answer.
func TestConversation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	m := &model{answer: func(_ context.Context, text string) ([]abi.Event, error) { return say("You said " + text), nil }}
	s := start(t, path, m)
	first := s.send(t, "s", "one")
	if got := s.wait(t, first.ID); got.State != journal.Complete || got.Candidate != "fake/m" {
		t.Fatalf("state %s, candidate %s", got.State, got.Candidate)
	}
	s.wait(t, s.send(t, "s", "two").ID)
	want := "user: one|assistant: You said one|user: two"
	if got := m.prompt(); got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
	s.wait(t, s.send(t, "other", "three").ID)
	if got := m.prompt(); got != "user: three" {
		t.Errorf("prompt of another session %q", got)
	}
	s.stop(t)
	s = start(t, path, m)
	s.wait(t, s.send(t, "s", "four").ID)
	want += "|assistant: You said two|user: four"
	if got := m.prompt(); got != want {
		t.Errorf("prompt after a restart %q, want %q", got, want)
	}
}

// Turns of one session run one after the other and in order (ADM-4); turns of
// another one do not wait for them.
func TestOrder(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	m := &model{started: make(chan string, 10), answer: func(_ context.Context, text string) ([]abi.Event, error) {
		if text != "free" {
			<-gate
		}
		return say("re " + text), nil
	}}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	var ids []string
	for _, text := range []string{"a", "b", "c"} {
		ids = append(ids, s.send(t, "s", text).ID)
	}
	if got := <-m.started; got != "a" {
		t.Fatalf("%q began first", got)
	}
	if got := s.wait(t, s.send(t, "other", "free").ID); got.State != journal.Complete {
		t.Errorf("the other session's turn is %s", got.State)
	}
	<-m.started
	close(gate)
	for _, id := range ids {
		s.wait(t, id)
	}
	if b, c := <-m.started, <-m.started; b != "b" || c != "c" {
		t.Errorf("then %q and %q", b, c)
	}
	if got, want := m.prompt(), "user: a|assistant: re a|user: b|assistant: re b|user: c"; got != want {
		t.Errorf("prompt %q, want %q: an answer stands before the message that waited for it", got, want)
	}
}

// A repeated message gives the first one's turn, and is not answered again
// (ADM-2).
func TestRepeatedMessage(t *testing.T) {
	t.Parallel()
	m := &model{answer: func(_ context.Context, text string) ([]abi.Event, error) { return say(text), nil }}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	msg := turn.Message{Session: "s", Surface: "cli", Text: "once", IdempotencyKey: "k"}
	first, _, err := s.Submit(t.Context(), msg)
	if err != nil {
		t.Fatal(err)
	}
	s.wait(t, first.ID)
	again, repeated, err := s.Submit(t.Context(), msg)
	if err != nil || !repeated || again.ID != first.ID || len(m.prompts) != 1 {
		t.Errorf("turn %s, repeated %v, err %v, %d requests", again.ID, repeated, err, len(m.prompts))
	}
}

// How a turn ends: its state, its marker, the message that is kept (MRK-2), and
// what the model is shown of it (MRK-3, MRK-4, C144).
func TestEnds(t *testing.T) {
	t.Parallel()
	ev := func(events ...abi.Event) func(context.Context, string) ([]abi.Event, error) {
		return func(_ context.Context, text string) ([]abi.Event, error) {
			if text == "next" {
				return say("ok"), nil
			}
			return events, nil
		}
	}
	txt := func(s string) abi.Event { return abi.Event{Type: abi.EventText, Text: s} }
	fin := func(r abi.FinishReason) abi.Event { return abi.Event{Type: abi.EventFinish, Reason: r} }
	done := abi.Event{Type: abi.EventDone}
	for _, tc := range []struct {
		name   string
		answer func(context.Context, string) ([]abi.Event, error)
		state  journal.State
		mark   marker.Code
		shown  string
	}{
		{"cut after text", ev(txt("The total is 4")), journal.Interrupted, marker.StreamInterrupted, "The total is 4 [stream interrupted]"},
		{"only reasoning", ev(abi.Event{Type: abi.EventReasoning, Text: "hm"}), journal.Interrupted, marker.StreamInterrupted, "[stream interrupted]"},
		{"reasoning and no text", ev(abi.Event{Type: abi.EventReasoning, Text: "hm"}, fin(abi.FinishStop), done), journal.Interrupted, marker.TurnFailed, "[turn failed]"},
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

// A turn that waits can be cancelled before it runs; no model is asked.
func TestCancelWhileQueued(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	m := &model{started: make(chan string, 4), answer: func(context.Context, string) ([]abi.Event, error) {
		<-gate
		return say("ok"), nil
	}}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	first, queued := s.send(t, "s", "a"), s.send(t, "s", "b")
	<-m.started
	s.Cancel(queued.ID, turn.ByUser())
	close(gate)
	s.wait(t, first.ID)
	if got := s.wait(t, queued.ID); got.State != journal.Cancelled || len(m.prompts) != 1 {
		t.Errorf("state %s after %d requests", got.State, len(m.prompts))
	}
}

// A reader that comes late, or comes back, gets the same events (SNK-4).
func TestReaders(t *testing.T) {
	t.Parallel()
	m := &model{answer: func(_ context.Context, text string) ([]abi.Event, error) { return say(text), nil }}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	first := s.send(t, "s", "hello")
	read := func(after int64) (all []int64) {
		r, err := s.hub.Reader(t.Context(), first.ID, after)
		if err != nil {
			t.Fatal(err)
		}
		for {
			events, err := r.Next(t.Context())
			if errors.Is(err, io.EOF) {
				return all
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				all = append(all, e.N)
			}
		}
	}
	live := read(0)
	s.wait(t, first.ID)
	if again := read(0); !slices.Equal(live, again) {
		t.Errorf("live %v, afterwards %v", live, again)
	}
	if rest := read(2); !slices.Equal(live[2:], rest) {
		t.Errorf("after 2: %v, want %v", rest, live[2:])
	}
}
