package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool/plugintool"
)

// toolInfo is a tool as `plugin list` and `plugin inspect` show it.
type toolInfo struct {
	Name        string     `json:"name"`
	Effect      abi.Effect `json:"effect"`
	Description string     `json:"description,omitempty"`
}

// toolOptions are what a [tools.NAME] table gives its plugin; the values of
// secrets are not needed to look at it.
func toolOptions(c config.Tool) plugintool.Options {
	o := plugintool.Options{
		HTTP: c.Allow.HTTP, Private: c.Allow.Private, Clock: c.Allow.Clock, Random: c.Allow.Random, Config: c.Config,
		Secrets: map[string]secret.Value{}, Client: egress.New(egress.Options{}),
	}
	for name := range c.Allow.Secrets {
		o.Secrets[name] = secret.Value{}
	}
	return o
}

// allAsked is a table that allows all that a plugin asks for.
func allAsked(m plugin.Manifest) config.Tool {
	c := config.Tool{Allow: config.Allow{HTTP: m.Capabilities.HTTP, Clock: true, Random: true, Secrets: map[string]string{}}}
	for _, name := range m.Capabilities.Secrets {
		c.Allow.Secrets[name] = ""
	}
	return c
}

// toolUsers are the tables of the config that use a plugin.
func toolUsers(cfg config.Config, name string) map[string]config.Tool {
	users := map[string]config.Tool{}
	for user, c := range cfg.Tools {
		if c.Plugin == name {
			users["tools."+user] = c
		}
	}
	return users
}

// pluginRuntime runs plugins to look at them. It reads the home's cache, but
// makes none.
func pluginRuntime(ctx context.Context, a *app) (*plugin.Runtime, error) {
	home, o := host.Home{Dir: a.home}, plugin.Options{}
	if _, err := os.Stat(home.Cache()); err == nil {
		o.CacheDir = home.Cache()
	}
	return plugin.NewRuntime(ctx, o)
}

// loadTools loads a tool plugin as a table has it, and asks what it offers.
func loadTools(ctx context.Context, r *plugin.Runtime, source plugin.Source, c config.Tool) (plugin.Fingerprint, []toolInfo, error) {
	p, tools, err := plugintool.Load(ctx, r, source, toolOptions(c))
	if err != nil {
		return plugin.Fingerprint{}, nil, err
	}
	defer p.Close()
	list := make([]toolInfo, len(tools))
	for i, t := range tools {
		s := t.Spec()
		list[i] = toolInfo{Name: s.Name, Effect: s.Effect, Description: s.Description}
	}
	return p.Fingerprint(), list, nil
}

// offered returns the tools of a tool plugin: as its first user in the config
// has them, else with all that it asks for.
func offered(ctx context.Context, a *app, cfg config.Config, source plugin.Source, m plugin.Manifest) (_ []toolInfo, err error) {
	r, err := pluginRuntime(ctx, a)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	c, users := allAsked(m), toolUsers(cfg, m.Name)
	if names := slices.Sorted(maps.Keys(users)); len(names) > 0 {
		c = users[names[0]]
	}
	_, tools, err := loadTools(ctx, r, source, c)
	return tools, err
}

// toolFingerprints loads the plugin for each of its users.
func toolFingerprints(ctx context.Context, r *plugin.Runtime, cfg config.Config, source plugin.Source, m plugin.Manifest) (list []usedAs, tools []toolInfo, err error) {
	users := toolUsers(cfg, m.Name)
	if len(users) == 0 {
		users[""] = allAsked(m)
	}
	for _, user := range slices.Sorted(maps.Keys(users)) {
		f, offers, err := loadTools(ctx, r, source, users[user])
		if err != nil {
			return nil, nil, err
		}
		list, tools = append(list, usedAs{User: user, Fingerprint: f.String(), SHA256: f.Full()}), offers
	}
	return list, tools, nil
}
