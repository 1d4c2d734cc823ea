package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/terminal"
)

// chatCmd is the conversation at a terminal.
type chatCmd struct {
	Session string `help:"The session to go on with." default:"main" placeholder:"KEY"`
	Agent   string `help:"The agent to talk to." placeholder:"NAME"`
}

// Run talks until the input ends.
func (c chatCmd) Run(ctx context.Context, a *app) error {
	if c.Session == "" {
		return errNoSession()
	}
	code := terminal.ExitOK
	err := a.withHost(ctx, c.Agent, func(h started) (err error) {
		code, err = c.talk(ctx, a, h)
		return err
	})
	if err == nil && code != terminal.ExitOK {
		return exitError(code)
	}
	return err
}

func (c chatCmd) talk(ctx context.Context, a *app, h started) (code int, err error) {
	chat := &terminal.Chat{
		Talk: a.talk(h, "terminal"), Screen: a.screen, Session: c.Session, Agent: c.Agent,
		Piped:   !terminal.IsTerminal(a.stdin) || !a.screen.Terminal,
		Locales: a.locales(h.Config(), c.Agent), Commands: c.commands(a, h.Config()), Now: time.Now,
	}
	chat.Past = surfaceHost{h.Host, "terminal"}
	if !chat.Piped {
		chat.Talk.Approver = terminal.NewApprover(a.screen, a.stdin)
	}
	if chat.Lines, err = c.lines(a, chat); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, chat.Lines.Close()) }()
	if !chat.Piped {
		if err := c.greet(a, h.Config()); err != nil {
			return 0, err
		}
	}
	return chat.Run(ctx)
}

func (c chatCmd) lines(a *app, chat *terminal.Chat) (terminal.Lines, error) {
	if chat.Piped {
		return terminal.NewPipedLines(a.stdin), nil
	}
	var names []string
	for _, k := range chat.All() {
		names = append(names, k.Name)
	}
	return terminal.NewEditor(a.stdin, a.screen.Out, filepath.Join(a.home, "history"), a.screen.Color, names)
}

// greet says who is there and how to begin.
func (c chatCmd) greet(a *app, cfg config.Config) error {
	name := agentName(cfg, c.Agent)
	candidates, err := cfg.Candidates(cfg.Agents[name].Model)
	if err != nil {
		return fmt.Errorf("read config: %w", err)
	}
	lines := []string{fmt.Sprintf("zchost %s: agent %s on %s, session %s; /help lists the commands", version, name, candidates[0], c.Session)}
	if candidates[0].Provider == config.DemoName {
		lines = append(lines, demoHint(a))
	}
	for _, l := range lines {
		if err := a.screen.Say(l); err != nil {
			return err
		}
	}
	return nil
}

// demoHint says what the demo is, and that a key would be used.
func demoHint(a *app) string {
	const hint = "the built-in demo, without a network: try /demo"
	var seen []string
	for _, k := range config.Recognised(a.env) {
		seen = append(seen, k.Env)
	}
	if len(seen) == 0 {
		return hint + "; for a real model: zchost init"
	}
	return hint + "; " + strings.Join(seen, ", ") + " is set: zchost init writes a config that uses it"
}

// commands are the slash commands that read journal and config.
func (c chatCmd) commands(a *app, cfg config.Config) []terminal.Command {
	return []terminal.Command{
		{Name: "/model", Help: "say which models are asked, in order", Run: func(context.Context, string, string) error {
			candidates, err := cfg.Candidates(cfg.Agents[agentName(cfg, c.Agent)].Model)
			for _, m := range candidates {
				err = errors.Join(err, a.print("%s (profile %s)\n", a.screen.Safe(m.String()), m.Profile))
			}
			return err
		}},
		{Name: "/why", Args: "[TURN]", Help: "explain the last turn, or the one named", Run: func(ctx context.Context, args, last string) error {
			if args == "" {
				args = last
			}
			return whyCmd{Turn: args}.Run(ctx, a)
		}},
		{Name: "/turns", Help: "list the last turns", Run: func(ctx context.Context, _, _ string) error {
			return turnsCmd{Limit: 10}.Run(ctx, a)
		}},
		{Name: "/usage", Help: "add up tokens and prices by day", Run: func(ctx context.Context, _, _ string) error {
			return usageCmd{By: "day"}.Run(ctx, a)
		}},
		{Name: "/demo", Args: "[WHAT]", Help: "tell the demo model what to do: cut, slow, empty, fail …"},
	}
}
