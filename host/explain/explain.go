// Package explain tells from the journal alone what happened in a turn and why
// (GDR-1): what was seen, each request to a model, which rules decided, what
// was billed, and what can be done next.
package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// Reader is what is needed of the journal; *journal.Reader is one.
type Reader interface {
	Turn(ctx context.Context, id string) (journal.Turn, error)
	Attempts(ctx context.Context, turn string) ([]journal.Attempt, error)
	Events(ctx context.Context, turn string, after int64, limit int) ([]journal.Event, error)
	Calls(ctx context.Context, turn string) ([]journal.ToolCall, error)
	Approvals(ctx context.Context, turn string) ([]journal.Approval, error)
	// Turns says whether the turn is the newest of its session.
	Turns(ctx context.Context, f journal.TurnFilter) ([]journal.Turn, error)
}

// maxMessage is how much is shown of what the person wrote, in characters.
const maxMessage = 400

// Explanation is everything that there is to say about a turn. Its JSON is
// what `zchost why --json` prints.
type Explanation struct {
	// Summary is one sentence.
	Summary string `json:"summary"`
	Turn    Turn   `json:"turn"`
	Seen    Seen   `json:"seen"`
	// Attempts are the requests to models in order.
	Attempts []Attempt `json:"attempts"`
	// Tools are the calls of tools in order.
	Tools []Tool `json:"tools"`
	// Warnings are those of the turn; those of an attempt are there.
	Warnings []string `json:"warnings,omitempty"`
	// Decisions are what the host decided, and by which rule.
	Decisions []Decision `json:"decisions"`
	Usage     Usage      `json:"usage"`
	// Next is what can be done now, the most useful first.
	Next []string `json:"next"`

	newest bool // no turn of the session came after it
}

// Turn is the turn itself.
type Turn struct {
	ID      string        `json:"id"`
	Session string        `json:"session"`
	Agent   string        `json:"agent"`
	Surface string        `json:"surface,omitempty"`
	State   journal.State `json:"state"`
	// Marker is the code of the marker that it ended with.
	Marker string `json:"marker,omitempty"`
	// Message is what the person wrote, cut at 400 characters.
	Message string `json:"message"`
	// Candidate is the "provider/model" whose text the answer is, Fallback
	// says that it was not the first that was to be asked.
	Candidate string `json:"candidate,omitempty"`
	Fallback  bool   `json:"fallback,omitempty"`
	// Class and Error are why it failed.
	Class string `json:"class,omitempty"`
	Error string `json:"error,omitempty"`
	// After is the turn that it goes on from or asks again, Relation which of
	// both.
	After    string           `json:"after,omitempty"`
	Relation journal.Relation `json:"relation,omitempty"`
	// Hidden says that it was asked again since, Discarded that its partial
	// answer was dropped: the model no longer sees that.
	Hidden    bool `json:"hidden,omitempty"`
	Discarded bool `json:"discarded,omitempty"`
	// WaitMS is how long a provider asks to wait before the next try.
	WaitMS  int64      `json:"wait_ms,omitempty"`
	Created time.Time  `json:"created"`
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
}

// Seen counts what may have reached someone.
type Seen struct {
	// Text and Reasoning are characters.
	Text      int `json:"text"`
	Reasoning int `json:"reasoning"`
	// ProviderTools are tools that the provider ran by itself.
	ProviderTools int `json:"provider_tools"`
}

// Any reports whether anything was seen.
func (s Seen) Any() bool { return s != Seen{} }

// Attempt is one request to a model.
type Attempt struct {
	Number    int    `json:"number"`
	Iteration int    `json:"iteration"`
	Candidate string `json:"candidate"`
	Profile   string `json:"profile"`
	// Served is the model that answered, if it is another than was asked for.
	Served      string `json:"served,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`
	Streaming   bool   `json:"streaming"`
	// Key is the label of the key.
	Key string `json:"key,omitempty"`
	// WaitMS is how long was waited before it.
	WaitMS    int64               `json:"wait_ms"`
	Outcome   string              `json:"outcome"`
	Status    int                 `json:"status,omitempty"`
	Code      string              `json:"code,omitempty"`
	Message   string              `json:"message,omitempty"`
	RequestID string              `json:"request_id,omitempty"`
	Warning   string              `json:"warning,omitempty"`
	Usage     abi.Usage           `json:"usage"`
	Source    journal.UsageSource `json:"usage_source"`
	// Price is absent if there is none (CST-3).
	Price   *Price     `json:"price,omitempty"`
	Seen    Seen       `json:"seen"`
	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended,omitempty"`
}

// Decision is what the host decided.
type Decision struct {
	// Event is the number of the event that says so.
	Event int64 `json:"event"`
	// Iteration and Attempt are the number of the attempt that it follows; 0
	// for none.
	Iteration int    `json:"iteration,omitempty"`
	Attempt   int    `json:"attempt,omitempty"`
	Rule      string `json:"rule"`
	Text      string `json:"text"`
}

// Explain reads a turn. The error for a turn that is not there wraps
// journal.ErrNotFound.
func Explain(ctx context.Context, r Reader, id string) (Explanation, error) {
	t, err := r.Turn(ctx, id)
	if err != nil {
		return Explanation{}, fmt.Errorf("explain turn: %w", err)
	}
	e := Explanation{Turn: turnOf(t), Decisions: []Decision{}}
	if err := e.read(ctx, r, t); err != nil {
		return Explanation{}, fmt.Errorf("explain turn %s: %w", id, err)
	}
	e.Summary = e.summary()
	e.Next = e.next()
	return e, nil
}

// read reads all that the journal has about the turn.
func (e *Explanation) read(ctx context.Context, r Reader, t journal.Turn) error {
	rows, err := r.Attempts(ctx, t.ID)
	if err != nil {
		return err
	}
	e.Attempts = make([]Attempt, len(rows))
	index := make(map[int64]*Attempt, len(rows))
	for i := range rows {
		e.Attempts[i] = attemptOf(&rows[i])
		index[rows[i].ID] = &e.Attempts[i]
		e.Usage.add(&rows[i])
	}
	calls, err := r.Calls(ctx, t.ID)
	if err != nil {
		return err
	}
	approvals, err := r.Approvals(ctx, t.ID)
	if err != nil {
		return err
	}
	e.Tools = toolsOf(calls, approvals)
	newest, err := r.Turns(ctx, journal.TurnFilter{Session: t.SessionID, Limit: 1})
	if err != nil {
		return err
	}
	e.newest = len(newest) == 1 && newest[0].ID == t.ID
	return e.events(ctx, r, t.ID, index)
}

// events reads all events, a page at a time, and keeps only numbers of them.
func (e *Explanation) events(ctx context.Context, r Reader, id string, attempts map[int64]*Attempt) error {
	const page = 1000
	for after := int64(0); ; {
		events, err := r.Events(ctx, id, after, page)
		if err != nil {
			return err
		}
		for i := range events {
			e.event(&events[i], attempts[events[i].Attempt])
			after = events[i].N
		}
		if len(events) < page {
			return nil
		}
	}
}

// event takes an event in; a is the attempt that it belongs to, if any.
func (e *Explanation) event(ev *journal.Event, a *Attempt) {
	e.Seen.add(ev)
	if a != nil {
		a.Seen.add(ev)
	}
	switch ev.Type {
	case journal.EventDecision:
		d := Decision{Event: ev.N}
		if json.Unmarshal(ev.Data, &d) != nil {
			return // from another version, which says it in another way
		}
		if a != nil {
			d.Iteration, d.Attempt = a.Iteration, a.Number
		}
		e.Decisions = append(e.Decisions, d)
	case journal.EventWarning:
		var w struct {
			Code string `json:"code"`
			Text string `json:"text"`
		}
		if a == nil && json.Unmarshal(ev.Data, &w) == nil {
			e.Warnings = append(e.Warnings, joined(w.Code, w.Text))
		}
	case journal.EventTurnEnded:
		var end struct {
			Fallback bool  `json:"fallback"`
			WaitMS   int64 `json:"wait_ms"`
		}
		if json.Unmarshal(ev.Data, &end) == nil {
			e.Turn.Fallback, e.Turn.WaitMS = end.Fallback, end.WaitMS
		}
	default:
	}
}

func (s *Seen) add(ev *journal.Event) {
	switch ev.Type {
	case abi.EventText:
		s.Text += utf8.RuneCountInString(ev.Text)
	case abi.EventReasoning:
		s.Reasoning += utf8.RuneCountInString(ev.Text)
	case abi.EventProviderTool:
		s.ProviderTools++
	default:
	}
}

func turnOf(t journal.Turn) Turn {
	return Turn{
		ID: t.ID, Session: t.Session, Agent: t.Agent, Surface: t.Surface, State: t.State, Marker: t.Marker,
		Message: shorten(t.Text, maxMessage), Candidate: t.Candidate,
		Class: string(t.Error.Class), Error: t.Error.Message,
		After: t.After, Relation: t.Relation, Hidden: t.Hidden, Discarded: t.Discarded,
		Created: t.Created, Started: known(t.Started), Ended: known(t.Ended),
	}
}

func attemptOf(a *journal.Attempt) Attempt {
	e := Attempt{
		Number: a.Number, Iteration: a.Iteration, Candidate: a.Provider + "/" + a.Model, Profile: a.Profile,
		Served: a.Served, Fingerprint: a.Fingerprint, Streaming: a.Streaming, Key: a.KeyLabel,
		WaitMS: a.Wait.Milliseconds(), Outcome: a.Outcome, Status: a.Status, Code: a.Code, Message: a.Message,
		RequestID: a.RequestID, Warning: a.Warning, Usage: a.Usage, Source: a.UsageSource,
		Price: priceOf(a), Started: a.Started, Ended: known(a.Ended),
	}
	if e.Served == a.Model {
		e.Served = ""
	}
	if e.Source == "" {
		e.Source = journal.UsageUnknown
	}
	return e
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// shorten puts text on one line of at most n characters.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
