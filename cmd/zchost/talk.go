package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
	"github.com/zchost/zchost/host/turn"
)

// tick is how often a terminal shows that a turn is still going on.
const tick = time.Second

// surfaceHost is the host as the terminal package wants it.
type surfaceHost struct {
	*host.Host
	surface string
}

// Send admits a message.
func (h surfaceHost) Send(ctx context.Context, m terminal.Message) (journal.Turn, error) {
	return h.Host.Send(ctx, turn.Message{
		Session: m.Session, Agent: m.Agent, Surface: h.surface, Text: m.Text, NoStream: m.NoStream,
	})
}

// Events reads a turn's events.
func (h surfaceHost) Events(ctx context.Context, id string, after int64) (terminal.Events, error) {
	return h.Host.Events(ctx, id, after)
}

// Cancel stops a turn for its person.
func (h surfaceHost) Cancel(id string) bool { return h.Host.Cancel(id, turn.ByUser()) }

// End stops a turn because this process ends.
func (h surfaceHost) End(id string) bool { return h.Host.Cancel(id, turn.ByShutdown()) }

// withHost starts a host with the one agent, runs f, and closes the host.
func (a *app) withHost(ctx context.Context, agent string, f func(*host.Host) error) error {
	o := host.Options{Home: a.home, Config: a.configPath, Env: a.env, Version: version}
	if agent != "" {
		o.Agents = []string{agent}
	}
	ready := a.screen.Status("starting; the first time takes longer …", time.Second/4)
	h, err := host.Start(ctx, o)
	ready()
	if err != nil {
		return err
	}
	return errors.Join(f(h), h.Shutdown())
}

// talk returns what runs turns on h. The returned function stops hearing
// Ctrl-C.
func (a *app) talk(h *host.Host, surface string) (*terminal.Talk, func()) {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	t := &terminal.Talk{Host: surfaceHost{h, surface}, Interrupts: interrupts}
	if a.screen.Terminal {
		t.Tick = tick
	}
	return t, func() { signal.Stop(interrupts) }
}

// agentName is the agent that the config means by an empty name.
func agentName(c config.Config, name string) string {
	if name == "" && len(c.Agents) == 1 {
		for only := range c.Agents {
			return only
		}
	}
	return cmp.Or(name, config.MainAgent)
}

// locales are the agent's, then the person's (MRK-1).
func (a *app) locales(c config.Config, agent string) []string {
	var list []string
	if l := c.Agents[agentName(c, agent)].Locale; l != "" {
		list = append(list, l)
	}
	return append(list, a.screen.Locales...)
}
