package turn

import (
	"context"
	"errors"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/sink"
	"github.com/zchost/zchost/host/tool"
)

// work is one turn that runs.
type work struct {
	engine  *Engine
	turn    journal.Turn
	live    *live
	agent   *Agent
	tools   *tool.Set
	rec     recorder
	history *history

	// made counts the attempts of the iteration, compacted says that the
	// history was made shorter once, pauses counts the answers that the
	// provider wanted to be asked to go on.
	made      int
	compacted bool
	pauses    int
	summaries int // requests for a summary
	habits    habits
}

// run takes one turn from its start to its end.
func (e *Engine) run(t journal.Turn, l *live) {
	w := &work{engine: e, turn: t, live: l, rec: recorder{sink: l.sink, journal: e.journal}}
	end := w.answer()
	end.finish.Turn = t.ID
	// The history is put back before the end is stored: as soon as it is, the
	// session's next turn takes it, or the answer is discarded.
	if w.history == nil { // what is kept in memory lacks this turn (MRK-4)
		e.history.forget(t.SessionID)
	} else {
		w.history.end(end.message, end.finish.Marker)
		e.history.put(w.history)
	}
	err := e.persist(func(ctx context.Context) error {
		return l.sink.Finish(ctx, func(tx *journal.Tx) error { return end.store(tx) }, end.events...)
	})
	if err != nil {
		e.log.Error("cannot store the end of a turn; it is settled at the next start", "turn", t.ID, "error", err)
		l.sink.Abandon(err)
		e.history.forget(t.SessionID)
	}
}

// answer makes the turn ready, and goes through its iterations. It returns how
// the turn ends.
func (w *work) answer() ending {
	e, ctx := w.engine, w.live.ctx
	agent, err := e.agents.Agent(ctx, w.turn.Agent)
	if err != nil {
		return failed(err)
	}
	defer release(agent)
	w.agent = agent
	if ctx.Err() != nil {
		return end(reliability.Answer{State: reliability.Cancelled}, context.Cause(ctx))
	}
	if err := w.rec.Append(context.WithoutCancel(ctx), 0, journal.Event{Type: journal.EventTurnStarted}); err != nil {
		return failed(err)
	}
	if err := w.prepare(ctx); err != nil {
		return failed(err)
	}
	end, err := w.loop(ctx)
	if err != nil {
		e.log.Error("the journal failed while a turn ran", "turn", w.turn.ID, "error", err)
		w.history = nil // the journal knows better what happened
	}
	return end
}

// prepare gets the tools and the history.
func (w *work) prepare(ctx context.Context) error {
	if w.agent.Tools != nil {
		tools, warnings := w.agent.Tools(ctx)
		w.tools = tools
		for _, text := range warnings {
			err := w.rec.Append(context.WithoutCancel(ctx), 0, event(journal.EventWarning, reliability.Warning{Code: "tools-missing", Text: text}))
			if err != nil {
				return err
			}
		}
	}
	h, err := w.engine.history.take(ctx, w.engine.journal, w.turn)
	w.history = h
	return err
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

// causeText returns what a cancellation was for, "" if it was none of ours.
func causeText(err error) string {
	var c *Cause
	if errors.As(err, &c) {
		return c.text
	}
	return ""
}
