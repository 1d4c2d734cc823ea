package explain_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/turn"
)

// story is a journal made by hand, with one turn in it.
type story struct {
	turn     journal.Turn
	attempts []journal.Attempt
	events   []journal.Event
	calls    []journal.ToolCall
	asked    []journal.Approval
	later    bool // the session went on
}

func (s *story) Turn(_ context.Context, id string) (journal.Turn, error) {
	if id != s.turn.ID {
		return journal.Turn{}, journal.ErrNotFound
	}
	return s.turn, nil
}

func (s *story) Attempts(context.Context, string) ([]journal.Attempt, error) { return s.attempts, nil }

func (s *story) Events(_ context.Context, _ string, after int64, limit int) ([]journal.Event, error) {
	rest := s.events[after:]
	return rest[:min(limit, len(rest))], nil
}

func (s *story) Calls(context.Context, string) ([]journal.ToolCall, error) { return s.calls, nil }

func (s *story) Approvals(context.Context, string) ([]journal.Approval, error) { return s.asked, nil }

func (s *story) Turns(context.Context, journal.TurnFilter) ([]journal.Turn, error) {
	if s.later {
		return []journal.Turn{{ID: "t_later"}}, nil
	}
	return []journal.Turn{s.turn}, nil
}

// call adds a tool call to the iteration of the last attempt.
func (s *story) call(name, arguments string, effect abi.Effect, state journal.CallState, change ...func(*journal.ToolCall)) *story {
	iteration := s.attempts[len(s.attempts)-1].Iteration
	n := 1
	for _, c := range s.calls {
		if c.Iteration == iteration {
			n++
		}
	}
	c := journal.ToolCall{
		ID: fmt.Sprintf("%s.%d.%d", s.turn.ID, iteration, n), Turn: s.turn.ID, Iteration: iteration, N: n, Name: name, Arguments: arguments,
		Effect: effect, Source: "core", State: state, Requested: s.turn.Created.Add(time.Second),
	}
	if state != journal.CallRequested && state != journal.CallRefused {
		c.Started = s.turn.Created.Add(2 * time.Second)
	}
	if state.Ended() {
		c.Ended = s.turn.Created.Add(2*time.Second + 30*time.Millisecond)
	}
	for _, f := range change {
		f(&c)
	}
	s.calls = append(s.calls, c)
	return s
}

// answered adds the question about the last call.
func (s *story) answered(state journal.ApprovalState, by string) *story {
	a := journal.Approval{
		Call: s.calls[len(s.calls)-1].ID, Turn: s.turn.ID, State: state, By: by,
		Asked: s.turn.Created.Add(time.Second), Expires: s.turn.Created.Add(301 * time.Second),
	}
	if state != journal.ApprovalPending {
		a.Answered = a.Asked.Add(1500 * time.Millisecond)
	}
	s.asked = append(s.asked, a)
	return s
}

func result(text string, isError bool) func(*journal.ToolCall) {
	return func(c *journal.ToolCall) { c.Result, c.IsError = text, isError }
}

func reason(text string) func(*journal.ToolCall) {
	return func(c *journal.ToolCall) { c.Reason = text }
}

func iteration(n int) func(*journal.Attempt) {
	return func(a *journal.Attempt) { a.Iteration, a.Number = n, 1 }
}

func price(nano int64, currency string) func(*journal.Attempt) {
	return func(a *journal.Attempt) { a.Price, a.Currency = &nano, currency }
}

// warn adds a warning of the turn.
func (s *story) warn(code, text string) *story {
	s.add(journal.Event{Type: journal.EventWarning, Data: encoded(reliability.Warning{Code: code, Text: text})})
	s.events[len(s.events)-1].Attempt = 0
	return s
}

// change changes the turn.
func (s *story) change(f func(*story)) *story {
	f(s)
	return s
}

// begin starts a story with what the person wrote.
func begin(text string) *story {
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	return &story{turn: journal.Turn{
		ID: "t_01jnm2c3d4e5f6g7h8j9k0mnpq", SessionID: 1, Session: "main", Agent: "main", Seq: 1,
		State: journal.Running, Text: text, Surface: "terminal", Created: at, Started: at,
	}}
}

// ask adds an attempt that streams if it is the first, and lasts a second.
func (s *story) ask(candidate, outcome string, change ...func(*journal.Attempt)) *story {
	provider, model, _ := strings.Cut(candidate, "/")
	n := len(s.attempts) + 1
	a := journal.Attempt{
		ID: int64(100 + n), Turn: s.turn.ID, Iteration: 1, Number: n, Profile: "fast", Provider: provider, Model: model,
		Served: model, Fingerprint: "openai-chat@0.1.0#1a2b3c4d", Streaming: n == 1, KeyLabel: "env:OPENAI_API_KEY",
		Started: s.turn.Created.Add(time.Duration(n) * 2 * time.Second), Outcome: outcome, Status: 200,
		RequestID: "req_" + string(rune('0'+n)), UsageSource: journal.UsageUnknown,
	}
	if outcome != journal.OutcomeUnknown {
		a.Ended = a.Started.Add(time.Second)
	}
	for _, c := range change {
		c(&a)
	}
	s.attempts = append(s.attempts, a)
	return s
}

// add adds an event of the last attempt.
func (s *story) add(e journal.Event) *story {
	e.N = int64(len(s.events) + 1)
	if n := len(s.attempts); n > 0 {
		e.Attempt = s.attempts[n-1].ID
	}
	s.events = append(s.events, e)
	return s
}

// queue makes the turn wait.
func (s *story) queue() *story {
	s.turn.State, s.turn.Started = journal.Queued, time.Time{}
	return s
}

func (s *story) text(text string) *story {
	return s.add(journal.Event{Type: abi.EventText, Text: text})
}

func (s *story) reasoning(text string) *story {
	return s.add(journal.Event{Type: abi.EventReasoning, Text: text})
}

// decide adds a decision as the chain writes it.
func (s *story) decide(rule, text string) *story {
	return s.add(journal.Event{Type: journal.EventDecision, Data: encoded(reliability.Decision{Rule: rule, Text: text})})
}

// end ends the turn as the engine writes it.
func (s *story) end(e turn.Ended) *story {
	s.turn.State, s.turn.Marker, s.turn.Candidate = e.State, e.Marker, e.Candidate
	s.turn.Error = journal.TurnError{Class: abi.FailureClass(e.Class), Message: e.Error}
	s.turn.Ended = s.turn.Created.Add(4200 * time.Millisecond)
	return s.add(journal.Event{Type: journal.EventTurnEnded, Data: encoded(e)})
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // the tests' own types always encode
	}
	return b
}

func status(code int, message string) func(*journal.Attempt) {
	return func(a *journal.Attempt) { a.Status, a.Message, a.Served = code, message, "" }
}

func waited(d time.Duration) func(*journal.Attempt) {
	return func(a *journal.Attempt) { a.Wait = d }
}

func usage(source journal.UsageSource, input, output int64) func(*journal.Attempt) {
	return func(a *journal.Attempt) {
		a.UsageSource = source
		if input >= 0 {
			a.Usage.Input = &input
		}
		if output >= 0 {
			a.Usage.Output = &output
		}
	}
}
