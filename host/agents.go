package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/provider"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/turn"
)

// agents makes agents of the config ready when they are asked for the first
// time, and keeps them. It implements turn.Agents.
type agents struct {
	config    config.Config
	home      Home
	runtime   *plugin.Runtime
	client    *egress.Client
	secrets   secret.Resolver
	redactor  *secret.Redactor
	fragments *provider.Fragments
	till      *till
	environ   []string         // the host's environment
	version   string           // the program's
	journal   *journal.Journal // set by use, before the first turn
	log       hclog.Logger

	mu        sync.Mutex
	agents    map[string]*turn.Agent
	providers map[string]*service
	servers   map[string]*server // of tools
	// toolPlugins are the plugins of tools, by the name of their table.
	toolPlugins map[string]*toolPlugin
}

// service is a [providers.NAME] that is ready: its plugin is loaded and its
// keys are known. All profiles share it.
type service struct {
	name     string
	plugin   *plugin.Plugin
	options  []byte
	baseURL  string
	keys     *reliability.Keys
	breakers map[string]*reliability.Breaker // by model
}

// use gives the agents the journal, which is opened beside them.
func (a *agents) use(j *journal.Journal) { a.journal, a.till.journal = j, j }

// blob reads the contents of an attachment.
func (a *agents) blob(ctx context.Context, id string) ([]byte, error) {
	b, err := a.journal.Blob(ctx, id)
	return b.Data, err
}

// ready makes the named agents ready, all if there is no name.
func (a *agents) ready(ctx context.Context, names []string) error {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(a.config.Agents))
	}
	for _, name := range names {
		if _, err := a.Agent(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Agent returns the agent; the empty name means config.MainAgent, or the only
// one there is.
func (a *agents) Agent(ctx context.Context, name string) (*turn.Agent, error) {
	c, name, err := a.find(name)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if agent := a.agents[name]; agent != nil {
		return agent, nil
	}
	candidates, err := a.config.Candidates(c.Model)
	if err != nil {
		return nil, err
	}
	if err := a.load(ctx, candidates); err != nil {
		return nil, err
	}
	chain := &reliability.Chain{
		Deadline: a.config.Knobs(candidates[0].Provider, c.Model).TurnDeadline,
		Budget:   a.till.budget, Price: a.till.price,
	}
	agent := &turn.Agent{Name: name, System: c.System, Chain: chain, Context: a.config.Models[c.Model].Context}
	for _, candidate := range candidates {
		made := a.candidate(name, candidate)
		chain.Candidates = append(chain.Candidates, made)
		if f := made.Upstream.Fingerprint(); !slices.Contains(agent.Plugins, f) {
			agent.Plugins = append(agent.Plugins, f)
		}
	}
	if err := a.equip(ctx, agent); err != nil {
		return nil, err
	}
	if a.agents == nil {
		a.agents = make(map[string]*turn.Agent)
	}
	a.agents[name] = agent
	return agent, nil
}

func (a *agents) find(name string) (config.Agent, string, error) {
	names := slices.Sorted(maps.Keys(a.config.Agents))
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	if name == "" {
		name = config.MainAgent
	}
	c, ok := a.config.Agents[name]
	if !ok {
		return c, name, fault.New(fault.NotFound, fmt.Sprintf("there is no agent %q", name),
			fmt.Sprintf("the config has: %v; choose one with --agent", names))
	}
	return c, name, nil
}

// load makes the providers of the candidates ready, side by side.
func (a *agents) load(ctx context.Context, candidates []config.Candidate) error {
	if a.providers == nil {
		a.providers = make(map[string]*service)
	}
	var names []string
	for _, c := range candidates {
		if a.providers[c.Provider] == nil && !slices.Contains(names, c.Provider) {
			names = append(names, c.Provider)
		}
	}
	made := make([]*service, len(names))
	group, gctx := errgroup.WithContext(ctx)
	for i, name := range names {
		group.Go(func() (err error) {
			made[i], err = a.service(gctx, name)
			return err
		})
	}
	err := group.Wait()
	for _, s := range made {
		if s != nil {
			a.providers[s.name] = s
		}
	}
	return err
}

// candidate returns a candidate with the knobs of its provider and profile.
func (a *agents) candidate(agent string, c config.Candidate) *reliability.Candidate {
	s := a.providers[c.Provider]
	k := a.config.Knobs(c.Provider, c.Profile)
	m := s.plugin.Manifest().Provider
	idle := k.IdleTimeout
	if idle == 0 {
		idle = m.IdleTimeout
	}
	if idle == 0 {
		idle = config.DefaultIdleTimeout
	}
	if s.breakers[c.Model] == nil {
		s.breakers[c.Model] = &reliability.Breaker{}
	}
	sampling := a.config.Sampling(agent, c.Profile)
	return &reliability.Candidate{
		Profile: c.Profile, Provider: c.Provider, Model: c.Model,
		Policy: reliability.Policy{
			Retries: k.ProviderRetries, Backoff: k.ProviderBackoff, RetryAfterMax: k.RetryAfterMax,
			KeyCooldown:      k.KeyCooldown,
			StrictCompletion: k.Completion == config.CompletionSignal,
		},
		Sampling: reliability.Sampling{MaxTokens: sampling.MaxTokens, Temperature: sampling.Temperature},
		Keys:     s.keys,
		Breaker:  s.breakers[c.Model],
		Upstream: provider.New(provider.Config{
			Name: c.Provider, Plugin: s.plugin, Fingerprint: s.plugin.Fingerprint().String(),
			BaseURL: s.baseURL, Options: s.options, Framing: m.Framing,
			Clocks:       egress.Clocks{Header: k.HeaderTimeout, Idle: idle, Progress: k.ProgressTimeout},
			EndCompletes: m.EndCompletes, WantsMessages: m.WantsMessages, MessagesLimit: m.MessagesLimit,
			Blob: a.blob, Fragments: a.fragments, Client: a.client, Redactor: a.redactor,
		}),
	}
}

// Close lets go of the plugins and connections, and ends the servers.
func (a *agents) Close(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closeServers()
	for _, s := range a.providers {
		s.plugin.Close()
	}
	for _, p := range a.toolPlugins {
		p.plugin.Close()
	}
	a.client.Close()
	if err := a.runtime.Close(ctx); err != nil {
		return errors.Join(errors.New("close plugin runtime"), err)
	}
	return nil
}
