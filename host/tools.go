package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/tool/core"
	"github.com/zchost/zchost/host/turn"
)

// toolServer is where tools come from that may come and go while the host runs.
type toolServer interface {
	Tools(ctx context.Context) ([]tool.Tool, error)
}

// toolbox is what an agent has of tools.
type toolbox struct {
	fixed   []tool.Tool // those of the host and of plugins
	servers []served
}

// served is a server of the config, of which an agent has all tools or one.
type served struct {
	ref    config.ToolRef
	server toolServer
}

// equip gives an agent what its config says of tools.
func (a *agents) equip(ctx context.Context, agent *turn.Agent) error {
	c := a.config.Toolbox(agent.Name)
	agent.Approve, agent.ApprovalTimeout = turn.Approve(c.Approve), c.ApprovalTimeout
	agent.MaxIterations = c.MaxIterations
	agent.Limits = tool.Limits{Timeout: c.CallTimeout, ResultBytes: c.ResultBytes, Redact: a.redactor.String}
	if len(c.Tools) == 0 {
		return nil
	}
	box := &toolbox{}
	var err error
	if box.fixed, err = a.coreTools(c); err != nil {
		return fault.Wrap(err, fault.Config, fmt.Sprintf("prepare the tools of agent %q", agent.Name), "look at its workspace and its tools in the config")
	}
	for _, ref := range c.Tools {
		switch ref.Source {
		case config.SourceCore:
		case config.SourcePlugin:
			tools, fingerprint, err := a.pluginTools(ctx, ref)
			if err != nil {
				return err
			}
			box.fixed = append(box.fixed, tools...)
			if !slices.Contains(agent.Plugins, fingerprint) {
				agent.Plugins = append(agent.Plugins, fingerprint)
			}
		case config.SourceMCP:
			s, err := a.server(ctx, ref.Name)
			if err != nil {
				return err
			}
			box.servers = append(box.servers, served{ref: ref, server: s})
		}
	}
	if _, err := tool.NewSet(box.fixed); err != nil {
		return fault.Wrap(err, fault.Config, fmt.Sprintf("prepare the tools of agent %q", agent.Name), "")
	}
	agent.Tools = box.set
	return nil
}

// coreTools returns those of the host's own tools that the agent has.
func (a *agents) coreTools(c config.Toolbox) ([]tool.Tool, error) {
	var names []string
	for _, ref := range c.Tools {
		if ref.Source == config.SourceCore && !slices.Contains(names, ref.Name) {
			names = append(names, ref.Name)
		}
	}
	shell, fetch := a.config.ShellLimits(), a.config.FetchLimits()
	return core.New(core.Options{
		Workspace: c.Workspace, ResultBytes: c.ResultBytes,
		Shell: core.ShellOptions{Timeout: shell.Timeout, OutputBytes: int(shell.OutputBytes), Environ: a.environ, Env: shell.Env},
		Fetch: core.FetchOptions{Client: a.client, Private: fetch.Private, OutputBytes: int(fetch.OutputBytes)},
	}, names...)
}

// set returns the tools of a turn that begins. A server that cannot be reached
// has none, and is warned about: the turn goes on without them.
func (b *toolbox) set(ctx context.Context) (*tool.Set, []string) {
	all := slices.Clone(b.fixed)
	var warnings []string
	for _, s := range b.servers {
		tools, err := s.server.Tools(ctx)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("the tools of %s are missing: %v", s.ref, err))
			continue
		}
		found := false
		for _, t := range tools {
			if s.ref.Tool == "" || mcp.Named(t, s.ref.Tool) {
				all = append(all, t)
				found = true
			}
		}
		if !found {
			warnings = append(warnings, fmt.Sprintf("there is no tool %s", s.ref))
		}
	}
	set, err := tool.NewSet(all)
	if err == nil {
		return set, warnings
	}
	set, other := tool.NewSet(b.fixed)
	if other != nil {
		return nil, append(warnings, other.Error())
	}
	return set, append(warnings, "the tools of servers are left out: "+err.Error())
}
