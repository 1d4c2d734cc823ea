package host

import (
	"context"
	"fmt"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/tool/plugintool"
)

// toolPlugin is a [tools.NAME] table whose plugin is loaded.
type toolPlugin struct {
	plugin *plugin.Plugin
	tools  []tool.Tool
}

// pluginTools returns what a reference means of a plugin's tools, and the
// plugin's fingerprint. All agents share the plugin.
func (a *agents) pluginTools(ctx context.Context, ref config.ToolRef) ([]tool.Tool, string, error) {
	p := a.toolPlugins[ref.Name]
	if p == nil {
		var err error
		if p, err = a.loadTools(ctx, ref.Name); err != nil {
			return nil, "", err
		}
		if a.toolPlugins == nil {
			a.toolPlugins = make(map[string]*toolPlugin)
		}
		a.toolPlugins[ref.Name] = p
	}
	fingerprint := p.plugin.Fingerprint().String()
	if ref.Tool == "" {
		return p.tools, fingerprint, nil
	}
	var names []string
	for _, t := range p.tools {
		if t.Spec().Name == ref.Tool {
			return []tool.Tool{t}, fingerprint, nil
		}
		names = append(names, t.Spec().Name)
	}
	return nil, "", fault.New(fault.Config, fmt.Sprintf("the plugin of tools.%s has no tool %q", ref.Name, ref.Tool), fmt.Sprintf("it has: %v", names))
}

// loadTools loads the plugin of a [tools.NAME] table and resolves its secrets.
func (a *agents) loadTools(ctx context.Context, name string) (*toolPlugin, error) {
	c := a.config.Tools[name]
	o := plugintool.Options{
		HTTP: c.Allow.HTTP, Private: c.Allow.Private, Clock: c.Allow.Clock, Random: c.Allow.Random,
		Config: c.Config, Client: a.client, Logger: a.log.Named("tool"), Secrets: make(map[string]secret.Value),
	}
	for key, text := range c.Allow.Secrets {
		path := "tools." + name + ".allow.secrets." + key
		ref, err := secret.ParseRef(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if o.Secrets[key], err = a.resolve(ctx, path, ref); err != nil {
			return nil, err
		}
	}
	src, err := FindPlugin(a.home, c.Plugin)
	if err != nil {
		return nil, err
	}
	p, tools, err := plugintool.Load(ctx, a.runtime, src, o)
	if err != nil {
		return nil, fault.Wrap(err, fault.Plugin, fmt.Sprintf("load plugin of tools.%s", name), "`zchost plugin inspect "+c.Plugin+"` shows it; look at allow in [tools."+name+"]")
	}
	return &toolPlugin{plugin: p, tools: tools}, nil
}
