// Package host puts the parts together: config, journal, plugins, endpoints,
// chains, and the engine that runs turns. Start is the whole composition, read
// from top to bottom; nothing registers itself.
//
// One host owns a home directory at a time: the journal's lock holds it.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/provider"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/sink"
	"github.com/zchost/zchost/host/turn"
)

// maxFragments bounds the rendered messages that are kept, in bytes.
const maxFragments = 64 << 20

// Options say how a host starts.
type Options struct {
	// Home is the home directory; it is created, with mode 0700, if it is not
	// there.
	Home string
	// Config is a config file to read instead of the home's config.toml.
	Config string
	// Env is the environment as os.Environ returns it.
	Env []string
	// Version is the program's version, for the journal and the logs.
	Version string
	// Agents are the agents that are made ready at the start, so that what is
	// wrong with them is said at once; with none named, all of the config.
	Agents []string
}

// Host is a running host.
type Host struct {
	config  config.Config
	journal *journal.Journal
	hub     *sink.Hub
	engine  *turn.Engine
	agents  *agents
	log     hclog.Logger

	close []func(context.Context) error // in the order of closing
}

// Start reads the config, opens the journal, makes the agents ready, and
// settles what an earlier start left unfinished. The journal and the plugins
// are opened side by side. After an error nothing stays open.
func Start(ctx context.Context, o Options) (_ *Host, err error) {
	home, err := CreateHome(o.Home)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(config.Options{Home: home.Dir, Path: o.Config, Env: o.Env})
	if err != nil {
		return nil, err
	}
	h := &Host{config: cfg}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close(context.WithoutCancel(ctx)))
		}
	}()
	redactor := secret.NewRedactor()
	var logFile io.Closer
	if h.log, logFile, err = openLog(home, cfg.Log, redactor); err != nil {
		return nil, err
	}
	h.onClose(func(context.Context) error { return logFile.Close() })

	group, gctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		h.journal, err = journal.Open(gctx, home.Journal(), journal.Options{Version: o.Version, Logger: h.log.Named("journal")})
		return err
	})
	group.Go(func() (err error) {
		h.agents, err = prepare(gctx, home, cfg, o, redactor, h.log)
		return err
	})
	err = group.Wait()
	if h.journal != nil {
		h.onClose(h.journal.Close)
	}
	if h.agents != nil {
		h.onClose(h.agents.Close)
	}
	if err != nil {
		return nil, err
	}
	h.agents.use(h.journal)
	h.hub = sink.NewHub(h.journal)
	h.engine = turn.New(h.journal, h.hub, h.agents, h.log.Named("turn"))
	h.onClose(func(context.Context) error { h.hub.Close(); return nil })
	h.onClose(h.engine.Close)
	return h, nil
}

// prepare makes the plugin runtime and the agents.
func prepare(ctx context.Context, home Home, cfg config.Config, o Options, redactor *secret.Redactor, log hclog.Logger) (*agents, error) {
	runtime, err := plugin.NewRuntime(ctx, plugin.Options{CacheDir: home.Cache(), Logger: log.Named("plugin")})
	if err != nil {
		return nil, err
	}
	client := egress.New(egress.Options{Redactor: redactor, UserAgent: "zchost/" + o.Version})
	a := &agents{
		config: cfg, home: home, runtime: runtime, client: client, log: log,
		secrets: secret.Resolver{LookupEnv: lookup(o.Env)}, redactor: redactor,
		fragments: provider.NewFragments(maxFragments), till: newTill(cfg), environ: o.Env, version: o.Version,
	}
	if err := a.ready(ctx, o.Agents); err != nil {
		return nil, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	return a, nil
}

// lookup returns a function that finds a variable in an environment.
func lookup(env []string) func(string) (string, bool) {
	return func(name string) (value string, ok bool) {
		for _, v := range slices.Backward(env) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

// onClose puts f before what is closed already.
func (h *Host) onClose(f func(context.Context) error) {
	h.close = append([]func(context.Context) error{f}, h.close...)
}

// Close stops running turns, waits until their ends are stored, and closes
// everything. A turn that was still running is settled as interrupted.
func (h *Host) Close(ctx context.Context) error {
	var all []error
	for _, f := range h.close {
		all = append(all, f(ctx))
	}
	h.close = nil
	return errors.Join(all...)
}

// Send admits a message (ADM-1). When it returns, the message is durable and
// its turn runs or waits for the session's earlier ones; a message with the
// idempotency key of an earlier one gives that one's turn.
func (h *Host) Send(ctx context.Context, m turn.Message) (journal.Turn, error) {
	t, _, err := h.engine.Submit(ctx, m)
	return t, err
}

// Events returns a reader of a turn's events after that number, of a live or
// a finished turn (SNK-4).
func (h *Host) Events(ctx context.Context, turnID string, after int64) (*sink.Reader, error) {
	return h.hub.Reader(ctx, turnID, after)
}

// Cancel stops a turn. It reports whether the turn had not ended.
func (h *Host) Cancel(turnID string, cause *turn.Cause) bool { return h.engine.Cancel(turnID, cause) }

// Answer says whether a tool call that waits for approval may run; by names who
// says so. Only the first answer counts.
func (h *Host) Answer(ctx context.Context, call string, allow bool, by string) error {
	return h.engine.Answer(ctx, call, allow, by)
}

// Resume starts a turn that goes on after an interrupted one, or asks its
// question again (GDR-2); how is turn.Continue or turn.Retry.
func (h *Host) Resume(ctx context.Context, turnID string, how journal.Relation, m turn.Message) (journal.Turn, error) {
	return h.engine.Resume(ctx, turnID, how, m)
}

// Effects returns the tool calls of a turn that changed something, or may have:
// what a person should see before the turn is asked again.
func (h *Host) Effects(ctx context.Context, turnID string) ([]journal.ToolCall, error) {
	return h.engine.Effects(ctx, turnID)
}

// Discard drops the partial answer of a turn that has ended.
func (h *Host) Discard(ctx context.Context, turnID string) error {
	return h.engine.Discard(ctx, turnID)
}

// Wait waits for the end of a turn and returns it as it is stored.
func (h *Host) Wait(ctx context.Context, turnID string) (journal.Turn, error) {
	return h.engine.Wait(ctx, turnID)
}

// Journal gives read access to what is stored.
func (h *Host) Journal() *journal.Journal { return h.journal }

// Config returns the effective config.
func (h *Host) Config() config.Config { return h.config }

// drainTime is how long Close may wait for running turns when its caller sets
// no limit.
const drainTime = 30 * time.Second

// Shutdown closes the host within a fixed time.
func (h *Host) Shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		return fmt.Errorf("close host: %w", err)
	}
	return nil
}
