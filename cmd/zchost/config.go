package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/zchost/zchost/host/config"
)

// configCmd shows and checks the config.
type configCmd struct {
	Show   configShowCmd   `cmd:"" default:"withargs" help:"Show the effective config, and where each value comes from."`
	Check  configCheckCmd  `cmd:"" help:"Check the config and tell all that is wrong."`
	Schema configSchemaCmd `cmd:"" help:"Print the JSON Schema of the config."`
}

// configShowCmd shows the effective config.
type configShowCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run prints the config. It holds references to secrets, never their values.
func (c configShowCmd) Run(a *app) error {
	cfg, err := a.loadConfig()
	if err != nil {
		return err
	}
	if c.JSON {
		return a.print("%s\n", cfg.JSON())
	}
	return a.print("%s", a.screen.Safe(cfg.Show()))
}

// configCheckCmd checks the config.
type configCheckCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// problemJSON is a mistake as `config check --json` prints it.
type problemJSON struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"`
	Error  string `json:"error"`
	Hint   string `json:"hint,omitempty"`
}

// Run checks the config, and then what it refers to: keys and plugins.
func (c configCheckCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.loadConfig()
	if err == nil {
		err = checkReferences(ctx, a, cfg)
	}
	if c.JSON {
		return c.printJSON(a, err)
	}
	switch {
	case err != nil:
		return err
	case cfg.File() == "":
		return a.screen.Note("there is no config file; the defaults and the environment are right")
	}
	for _, f := range checkBudgets(cfg) {
		if f.Verdict != verdictWarn {
			continue
		}
		if err := a.screen.Complain("warning: "+f.Detail, f.Hint); err != nil {
			return err
		}
	}
	return a.screen.Note(cfg.File() + " is right")
}

// checkReferences looks at what doctor looks at too, and tells the failures as
// problems of the config, each with its place.
func checkReferences(ctx context.Context, a *app, cfg config.Config) error {
	var problems config.Errors
	all := append(checkSecrets(ctx, cfg), checkToolSecrets(ctx, cfg)...)
	all = append(append(all, checkPlugins(ctx, a, cfg)...), checkToolPlugins(ctx, a, cfg)...)
	for _, f := range all {
		if f.Verdict != verdictFail {
			continue
		}
		at := cfg.Origin(f.What)
		p := config.Problem{File: at.File, Line: at.Line, Column: at.Column, Key: f.What, Msg: f.Detail, Hint: f.Hint}
		if at.Env != "" {
			p.File = "env " + at.Env
		}
		problems.List = append(problems.List, p)
	}
	if len(problems.List) == 0 {
		return nil
	}
	slices.SortStableFunc(problems.List, func(a, b config.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &problems
}

func (c configCheckCmd) printJSON(a *app, err error) error {
	list := []problemJSON{}
	var problems *config.Errors
	switch {
	case errors.As(err, &problems):
		for _, p := range problems.List {
			list = append(list, problemJSON{File: p.File, Line: p.Line, Column: p.Column, Key: p.Key, Error: p.Msg, Hint: p.Hint})
		}
	case err != nil:
		return err
	}
	if err := a.printJSON(list); err != nil {
		return err
	}
	if len(list) > 0 {
		return exitError(1)
	}
	return nil
}

// configSchemaCmd prints the schema.
type configSchemaCmd struct{}

// Run prints the schema.
func (configSchemaCmd) Run(a *app) error {
	return a.print("%s", config.Schema())
}
