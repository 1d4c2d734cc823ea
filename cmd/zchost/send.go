package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
)

// sendCmd runs one turn.
type sendCmd struct {
	Message  string   `short:"m" help:"The message." placeholder:"TEXT"`
	Input    string   `arg:"" optional:"" help:"- reads the message from the input."`
	Session  string   `help:"The session that it belongs to." default:"main" placeholder:"KEY"`
	Agent    string   `help:"The agent that answers." placeholder:"NAME"`
	NoStream bool     `help:"Ask for the answer in one piece."`
	Attach   []string `help:"An image or a PDF that belongs to the message; may be given several times." type:"path" placeholder:"FILE"`
	JSON     bool     `name:"json" help:"Print the events as JSON, a line each, then a summary line."`
}

// Help tells the exit codes.
func (sendCmd) Help() string { return exitCodes }

const exitCodes = `Exit codes: 0 complete, 1 usage or config error, 2 failed before output, 3 interrupted after output, 4 cancelled, 5 incomplete (limit, filter, refusal), 6 refused by a budget.`

// Run sends the message and prints the answer.
func (c sendCmd) Run(ctx context.Context, a *app) error {
	if c.Session == "" {
		return errNoSession()
	}
	text, err := c.text(a)
	if err != nil {
		return err
	}
	m := terminal.Message{Session: c.Session, Agent: c.Agent, Text: text, NoStream: c.NoStream}
	for _, path := range c.Attach {
		file, err := terminal.ReadAttachment(path)
		if err != nil {
			return err
		}
		m.Attachments = append(m.Attachments, file)
	}
	return a.oneTurn(ctx, c.Agent, c.JSON, func(context.Context, started, *terminal.Talk) (terminal.Message, error) { return m, nil })
}

// text is the message: from -m, or from the input if it is "-" or no terminal.
func (c sendCmd) text(a *app) (string, error) {
	const how = "write zchost send -m TEXT, or pipe it to zchost send -"
	if c.Input != "" && (c.Input != "-" || c.Message != "") {
		return "", fault.New(fault.Usage, "unexpected argument "+c.Input, how)
	}
	text := c.Message
	if text == "" && (c.Input == "-" || len(c.Attach) == 0 && !terminal.IsTerminal(a.stdin)) {
		b, err := io.ReadAll(io.LimitReader(a.stdin, journal.MaxText+1))
		if err != nil {
			return "", fmt.Errorf("read message: %w", err)
		}
		if len(b) > journal.MaxText {
			return "", fault.New(fault.Usage, fmt.Sprintf("the message is longer than %d bytes", journal.MaxText), "")
		}
		text = strings.TrimRight(string(b), "\r\n")
	}
	if strings.TrimSpace(text) == "" && len(c.Attach) == 0 {
		return "", fault.New(fault.Usage, "there is no message", how)
	}
	return text, nil
}
