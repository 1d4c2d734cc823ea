package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
)

// app is what every command gets.
type app struct {
	stdin  *os.File
	env    []string
	screen *terminal.Screen
	// home is absolute; configPath is empty for the one in home.
	home, configPath string
}

// loadConfig reads the config.
func (a *app) loadConfig() (config.Config, error) {
	return config.Load(config.Options{Home: a.home, Path: a.configPath, Env: a.env})
}

// journal opens the journal for reading, beside whoever writes it. Without one
// it returns nil: nothing has been said yet.
func (a *app) journal(ctx context.Context) (*journal.Reader, error) {
	path := filepath.Join(a.home, "journal.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // no journal is no error, and every caller asks
	}
	return journal.OpenReader(ctx, path)
}

// withJournal runs f on the journal. Without one f is not run and empty is.
func (a *app) withJournal(ctx context.Context, empty func() error, f func(*journal.Reader) error) error {
	r, err := a.journal(ctx)
	if err != nil {
		return err
	}
	if r == nil {
		return empty()
	}
	return errors.Join(f(r), r.Close())
}

// print writes text to the screen.
func (a *app) print(format string, args ...any) error {
	if _, err := fmt.Fprintf(a.screen.Out, format, args...); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// printJSON writes a value as indented JSON.
func (a *app) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode output: %w", err)
	}
	return a.print("%s\n", b)
}

// fail tells an error: a line, or for a config that is wrong a line for each
// problem.
func (a *app) fail(err error) error {
	var problems *config.Errors
	if !errors.As(err, &problems) {
		return a.screen.Fail(err)
	}
	var all []error
	for _, p := range problems.List {
		hint := p.Hint
		p.Hint = ""
		all = append(all, a.screen.Complain(p.String(), hint))
	}
	return errors.Join(all...)
}

// errNoSession is the fault of a session without a name.
func errNoSession() error {
	return fault.New(fault.Usage, "--session is empty", "name a session, or leave the flag out for main")
}

// noTurns is the fault of asking for a turn when there is none at all.
func noTurns() error {
	return fault.New(fault.NotFound, "there are no turns yet", "zchost send -m TEXT makes one")
}

// noTurn is the fault of asking for a turn that is not there.
func noTurn(what string) error {
	return fault.New(fault.NotFound, what, "zchost turns lists them")
}
