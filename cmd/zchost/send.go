package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
)

// sendCmd runs one turn.
type sendCmd struct {
	Message  string `short:"m" help:"The message." placeholder:"TEXT"`
	Input    string `arg:"" optional:"" help:"- reads the message from the input."`
	Session  string `help:"The session that it belongs to." default:"main" placeholder:"KEY"`
	Agent    string `help:"The agent that answers." placeholder:"NAME"`
	NoStream bool   `help:"Ask for the answer in one piece."`
	JSON     bool   `name:"json" help:"Print the events as JSON, a line each, then a summary line."`
}

// Help tells the exit codes.
func (sendCmd) Help() string {
	return `Exit codes: 0 complete, 1 usage or config error, 2 failed before output, 3 interrupted after output, 4 cancelled, 5 incomplete (limit, filter, refusal).`
}

// Run sends the message and prints the answer.
func (c sendCmd) Run(ctx context.Context, a *app) error {
	if c.Session == "" {
		return errNoSession()
	}
	text, err := c.text(a)
	if err != nil {
		return err
	}
	code := terminal.ExitOK
	err = a.withHost(ctx, c.Agent, func(h started) error {
		talk := a.talk(h, "cli")
		m := terminal.Message{Session: c.Session, Agent: c.Agent, Text: text, NoStream: c.NoStream}
		turn, err := talk.Turn(ctx, m, c.view(ctx, a, h.Host))
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

func (c sendCmd) view(ctx context.Context, a *app, h *host.Host) terminal.View {
	if c.JSON {
		return terminal.NewLister(a.screen, func(turn string) ([]journal.Attempt, error) {
			return h.Journal().Attempts(context.WithoutCancel(ctx), turn)
		})
	}
	more := func(turn string) string { return "zchost why " + turn + " tells more" }
	return terminal.NewRenderer(a.screen, a.locales(h.Config(), c.Agent), more)
}

// text is the message: from -m, or from the input if it is "-" or no terminal.
func (c sendCmd) text(a *app) (string, error) {
	const how = "write zchost send -m TEXT, or pipe it to zchost send -"
	if c.Input != "" && (c.Input != "-" || c.Message != "") {
		return "", fault.New(fault.Usage, "unexpected argument "+c.Input, how)
	}
	text := c.Message
	if text == "" && (c.Input == "-" || !terminal.IsTerminal(a.stdin)) {
		b, err := io.ReadAll(io.LimitReader(a.stdin, journal.MaxText+1))
		if err != nil {
			return "", fmt.Errorf("read message: %w", err)
		}
		if len(b) > journal.MaxText {
			return "", fault.New(fault.Usage, fmt.Sprintf("the message is longer than %d bytes", journal.MaxText), "")
		}
		text = strings.TrimRight(string(b), "\r\n")
	}
	if strings.TrimSpace(text) == "" {
		return "", fault.New(fault.Usage, "there is no message", how)
	}
	return text, nil
}
