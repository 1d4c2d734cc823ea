package reliability_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
)

// reply is one scripted answer of a fake upstream.
type reply struct {
	open   error         // Open fails
	events [][]abi.Event // what Next gives, call by call
	end    error         // then this; io.EOF if nil
	hang   bool          // then nothing, until the context ends
	delay  time.Duration // before Open returns
	noID   bool          // the head has no request id
}

// upstream answers with its replies in order; the last one again when they
// are used up.
type upstream struct {
	name    string
	mu      sync.Mutex
	replies []reply
	asked   []reliability.Request
	at      []time.Time
	open    int // streams that were not closed
}

func (u *upstream) Fingerprint() string { return u.name + "@1#00000000" }

func (u *upstream) Open(ctx context.Context, r reliability.Request) (reliability.Stream, error) {
	u.mu.Lock()
	n := min(len(u.asked), len(u.replies)-1)
	u.asked = append(u.asked, r)
	u.at = append(u.at, time.Now())
	rep := u.replies[n]
	u.mu.Unlock()
	if rep.delay > 0 {
		select {
		case <-time.After(rep.delay):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if rep.open != nil {
		return nil, rep.open
	}
	u.mu.Lock()
	u.open++
	u.mu.Unlock()
	return &fakeStream{u: u, ctx: ctx, r: rep}, nil
}

type fakeStream struct {
	u   *upstream
	ctx context.Context
	r   reply
	n   int
}

func (s *fakeStream) Head() reliability.Head {
	if s.r.noID {
		return reliability.Head{Status: 200}
	}
	return reliability.Head{Status: 200, RequestID: "req-1"}
}

func (s *fakeStream) Next() ([]abi.Event, error) {
	if s.ctx.Err() != nil {
		return nil, context.Cause(s.ctx)
	}
	if s.n < len(s.r.events) {
		s.n++
		return s.r.events[s.n-1], nil
	}
	if s.r.hang {
		<-s.ctx.Done()
		return nil, context.Cause(s.ctx)
	}
	if s.r.end != nil {
		return nil, s.r.end
	}
	return nil, io.EOF
}

func (s *fakeStream) Close() error {
	s.u.mu.Lock()
	defer s.u.mu.Unlock()
	s.u.open--
	return nil
}

// ledger is a Recorder in memory. With fail set, every write fails.
type ledger struct {
	mu       sync.Mutex
	attempts []journal.Attempt
	events   []journal.Event
	fail     error
}

func (l *ledger) StartAttempt(_ context.Context, a journal.Attempt) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.ID = int64(len(l.attempts) + 1)
	l.attempts = append(l.attempts, a)
	return a.ID, l.fail
}

func (l *ledger) SettleAttempt(_ context.Context, a journal.Attempt) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attempts[a.ID-1] = a
	return l.fail
}

func (l *ledger) Append(_ context.Context, attempt int64, events ...journal.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range events {
		e.Attempt = attempt
		l.events = append(l.events, e)
	}
	return l.fail
}

// types lists the types of events, for those that are asked for.
func (l *ledger) types(of ...abi.EventType) string {
	var out []string
	for _, e := range l.events {
		for _, t := range of {
			if e.Type == t {
				out = append(out, string(t))
			}
		}
	}
	return strings.Join(out, " ")
}

// data joins the data of all events of a type.
func (l *ledger) data(of abi.EventType) string {
	var out []string
	for _, e := range l.events {
		if e.Type == of {
			out = append(out, string(e.Data))
		}
	}
	return strings.Join(out, "\n")
}

// outcomes lists candidate, mode and outcome of each attempt.
func (l *ledger) outcomes() string {
	var out []string
	for _, a := range l.attempts {
		mode := "whole"
		if a.Streaming {
			mode = "stream"
		}
		out = append(out, fmt.Sprintf("%s/%s %s %s", a.Provider, a.Model, mode, a.Outcome))
	}
	return strings.Join(out, "; ")
}

// result is what a run gave.
type result struct {
	reliability.Answer
	ledger *ledger
	took   time.Duration
}

// outcomes lists the attempts as they are stored in the end.
func (r result) outcomes() string {
	if r.Unsettled != nil {
		r.ledger.attempts[r.Unsettled.ID-1] = *r.Unsettled
	}
	return r.ledger.outcomes()
}

// said joins all decisions, those too that the caller has still to store.
func (r result) said() string {
	all := ledger{events: append(r.ledger.events, r.Events...)}
	return all.data(journal.EventDecision)
}

// candidate returns a candidate with its own keys and breaker.
func candidate(name string, replies ...reply) (*reliability.Candidate, *upstream) {
	u := &upstream{name: name, replies: replies}
	return &reliability.Candidate{
		Profile: "p", Provider: name, Model: "m", Upstream: u,
		Policy:  reliability.Policy{Retries: 2, Backoff: 500 * time.Millisecond, RetryAfterMax: time.Minute, KeyCooldown: time.Minute},
		Keys:    reliability.NewKeys(),
		Breaker: &reliability.Breaker{},
	}, u
}

// run asks a chain of candidates in fake time, with the least jitter.
func run(t *testing.T, ctx context.Context, cs ...*reliability.Candidate) result { //nolint:revive // the test comes first here
	t.Helper()
	return runPrompt(t, ctx, &reliability.Prompt{}, cs...)
}

func runPrompt(t *testing.T, ctx context.Context, p *reliability.Prompt, cs ...*reliability.Candidate) result { //nolint:revive // as above
	t.Helper()
	l := &ledger{}
	c := reliability.Chain{Candidates: cs, Random: func() float64 { return 0 }}
	start := time.Now()
	a, err := c.Run(ctx, l, "t_1", 1, p)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return result{Answer: a, ledger: l, took: time.Since(start)}
}

// bubble runs a test in fake time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func text(s string) abi.Event    { return abi.Event{Type: abi.EventText, Text: s} }
func thought(s string) abi.Event { return abi.Event{Type: abi.EventReasoning, Text: s} }
func finish(r abi.FinishReason) abi.Event {
	return abi.Event{Type: abi.EventFinish, Reason: r}
}
func done() abi.Event { return abi.Event{Type: abi.EventDone} }

func toolCall(index *int64, id, name, args string) abi.Event {
	return abi.Event{Type: abi.EventToolCall, Index: index, ID: id, Name: name, Arguments: args}
}

func at(n int64) *int64 { return &n }

// good is a whole answer.
func good(s string) reply {
	return reply{events: [][]abi.Event{{text(s)}, {finish(abi.FinishStop), done()}}}
}

// cut is a connection that closes after these events.
func cut(events ...abi.Event) reply {
	if len(events) == 0 {
		return reply{}
	}
	return reply{events: [][]abi.Event{events}}
}

func failing(class abi.FailureClass) reply { return reply{open: &abi.Failure{Class: class}} }

var errDisk = errors.New("disk full")
