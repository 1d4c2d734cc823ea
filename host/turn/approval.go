package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// defaultApprovalTimeout is how long a person's word is waited for.
const defaultApprovalTimeout = 5 * time.Minute

// ByNobody begins the name of who answered when no answer could be got, as
// from a terminal that is gone. It is a no, but no person's.
const ByNobody = "nobody"

// approve waits for a person's word about a call. ok is false if the call is
// not to run: then it is refused, and that is stored. The error is the
// journal's.
func (w *work) approve(ctx context.Context, b *batch, c *call) (ok bool, err error) {
	record := context.WithoutCancel(ctx)
	if !w.live.canApprove {
		c.refuse("not approved", "Not run: this call needs a person's approval, and nobody can be asked here.")
		return false, w.store(record, b, c)
	}
	answer, err := w.question(ctx, c)
	if err != nil {
		return false, err
	}
	if err := w.rec.Append(record, 0, event(journal.EventApprovalAnswered, answer)); err != nil {
		return false, err
	}
	switch answer.State {
	case journal.ApprovalApproved:
		return ctx.Err() == nil, nil
	case journal.ApprovalDenied:
		if strings.HasPrefix(answer.By, ByNobody) {
			c.refuse("not approved", "Not run: this call needs a person's approval, and nobody can be asked any more.")
			break
		}
		c.refuse("denied", "Not run: the person did not allow this call. Do not try it again in another way; ask what to do instead.")
	case journal.ApprovalExpired:
		c.refuse("expired", "Not run: nobody answered whether this call is allowed.")
	case journal.ApprovalCancelled, journal.ApprovalPending:
		return false, nil // the turn is over, and the call is closed with it
	}
	return false, w.store(record, b, c)
}

// question stores the question, shows it, and waits for its end: an answer, the
// time, or the end of the turn.
func (w *work) question(ctx context.Context, c *call) (ApprovalAnswered, error) {
	record := context.WithoutCancel(ctx)
	answers := w.engine.listen(c.row.ID)
	defer w.engine.unlisten(c.row.ID)
	timeout := w.agent.ApprovalTimeout
	if timeout <= 0 {
		timeout = defaultApprovalTimeout
	}
	expires := time.Now().Add(timeout)
	err := w.engine.journal.Write(record, journal.StepApproval, func(tx *journal.Tx) error {
		return tx.AskApproval(journal.Approval{Call: c.row.ID, Turn: w.turn.ID, Expires: expires})
	})
	if err != nil {
		return ApprovalAnswered{}, fmt.Errorf("store question: %w", err)
	}
	err = w.rec.Append(record, 0, event(journal.EventApprovalAsked, ApprovalAsked{
		Call: c.row.ID, Name: c.row.Name, Arguments: c.row.Arguments, Effect: c.row.Effect, Expires: expires.UnixMilli(),
	}))
	if err != nil {
		return ApprovalAnswered{}, err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a, nil
	case <-timer.C:
		return w.engine.giveUp(record, c.row.ID, journal.ApprovalExpired, answers)
	case <-ctx.Done():
		return w.engine.giveUp(record, c.row.ID, journal.ApprovalCancelled, answers)
	}
}

// giveUp ends a question that nobody answered. If somebody did at the same
// moment, that counts.
func (e *Engine) giveUp(ctx context.Context, call string, state journal.ApprovalState, answers <-chan ApprovalAnswered) (ApprovalAnswered, error) {
	err := e.decide(ctx, call, state, "")
	if errors.Is(err, journal.ErrAnswered) {
		return <-answers, nil
	}
	return ApprovalAnswered{Call: call, State: state}, err
}

// listen makes a call's question one that Answer finds.
func (e *Engine) listen(call string) <-chan ApprovalAnswered {
	e.mu.Lock()
	defer e.mu.Unlock()
	answers := make(chan ApprovalAnswered, 1)
	e.asked[call] = answers
	return answers
}

func (e *Engine) unlisten(call string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.asked, call)
}

// decide stores the end of a question; only the first one counts.
func (e *Engine) decide(ctx context.Context, call string, state journal.ApprovalState, by string) error {
	err := e.journal.Write(ctx, journal.StepApproval, func(tx *journal.Tx) error { return tx.AnswerApproval(call, state, by) })
	if err != nil {
		return fmt.Errorf("store answer: %w", err)
	}
	return nil
}

// Answer says whether a call that waits for approval may run; by names who says
// so. Only the first answer counts: a later one gets journal.ErrAnswered.
func (e *Engine) Answer(ctx context.Context, call string, allow bool, by string) error {
	e.mu.Lock()
	answers := e.asked[call]
	e.mu.Unlock()
	if answers == nil {
		return fault.New(fault.NotFound, fmt.Sprintf("no call %q waits for an approval", call), "it was answered, it expired, or its turn is over")
	}
	state := journal.ApprovalDenied
	if allow {
		state = journal.ApprovalApproved
	}
	if err := e.decide(ctx, call, state, by); err != nil {
		return err
	}
	answers <- ApprovalAnswered{Call: call, State: state, By: by} // has room: only one is stored
	return nil
}
