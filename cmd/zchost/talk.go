package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
	"github.com/zchost/zchost/host/turn"
)

// tick is how often is looked whether a turn that is silent still goes on.
const tick = time.Second

// surfaceHost is the host as the terminal package wants it.
type surfaceHost struct {
	*host.Host
	surface string
}

// Send admits a message, or goes on after a turn.
func (h surfaceHost) Send(ctx context.Context, m terminal.Message) (journal.Turn, error) {
	message := turn.Message{
		Session: m.Session, Agent: m.Agent, Surface: h.surface, Text: m.Text, Attachments: m.Attachments,
		NoStream: m.NoStream, CanApprove: m.CanApprove,
	}
	if m.After != "" {
		return h.Resume(ctx, m.After, m.How, message)
	}
	return h.Host.Send(ctx, message)
}

// Last returns the newest turn of a session.
func (h surfaceHost) Last(ctx context.Context, session string) (journal.Turn, error) {
	return lastTurn(ctx, h.Journal().Reader, session)
}

// Events reads a turn's events.
func (h surfaceHost) Events(ctx context.Context, id string, after int64) (terminal.Events, error) {
	return h.Host.Events(ctx, id, after)
}

// Cancel stops a turn for its person.
func (h surfaceHost) Cancel(id string) bool { return h.Host.Cancel(id, turn.ByUser()) }

// End stops a turn because this process ends.
func (h surfaceHost) End(id string) bool { return h.Host.Cancel(id, turn.ByShutdown()) }

// started is a host that runs, and what hears Ctrl-C.
type started struct {
	*host.Host
	interrupts <-chan os.Signal
}

// withHost starts a host with the one agent, runs f, and closes the host.
// Ctrl-C is heard from the beginning: it stops the start, and what runs in it.
func (a *app) withHost(ctx context.Context, agent string, f func(started) error) error {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	h, err := a.start(ctx, agent, interrupts)
	if err != nil {
		return err
	}
	err = f(started{h, interrupts})
	signal.Stop(interrupts) // one more ends the program
	return errors.Join(err, h.Shutdown())
}

// start starts a host, until ctx ends or an interrupt comes. A second interrupt
// ends the program.
func (a *app) start(ctx context.Context, agent string, interrupts chan os.Signal) (*host.Host, error) {
	o := host.Options{Home: a.home, Config: a.configPath, Env: a.env, Version: version}
	if agent != "" {
		o.Agents = []string{agent}
	}
	shown := a.screen.Status("starting; the first time takes longer …", time.Second/4)
	starting, stop := context.WithCancel(ctx)
	ready := make(chan struct{})
	var heard sync.WaitGroup
	heard.Go(func() {
		select {
		case <-interrupts:
			signal.Stop(interrupts)
			stop()
		case <-ready:
		}
	})
	h, err := host.Start(starting, o)
	close(ready)
	heard.Wait()
	shown()
	stopped := starting.Err() != nil
	stop()
	switch {
	case !stopped:
		return h, err
	case err == nil:
		err = h.Shutdown()
	default:
		err = nil // it says that it was stopped
	}
	return nil, errors.Join(exitError(terminal.ExitCancelled), err, a.screen.Note("stopped before anything was sent"))
}

// talk returns what runs turns on h.
func (a *app) talk(h started, surface string) *terminal.Talk {
	return &terminal.Talk{
		Host: surfaceHost{h.Host, surface}, Interrupts: h.interrupts,
		Tick: tick, Health: h.Journal().Health,
	}
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
