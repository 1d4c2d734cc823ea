package main

import (
	"context"
	"errors"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
)

// resumed names the turn that something is done with.
type resumed struct {
	Turn    string `arg:"" optional:"" help:"The turn's id or its beginning; the last turn of the session if there is none."`
	Session string `help:"The session whose last turn is meant." default:"main" placeholder:"KEY"`
}

// continueCmd goes on with an interrupted answer (GDR-2).
type continueCmd struct {
	resumed
	NoStream bool `help:"Ask for the answer in one piece."`
	JSON     bool `name:"json" help:"Print the events as JSON, a line each, then a summary line."`
}

// Help tells what is sent, and the exit codes.
func (continueCmd) Help() string {
	return "The model gets the partial answer, and a list of what the tools have done already, which it is not to repeat.\n\n" + exitCodes
}

// Run goes on, and prints the answer.
func (c continueCmd) Run(ctx context.Context, a *app) error {
	t, err := c.find(ctx, a)
	if err != nil {
		return err
	}
	if err := terminal.CanContinue(t); err != nil {
		return err
	}
	m := terminal.Message{After: t.ID, How: journal.RelationContinue, NoStream: c.NoStream}
	return a.oneTurn(ctx, t.Agent, c.JSON, func(context.Context, started, *terminal.Talk) (terminal.Message, error) { return m, nil })
}

// retryCmd asks a turn's message again (GDR-2).
type retryCmd struct {
	resumed
	Yes      bool `help:"Do not ask, though tools have changed something that may be changed a second time."`
	NoStream bool `help:"Ask for the answer in one piece."`
	JSON     bool `name:"json" help:"Print the events as JSON, a line each, then a summary line."`
}

// Help tells what is sent, and the exit codes.
func (retryCmd) Help() string {
	return "The message is sent as if it had not been sent before. If tools have changed something, that is listed first, and you are asked.\n\n" + exitCodes
}

// Run asks again, and prints the answer.
func (c retryCmd) Run(ctx context.Context, a *app) error {
	t, err := c.find(ctx, a)
	if err != nil {
		return err
	}
	m := terminal.Message{After: t.ID, How: journal.RelationRetry, NoStream: c.NoStream}
	return a.oneTurn(ctx, t.Agent, c.JSON, func(ctx context.Context, h started, talk *terminal.Talk) (terminal.Message, error) {
		effects, err := h.Effects(ctx, t.ID)
		if err != nil {
			return m, err
		}
		asked := *talk
		asked.Approver = terminal.NewApprover(a.screen, a.stdin)
		yes, err := asked.Agree(ctx, a.screen, effects, c.Yes, "zchost retry --yes "+t.ID)
		if err == nil && !yes || errors.Is(err, terminal.ErrInterrupt) {
			return m, errors.Join(exitError(terminal.ExitCancelled), a.screen.Note(terminal.NotRetried))
		}
		return m, err
	})
}

// discardCmd drops a partial answer (GDR-2).
type discardCmd struct{ resumed }

// Run drops the answer.
func (c discardCmd) Run(ctx context.Context, a *app) error {
	t, err := c.find(ctx, a)
	if err != nil {
		return err
	}
	return a.withHost(ctx, t.Agent, func(h started) error {
		if err := h.Discard(ctx, t.ID); err != nil {
			return err
		}
		return a.screen.Note(terminal.Discarded)
	})
}

// find returns the turn that is meant.
func (r resumed) find(ctx context.Context, a *app) (t journal.Turn, err error) {
	err = a.withJournal(ctx, noTurns, func(reader *journal.Reader) error {
		if r.Turn == "" {
			t, err = lastTurn(ctx, reader, r.Session)
			if errors.Is(err, journal.ErrNotFound) {
				err = noSession(r.Session)
			}
			return err
		}
		id, err := findTurn(ctx, reader, r.Turn)
		if err == nil {
			t, err = reader.Turn(ctx, id)
		}
		return err
	})
	return t, err
}

// lastTurn returns the newest turn of a session; journal.ErrNotFound if there
// is none.
func lastTurn(ctx context.Context, r *journal.Reader, key string) (journal.Turn, error) {
	s, err := r.Session(ctx, key)
	if err != nil {
		return journal.Turn{}, err
	}
	turns, err := r.Turns(ctx, journal.TurnFilter{Session: s.ID, Limit: 1})
	if err == nil && len(turns) == 0 {
		err = journal.ErrNotFound
	}
	if err != nil {
		return journal.Turn{}, err
	}
	return turns[0], nil
}
