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
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/sink"
	"github.com/zchost/zchost/host/turn"
)

// model is an upstream that answers what its script says to the last message.
type model struct {
	mu      sync.Mutex
	prompts []*reliability.Prompt
	streams int         // requests that asked for a stream
	started chan string // the last message of each request, if not nil
	answer  func(ctx context.Context, text string) ([]abi.Event, error)
}

func (*model) Fingerprint() string { return "fake@1#00000000" }

func (m *model) Open(ctx context.Context, r reliability.Request) (reliability.Stream, error) {
	last := r.Prompt.Messages[len(r.Prompt.Messages)-1]
	text := last.Parts[len(last.Parts)-1].Text
	m.mu.Lock()
	m.prompts = append(m.prompts, r.Prompt)
	if r.Stream {
		m.streams++
	}
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
	inUse   atomic.Int64 // agents that were not released
	agent   turn.Agent   // what a test adds to the agent
}

// Agent returns the one agent that there is.
func (s *setup) Agent(context.Context, string) (*turn.Agent, error) {
	s.inUse.Add(1)
	a := s.agent
	a.Name, a.System, a.Release = "main", "Be brief.", func() { s.inUse.Add(-1) }
	a.Chain = &reliability.Chain{Candidates: []*reliability.Candidate{{
		Profile: "p", Provider: "fake", Model: "m", Upstream: s.model,
		Policy: reliability.Policy{Retries: 1, RetryAfterMax: time.Second, KeyCooldown: time.Second},
		Keys:   reliability.NewKeys(), Breaker: &reliability.Breaker{},
	}}}
	return &a, nil
}

// refusing is a journal that refuses what a sink writes when refuse says so.
type refusing struct {
	sink.Store
	refuse func(journal.Step) error
}

func (r *refusing) Write(ctx context.Context, step journal.Step, fn func(*journal.Tx) error) error {
	if err := r.refuse(step); err != nil {
		return err
	}
	return r.Store.Write(ctx, step, fn)
}

func start(t *testing.T, path string, m *model) *setup {
	t.Helper()
	return startRefusing(t, path, m, func(journal.Step) error { return nil })
}

func startRefusing(t *testing.T, path string, m *model, refuse func(journal.Step) error) *setup {
	t.Helper()
	j, err := journal.Open(t.Context(), path, journal.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{journal: j, hub: sink.NewHub(&refusing{j, refuse}), model: m}
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
	if n := s.inUse.Load(); n != 0 {
		t.Errorf("%d agents were taken and not released", n)
	}
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
