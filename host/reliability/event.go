package reliability

import (
	"encoding/json"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// AttemptStarted is the data of an event of type journal.EventAttemptStarted.
type AttemptStarted struct {
	Number    int    `json:"number"`
	Candidate string `json:"candidate"`
	Streaming bool   `json:"streaming"`
	Key       string `json:"key,omitempty"`
}

// AttemptEnded is the data of an event of type journal.EventAttemptEnded.
type AttemptEnded struct {
	Number    int    `json:"number"`
	Candidate string `json:"candidate"`
	Outcome   string `json:"outcome"`
	Status    int    `json:"status,omitempty"`
	Message   string `json:"message,omitempty"`
}

// Retry is the data of events of type journal.EventRetrying and
// journal.EventFallingBack. Such an event is stored only when the request that
// it speaks of is about to be sent (REL-11).
type Retry struct {
	Candidate string `json:"candidate"`
	After     string `json:"after"`
	WaitMS    int64  `json:"wait_ms,omitempty"`
}

// Decision is the data of an event of type journal.EventDecision: which rule
// said what happens after an attempt.
type Decision struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// Warning is the data of an event of type journal.EventWarning.
type Warning struct {
	Code string `json:"code"`
	// Text tells more; may be empty.
	Text string `json:"text,omitempty"`
}

// event returns an event with data. The data are this package's own types,
// which always encode.
func event(typ abi.EventType, data any) journal.Event {
	b, err := json.Marshal(data)
	if err != nil {
		b = nil
	}
	return journal.Event{Type: typ, Data: b}
}

func started(a *attempt) journal.Event {
	return event(journal.EventAttemptStarted, AttemptStarted{
		Number: a.row.Number, Candidate: a.cand.Name(), Streaming: a.row.Streaming, Key: a.row.KeyLabel,
	})
}

// announce says, as the request goes out, that it is a retry or a fallback.
func (r *run) announce(c *Candidate, wait time.Duration) []journal.Event {
	if len(r.made) == 0 {
		return nil
	}
	last := r.made[len(r.made)-1]
	typ := journal.EventFallingBack
	if last.cand == c {
		typ = journal.EventRetrying
	}
	return []journal.Event{event(typ, Retry{Candidate: c.Name(), After: last.outcome(), WaitMS: wait.Milliseconds()})}
}

// closing returns the events that end an attempt.
func (a *attempt) closing() []journal.Event {
	var events []journal.Event
	if a.row.Warning != "" {
		events = append(events, event(journal.EventWarning, Warning{Code: a.row.Warning}))
	}
	events = append(events, event(journal.EventAttemptEnded, AttemptEnded{
		Number: a.row.Number, Candidate: a.cand.Name(), Outcome: a.row.Outcome, Status: a.row.Status, Message: a.row.Message,
	}))
	if a.verdict.rule != "" && a.row.Outcome != journal.OutcomeComplete {
		events = append(events, event(journal.EventDecision, Decision{Rule: a.verdict.rule, Text: a.verdict.why}))
	}
	for i := range events {
		events[i].Attempt = a.row.ID // also where the caller stores them
	}
	return events
}

// stored returns a provider's event as the journal holds it: the text of text
// and reasoning by itself, everything else as the event's JSON.
func stored(e *abi.Event) journal.Event {
	out := journal.Event{Type: e.Type}
	switch e.Type {
	case abi.EventText, abi.EventReasoning:
		out.Text = e.Text
		if e.Signature != "" || e.Opaque != "" {
			out.Data = e.AppendJSON(nil)
		}
	case abi.EventFailure:
		f := abi.Event{Type: e.Type}
		if e.Failure != nil {
			f.Failure = bounded(e.Failure)
		}
		out.Data = f.AppendJSON(nil)
	case abi.EventMeta, abi.EventToolCall, abi.EventProviderTool, abi.EventUsage, abi.EventFinish, abi.EventDone:
		out.Data = e.AppendJSON(nil)
	}
	return out
}
