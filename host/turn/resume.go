package turn

import (
	"context"
	"fmt"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// What a person can do after an interruption (GDR-2).
const (
	// Continue goes on where the earlier turn was interrupted.
	Continue = journal.RelationContinue
	// Retry asks the earlier turn's question once more, as if it had not been
	// asked.
	Retry = journal.RelationRetry
)

// Resume starts a turn that goes on after another one, which has to be the
// newest of its session and ended. m says where it is read and what can be
// done there; session, agent, text and attachments are the earlier turn's.
//
// Continue sends a narrower request: the history with the partial answer and
// its marker, the effects that have already happened, and the instruction not
// to repeat them. Retry sends the original message, and the earlier turn is
// left out of the history. Effects tells what a caller should show before it.
func (e *Engine) Resume(ctx context.Context, id string, how journal.Relation, m Message) (journal.Turn, error) {
	old, err := e.journal.Turn(ctx, id)
	if err != nil {
		return journal.Turn{}, err
	}
	if !old.State.Ended() {
		return journal.Turn{}, fault.New(fault.Usage, "turn "+id+" has not ended", "wait for its end, or cancel it")
	}
	m.Session, m.Agent = old.Session, old.Agent
	a := journal.Admission{After: old.ID, Relation: how}
	switch how {
	case Retry:
		m.Text = old.Text
		if m.Attachments, err = e.journal.Attached(ctx, old.ID); err != nil {
			return journal.Turn{}, err
		}
	case Continue:
		if old.State == journal.Complete {
			return journal.Turn{}, fault.New(fault.Usage, "turn "+id+" has its whole answer", "send a message of your own, or ask it again")
		}
		effects, err := e.Effects(ctx, id)
		if err != nil {
			return journal.Turn{}, err
		}
		m.Text, m.Attachments = instruction(effects), nil
	default:
		return journal.Turn{}, fmt.Errorf("resume turn: no relation %q", how)
	}
	t, _, err := e.admit(ctx, m, a)
	return t, err
}

// Effects returns the calls of a turn that changed something, or may have.
func (e *Engine) Effects(ctx context.Context, id string) ([]journal.ToolCall, error) {
	all, err := e.journal.Calls(ctx, id)
	if err != nil {
		return nil, err
	}
	var out []journal.ToolCall
	for _, c := range all {
		ran := c.State == journal.CallDone || c.State == journal.CallCancelled || c.State == journal.CallUnknown
		if ran && c.Effect == abi.EffectWrite {
			out = append(out, c)
		}
	}
	return out, nil
}

// maxListed is how many effects an instruction lists, the newest ones.
const maxListed = 50

// instruction is the message that asks the model to go on. It is for the model,
// so it is English.
func instruction(effects []journal.ToolCall) string {
	var b strings.Builder
	b.WriteString("Your last reply was interrupted. Go on exactly where it stopped; do not repeat what it already says.")
	if len(effects) == 0 {
		return b.String()
	}
	b.WriteString("\n\nThese tool calls of the interrupted turn have been made already. Do not make them again:")
	for _, c := range effects[max(0, len(effects)-maxListed):] {
		fmt.Fprintf(&b, "\n- %s %s: %s", c.Name, cut(c.Arguments, maxShownResult), outcomeOf(&c))
	}
	return b.String()
}

func outcomeOf(c *journal.ToolCall) string {
	switch {
	case c.State == journal.CallUnknown:
		return "the outcome is unknown; look before you do anything that depends on it"
	case c.State == journal.CallCancelled:
		return "it was stopped; it may have taken effect in part"
	case c.IsError:
		return "it reported an error; it may have taken effect in part"
	}
	return "done"
}

// Discard drops the partial answer of a turn that has ended: the model is no
// longer shown it. What happened stays in the journal.
func (e *Engine) Discard(ctx context.Context, id string) error {
	old, err := e.journal.Turn(ctx, id)
	if err != nil {
		return err
	}
	if old.State.Ended() {
		// Before the write: a turn that comes after it reads the journal.
		e.history.forget(old.SessionID)
	}
	return e.journal.Write(ctx, journal.StepDiscard, func(tx *journal.Tx) error { return tx.DiscardPartial(id) })
}
