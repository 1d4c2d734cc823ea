package main

import (
	"context"
	"errors"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
)

// oneTurn starts a host, runs the turn of the message that prepare makes, prints
// it, and ends with its exit code.
func (a *app) oneTurn(ctx context.Context, agent string, asJSON bool,
	prepare func(context.Context, started, *terminal.Talk) (terminal.Message, error),
) error {
	code := terminal.ExitOK
	err := a.withHost(ctx, agent, func(h started) error {
		talk := a.talk(h, "cli")
		m, err := prepare(ctx, h, talk)
		if err != nil {
			return err
		}
		turn, err := talk.Turn(ctx, m, a.view(ctx, h.Host, agent, asJSON))
		var refused *terminal.RefusedError
		switch {
		case err == nil:
			code = terminal.ExitCode(turn)
		case errors.Is(err, terminal.ErrLeave):
			code, err = terminal.ExitCancelled, nil
		case !errors.As(err, &refused):
			code = terminal.ExitFailed
		}
		return err
	})
	var exit exitError
	if err != nil && !errors.As(err, &exit) {
		if err := a.fail(err); err != nil {
			return err
		}
		code = max(code, terminal.ExitUsage)
	}
	return exitError(max(code, int(exit)))
}

// view shows a turn as text or as JSON.
func (a *app) view(ctx context.Context, h *host.Host, agent string, asJSON bool) terminal.View {
	if asJSON {
		return terminal.NewLister(a.screen, func(turn string) ([]journal.Attempt, error) {
			return h.Journal().Attempts(context.WithoutCancel(ctx), turn)
		})
	}
	more := func(turn string) string { return "zchost why " + turn + " tells more" }
	return terminal.NewRenderer(a.screen, a.locales(h.Config(), agent), more)
}
