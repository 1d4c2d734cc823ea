package turn

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/sink"
)

// run takes one turn from its start to its end.
func (e *Engine) run(t journal.Turn, l *live) {
	end, answer := e.answer(t, l)
	end.finish.Turn = t.ID
	err := e.persist(func(ctx context.Context) error {
		return l.sink.Finish(ctx, func(tx *journal.Tx) error { return end.store(tx) }, end.events...)
	})
	if err != nil {
		e.log.Error("cannot store the end of a turn; it is settled at the next start", "turn", t.ID, "error", err)
		l.sink.Abandon(err)
		e.history.forget(t.SessionID)
		return
	}
	e.history.answered(t, answer, end.finish.Marker)
}

// answer asks the chain. It returns how the turn ends, and the assistant's
// message, nil if there is none.
func (e *Engine) answer(t journal.Turn, l *live) (ending, *abi.Message) {
	prompted := false
	defer func() {
		if !prompted { // the history in memory lacks this turn's message (MRK-4)
			e.history.forget(t.SessionID)
		}
	}()
	agent, err := e.agents.Agent(l.ctx, t.Agent)
	if err != nil {
		return failed(abi.FailureUnknown, err), nil
	}
	defer release(agent)
	if l.ctx.Err() != nil {
		return end(reliability.Answer{State: reliability.Cancelled}, context.Cause(l.ctx))
	}
	rec := recorder{sink: l.sink, journal: e.journal}
	err = rec.Append(context.WithoutCancel(l.ctx), 0, journal.Event{Type: journal.EventTurnStarted})
	if err != nil {
		return failed(abi.FailureUnknown, err), nil
	}
	messages, err := e.history.prompt(l.ctx, e.journal, t)
	if err != nil {
		return failed(abi.FailureUnknown, err), nil
	}
	prompted = true
	a, err := agent.Chain.Run(l.ctx, rec, t.ID, 1, &reliability.Prompt{
		System: agent.System, Messages: messages, NoStream: l.noStream,
	})
	if err != nil {
		e.log.Error("the journal failed while a turn ran", "turn", t.ID, "error", err)
	}
	return end(a, context.Cause(l.ctx))
}

func release(a *Agent) {
	if a.Release != nil {
		a.Release()
	}
}

// recorder stores what the chain does, through the turn's sink.
type recorder struct {
	sink    *sink.Sink
	journal *journal.Journal
}

// StartAttempt stores the row before the request leaves (CST-1).
func (r recorder) StartAttempt(ctx context.Context, a journal.Attempt) (id int64, err error) {
	err = r.journal.Write(ctx, journal.StepAttempt, func(tx *journal.Tx) error {
		id, err = tx.InsertAttempt(a)
		return err
	})
	return id, err
}

// SettleAttempt stores how an attempt went.
func (r recorder) SettleAttempt(ctx context.Context, a journal.Attempt) error {
	return r.journal.Write(ctx, journal.StepSettle, func(tx *journal.Tx) error { return tx.SettleAttempt(a) })
}

// Append stores and shows events.
func (r recorder) Append(ctx context.Context, attempt int64, events ...journal.Event) error {
	return r.sink.Append(ctx, attempt, events...)
}

// Ended is the data of the event of type journal.EventTurnEnded.
type Ended struct {
	State     journal.State `json:"state"`
	Marker    string        `json:"marker,omitempty"`
	Candidate string        `json:"candidate,omitempty"`
	// Fallback says that the answer is not of the first candidate (CST-4).
	Fallback bool `json:"fallback,omitempty"`
	// Class and Error tell why there is no complete answer.
	Class string `json:"class,omitempty"`
	Error string `json:"error,omitempty"`
	// WaitMS is how long the provider asks to wait before the next try.
	WaitMS int64 `json:"wait_ms,omitempty"`
	// Finish is the provider's own word for why the model stopped, when it is
	// not one that the plugin knows.
	Finish string `json:"finish,omitempty"`
}

func (d Ended) event() journal.Event {
	b, err := json.Marshal(d)
	if err != nil {
		b = nil // cannot be: the type is ours and always encodes
	}
	return journal.Event{Type: journal.EventTurnEnded, Data: b}
}

// causeText returns what a cancellation was for, "" if it was none of ours.
func causeText(err error) string {
	var c *Cause
	if errors.As(err, &c) {
		return c.text
	}
	return ""
}
