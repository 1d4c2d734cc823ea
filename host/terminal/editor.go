package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ergochat/readline"
)

// Editor reads messages from a terminal, with line editing, history and
// completion of slash commands.
type Editor struct {
	in   *os.File
	keys *keyboard
	rl   *readline.Instance
}

// NewEditor takes the terminal in and out over until Close. History is kept in
// the file named (none if empty); color allows a coloured prompt.
func NewEditor(in *os.File, out io.Writer, history string, color bool, commands []string) (*Editor, error) {
	if history != "" {
		if err := tidyHistory(history); err != nil {
			return nil, err
		}
	}
	keys := &keyboard{in: in, out: out}
	items := make([]*readline.PrefixCompleter, len(commands))
	for i, c := range commands {
		items[i] = readline.PcItem(c)
	}
	rl, err := readline.NewFromConfig(&readline.Config{
		Prompt:                 paint(color, bold, ">") + " ",
		HistoryFile:            history,
		HistoryLimit:           historyEntries,
		DisableAutoSaveHistory: true,
		AutoComplete:           readline.NewPrefixCompleter(items...),
		Painter:                showStandIns,
		Stdin:                  keys,
		Stdout:                 keys,
		Stderr:                 keys,
		FuncIsTerminal:         func() bool { return true },
		Undo:                   true,
	})
	if err != nil {
		return nil, fmt.Errorf("open line editor: %w", err)
	}
	if _, err := io.WriteString(out, pasteOn); err != nil {
		return nil, errors.Join(fmt.Errorf("open line editor: %w", err), rl.Close())
	}
	return &Editor{in: in, keys: keys, rl: rl}, nil
}

// Next reads a message. When ctx ends it closes the editor.
func (e *Editor) Next(ctx context.Context) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = e.rl.Close() })
	defer stop()
	line, err := e.rl.ReadLine()
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("read line: %w", context.Cause(ctx))
	case errors.Is(err, readline.ErrInterrupt):
		return "", ErrInterrupt
	case errors.Is(err, io.EOF):
		return "", io.EOF
	case err != nil:
		return "", fmt.Errorf("read line: %w", err)
	}
	text, long := e.keys.message(line)
	if long {
		line = "" // an empty entry only ends the walk through the history
	}
	if err := e.rl.SaveToHistory(line); err != nil {
		return "", fmt.Errorf("write history: %w", err)
	}
	return text, nil
}

// Answering turns the terminal's echo off, so that keys pressed meanwhile wait
// for the next prompt and do not mix with the answer.
func (e *Editor) Answering() func() { return echoOff(int(e.in.Fd())) }

// Close gives the terminal back.
func (e *Editor) Close() error {
	_, err := io.WriteString(e.keys.out, pasteOff)
	return errors.Join(err, e.rl.Close())
}
