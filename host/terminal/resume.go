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
	how, err := c.decide(ctx, name, args)
	switch {
	case how.After != "" && err == nil:
		return c.turn(ctx, how)
	case ctx.Err() != nil:
		return true, nil //nolint:nilerr // the process is told to end
	case errors.Is(err, ErrInterrupt):
		return c.Piped, c.Screen.Note(NotRetried)
	case err != nil:
		c.worst = Worse(c.worst, ExitUsage)
		return false, c.Screen.Fail(err)
	}
	return false, nil
}

// decide returns what is to be sent; nothing if all is done.
func (c *Chat) decide(ctx context.Context, name, args string) (Message, error) {
	last, err := c.Past.Last(ctx, c.Session)
	if errors.Is(err, journal.ErrNotFound) {
		return Message{}, fault.New(fault.NotFound, "there is no turn in this session yet", "")
	}
	if err != nil {
		return Message{}, err
	}
	switch name {
	case "/continue":
		return Message{After: last.ID, How: journal.RelationContinue}, CanContinue(last)
	case "/discard":
		if err := c.Past.Discard(ctx, last.ID); err != nil {
			return Message{}, err
		}
		return Message{}, c.Screen.Note(Discarded)
	}
	effects, err := c.Past.Effects(ctx, last.ID)
	if err != nil {
		return Message{}, err
	}
	yes, err := c.Talk.Agree(ctx, c.Screen, effects, args == "--yes", "/retry --yes")
	if err == nil && !yes {
		err = c.Screen.Note(NotRetried)
	}
	if !yes {
		return Message{}, err
	}
	return Message{After: last.ID, How: journal.RelationRetry}, err
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
