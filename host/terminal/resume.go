package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// Past is what Chat needs to act on the last turn of a session.
type Past interface {
	// Last returns the newest turn of a session; journal.ErrNotFound if there
	// is none.
	Last(ctx context.Context, session string) (journal.Turn, error)
	// Effects returns the tool calls of a turn that changed something, or may
	// have.
	Effects(ctx context.Context, turn string) ([]journal.ToolCall, error)
	// Discard drops the partial answer of a turn.
	Discard(ctx context.Context, turn string) error
}

// resume does what a person wants after an interruption (GDR-2).
func (c *Chat) resume(ctx context.Context, name, args string) (leave bool, err error) {
	turn, err := c.Past.Last(ctx, c.Session)
	if errors.Is(err, journal.ErrNotFound) {
		c.worst = Worse(c.worst, ExitUsage)
		return false, c.Screen.Complain("there is no turn in this session yet", "")
	}
	if err == nil {
		switch name {
		case "/continue":
			if err = CanContinue(turn); err == nil {
				return c.turn(ctx, Message{After: turn.ID, How: journal.RelationContinue})
			}
		case "/discard":
			if err = c.Past.Discard(ctx, turn.ID); err == nil {
				return false, c.Screen.Note(Discarded)
			}
		default:
			var yes bool
			if yes, err = c.agree(ctx, turn.ID, args == "--yes"); yes {
				return c.turn(ctx, Message{After: turn.ID, How: journal.RelationRetry})
			}
		}
	}
	switch {
	case ctx.Err() != nil:
		return true, nil
	case err == nil:
		return false, c.Screen.Note(NotRetried)
	case errors.Is(err, ErrInterrupt):
		return c.Piped, c.Screen.Note(NotRetried)
	}
	c.worst = Worse(c.worst, ExitUsage)
	return false, c.Screen.Fail(err)
}

// CanContinue returns the fault of going on with an answer that is whole.
func CanContinue(t journal.Turn) error {
	if t.State == journal.Complete {
		return fault.New(fault.Usage, "the answer of turn "+t.ID+" is complete: there is nothing to go on with", "send a message of your own")
	}
	return nil
}

// What a person is told.
const (
	Discarded  = "the partial answer is dropped: the model no longer sees it"
	NotRetried = "nothing was sent"
)

// agree lists the effects that a retry could have a second time, and asks.
func (c *Chat) agree(ctx context.Context, turn string, yes bool) (bool, error) {
	effects, err := c.Past.Effects(ctx, turn)
	if err != nil {
		return false, err
	}
	return c.Talk.Agree(ctx, c.Screen, effects, yes, "/retry --yes")
}

// Agree lists the effects that a retry could have a second time, and asks
// whether they may, unless that was said already; how says how to say so.
func (t *Talk) Agree(ctx context.Context, s *Screen, effects []journal.ToolCall, yes bool, how string) (bool, error) {
	if err := listEffects(s, effects); err != nil || len(effects) == 0 || yes {
		return err == nil, err
	}
	if t.Approver == nil {
		return false, fault.New(fault.Usage, "the turn had effects that may happen a second time, and nobody can be asked", how+" sends it again all the same")
	}
	err := t.Hearing(ctx, func(ctx context.Context) (err error) {
		yes, err = t.Approver.Confirm(ctx, "these may happen a second time; send the message again?")
		return err
	})
	return yes, err
}

// listEffects lists what the tools of a turn changed, or may have.
func listEffects(s *Screen, effects []journal.ToolCall) error {
	if len(effects) == 0 {
		return nil
	}
	if err := s.Note("this turn has changed something already:"); err != nil {
		return err
	}
	for _, e := range effects {
		outcome := ""
		switch {
		case e.State == journal.CallUnknown:
			outcome = " (whether it took effect is unknown)"
		case e.State == journal.CallCancelled:
			outcome = " (it was stopped; it may have taken effect in part)"
		case e.IsError:
			outcome = " (it failed; it may have taken effect in part)"
		}
		if err := s.Say(fmt.Sprintf("  - %s%s", strings.TrimSpace(e.Name+" "+ArgumentLine(e.Arguments)), outcome)); err != nil {
			return err
		}
	}
	return nil
}
