package turn

import (
	"context"
	"fmt"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
)

const (
	// defaultIterations is how often the model is asked in one turn.
	defaultIterations = 25
	// maxPauses is how often an answer that the provider paused is asked to go
	// on (C042).
	maxPauses = 5
)

// loop asks the model, runs the tools that it calls, and asks again, until
// there is an answer without calls, or a reason to stop. The error is that of
// the journal.
func (w *work) loop(ctx context.Context) (ending, error) {
	for i := 1; ; i++ {
		w.made = 0
		a, err := w.ask(ctx, i)
		if err != nil {
			return end(a, context.Cause(ctx)), err
		}
		switch {
		case a.State == reliability.Complete && calls(a.Parts) > 0:
			stop, err := w.useTools(ctx, i, &a)
			if err != nil {
				return w.broken(&a, err), err
			}
			if stop != nil {
				return *stop, nil
			}
		case a.State == reliability.Incomplete && a.Finish == abi.FinishPause && w.pauses < maxPauses && len(uncalled(a.Parts)) > 0:
			if err := w.goOn(ctx, &a); err != nil {
				return w.broken(&a, err), err
			}
		default:
			return end(a, context.Cause(ctx)), nil
		}
	}
}

// ask asks the chain once. When the model's window is too small, it makes the
// history shorter, once a turn, and asks again (REL-7).
func (w *work) ask(ctx context.Context, iteration int) (reliability.Answer, error) {
	if !w.compacted && w.tooLong() {
		if err := w.compact(ctx, "the history would fill the model's window"); err != nil {
			return reliability.Answer{State: reliability.Failed}, err
		}
	}
	a, err := w.request(ctx, iteration, w.live.noStream)
	if err != nil || w.compacted || !overflowed(&a) {
		return a, err
	}
	was := len(w.history.messages)
	if err := w.settle(ctx, &a); err != nil {
		return a, err
	}
	if err := w.compact(ctx, "the model says that the history is too long"); err != nil || len(w.history.messages) == was {
		return a, err
	}
	return w.request(ctx, iteration, true)
}

func (w *work) request(ctx context.Context, iteration int, noStream bool) (reliability.Answer, error) {
	p := &reliability.Prompt{
		System: w.agent.System, Messages: w.history.messages, NoStream: noStream, Earlier: w.made,
	}
	if w.tools != nil {
		p.Tools = w.tools.Specs()
	}
	a, err := w.agent.Chain.Run(ctx, w.rec, w.turn.ID, iteration, p)
	w.made = a.Attempts
	return a, err
}

// overflowed reports whether the chain ended because the prompt was too long
// for the model.
func overflowed(a *reliability.Answer) bool {
	if a.State != reliability.Failed || a.Err == nil || len(a.Err.Attempts) == 0 {
		return false
	}
	return a.Err.Attempts[len(a.Err.Attempts)-1].Outcome == string(abi.FailureContextOverflow)
}

// settle stores the outcome of the chain's last attempt when the turn goes on.
func (w *work) settle(ctx context.Context, a *reliability.Answer) error {
	ctx = context.WithoutCancel(ctx)
	if a.Unsettled != nil {
		if err := w.rec.SettleAttempt(ctx, *a.Unsettled); err != nil {
			return fmt.Errorf("store outcome of attempt: %w", err)
		}
		a.Unsettled = nil
	}
	return w.tell(ctx, a)
}

// tell shows what the chain left to its caller: the end of the last attempt.
func (w *work) tell(ctx context.Context, a *reliability.Answer) error {
	for len(a.Events) > 0 {
		if err := w.rec.Append(ctx, a.Events[0].Attempt, a.Events[0]); err != nil {
			return err
		}
		a.Events = a.Events[1:]
	}
	return nil
}

// goOn keeps an answer that the provider paused, as it is, so that the next
// request asks for the rest.
func (w *work) goOn(ctx context.Context, a *reliability.Answer) error {
	w.pauses++
	ctx = context.WithoutCancel(ctx)
	m := journal.Message{Turn: w.turn.ID, Role: abi.RoleAssistant, Parts: uncalled(a.Parts), Candidate: a.Candidate.Name()}
	err := w.engine.journal.Write(ctx, journal.StepSettle, func(tx *journal.Tx) error {
		if a.Unsettled != nil {
			if err := tx.SettleAttempt(*a.Unsettled); err != nil {
				return err
			}
		}
		_, err := tx.AddMessage(m)
		return err
	})
	if err != nil {
		return fmt.Errorf("store paused answer: %w", err)
	}
	a.Unsettled = nil
	a.Events = append(a.Events, decision("STR-5", "the provider paused the answer: it is asked to go on"))
	w.history.add(abi.Message{Role: m.Role, Parts: m.Parts}, a.Candidate.Provider)
	return w.tell(ctx, a)
}

// broken is the ending of a turn in which the journal failed between two
// requests. An answer that could not be stored until then is stored with it, as
// far as it was visible: no call of it has run.
func (w *work) broken(a *reliability.Answer, err error) ending {
	e := failed(fmt.Errorf("the turn could not be recorded: %w", err))
	e.finish.Fallback = a.Fallback
	if a.Candidate != nil {
		e.finish.Candidate = a.Candidate.Name()
	}
	if a.Unsettled == nil {
		return e
	}
	e.attempt = a.Unsettled
	e.events = append(append([]journal.Event(nil), a.Events...), e.events...)
	if m := message(*a); m != nil {
		e.message = &journal.Message{Role: m.Role, Parts: m.Parts, Marker: e.finish.Marker, Candidate: e.finish.Candidate}
	}
	return e
}

// limit is the ending of a turn that is stopped by a limit of the host's.
func limit(a *reliability.Answer, mark marker.Code, rule, why string) *ending {
	e := ending{finish: journal.Finish{State: journal.Incomplete, Marker: string(mark), Fallback: a.Fallback}}
	told := Ended{State: journal.Incomplete, Marker: string(mark), Fallback: a.Fallback}
	if a.Candidate != nil {
		e.finish.Candidate = a.Candidate.Name()
		told.Candidate = e.finish.Candidate
	}
	e.events = append(e.events, decision(rule, why), event(journal.EventTurnEnded, told))
	return &e
}
