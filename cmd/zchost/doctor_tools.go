package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/terminal"
)

// checkTools looks at what agents can do beside talking, and what it may cost.
func checkTools(ctx context.Context, a *app, cfg config.Config, offline bool) []finding {
	var all []finding
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if box := cfg.Toolbox(name); len(box.Tools) > 0 {
			all = append(all, checkAgent(name, box), checkWorkspace(name, box))
		}
	}
	all = append(all, checkToolPlugins(ctx, a, cfg)...)
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		all = append(all, checkServer(ctx, a, cfg, name, offline))
	}
	return append(all, checkBudgets(cfg)...)
}

// checkAgent tells what an agent may do, and without asking.
func checkAgent(name string, box config.Toolbox) finding {
	what, tools := "agent "+name, make([]string, len(box.Tools))
	for i, t := range box.Tools {
		tools[i] = t.String()
	}
	detail := fmt.Sprintf("tools %s; approve = %q", strings.Join(tools, ", "), box.Approve)
	if box.Approve == config.ApproveNever && changes(box) {
		return warn(what, detail+": its tools may change things, and nobody is asked", `set approve = "write", unless that is meant`)
	}
	return ok(what, detail)
}

// changes reports whether a toolbox has tools that may change something. What
// servers and plugins have is not known without asking them.
func changes(box config.Toolbox) bool {
	return slices.ContainsFunc(box.Tools, func(t config.ToolRef) bool {
		return t.Source != config.SourceCore || slices.Contains([]string{"write_file", "edit_file", "shell"}, t.Name)
	})
}

// checkWorkspace looks whether an agent can use its directory: to write, if it
// has a tool that does.
func checkWorkspace(name string, box config.Toolbox) finding {
	what := "workspace " + name
	info, err := os.Stat(box.Workspace)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(what, box.Workspace)
	case err != nil:
		return failedBy(what, err, "make it readable, or name another with agents."+name+".workspace")
	case !info.IsDir():
		return failed(what, box.Workspace+" is no directory", "name a directory with agents."+name+".workspace")
	}
	if _, err := os.ReadDir(box.Workspace); err != nil {
		return failedBy(what, err, "make it readable for this user")
	}
	if !changes(box) {
		return ok(what, box.Workspace+", only read")
	}
	probe, err := os.CreateTemp(box.Workspace, ".doctor-*")
	if err != nil {
		return failed(what, box.Workspace+" cannot be written", "make it writable for this user, or take the tools that write from the agent")
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return failedBy(what, err, "")
	}
	return ok(what, box.Workspace+", can be written")
}

// checkParent looks whether a workspace can be made.
func checkParent(what, dir string) finding {
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		switch {
		case err == nil && info.IsDir():
			return ok(what, dir+", is made when it is needed")
		case err == nil:
			return failed(what, dir+" cannot be made: "+parent+" is no directory", "name another workspace")
		case parent == filepath.Dir(parent):
			return failedBy(what, err, "name another workspace")
		}
	}
}

// checkToolPlugins loads the plugin of each [tools.NAME], and asks what it
// offers. A failure is named by the key of the config that it is about.
func checkToolPlugins(ctx context.Context, a *app, cfg config.Config) (all []finding) {
	if len(cfg.Tools) == 0 {
		return nil
	}
	r, err := pluginRuntime(ctx, a)
	if err != nil {
		return []finding{failedBy("plugins", err, "")}
	}
	defer func() {
		if err := r.Close(context.WithoutCancel(ctx)); err != nil {
			all = append(all, failedBy("plugins", err, ""))
		}
	}()
	for _, name := range slices.Sorted(maps.Keys(cfg.Tools)) {
		all = append(all, checkToolPlugin(ctx, a, r, "tools."+name, cfg.Tools[name]))
	}
	return all
}

func checkToolPlugin(ctx context.Context, a *app, r *plugin.Runtime, at string, c config.Tool) finding {
	source, err := host.FindPlugin(host.Home{Dir: a.home}, c.Plugin)
	if err != nil {
		return failedBy(at+".plugin", err, "")
	}
	f, tools, err := loadTools(ctx, r, source, c)
	if err != nil {
		return failedBy(at+".plugin", err, "zchost plugin inspect "+c.Plugin+" shows it; look at config and allow in ["+at+"]")
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return ok("plugin "+c.Plugin, f.String()+" for "+at+", tools "+strings.Join(names, ", "))
}

// serverTime bounds the start of an MCP server; some are fetched first.
const serverTime = 30 * time.Second

// checkServer starts an MCP server, or connects to it, and asks what it offers.
func checkServer(ctx context.Context, a *app, cfg config.Config, name string, offline bool) finding {
	what, m := "mcp "+name, cfg.Server(name)
	if len(m.Command) > 0 {
		if _, err := exec.LookPath(m.Command[0]); err != nil {
			return failed("mcp."+name+".command", err.Error(), "install it, or name it by its whole path")
		}
	}
	if offline {
		return ok(what, "not asked (--offline)")
	}
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	began := time.Now()
	tools, err := host.ServerTools(ctx, cfg, host.Options{Env: a.env, Version: version}, name)
	if err != nil {
		return failedBy(what, err, "look at command, url, env and headers of [mcp."+name+"]")
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Spec().Name
	}
	return ok(what, fmt.Sprintf("answers in %d ms; tools %s", time.Since(began).Milliseconds(), terminal.Shorten(strings.Join(names, ", "), 200)))
}

// checkBudgets warns of budgets with holes: what has no price is not counted.
func checkBudgets(cfg config.Config) []finding {
	if !cfg.Budgets().Any() {
		return nil
	}
	if names := cfg.Unpriced(); len(names) > 0 {
		return []finding{warn("cost", "the budget does not count "+strings.Join(names, ", ")+": no rate is set", `set [cost.rates."PROVIDER/MODEL"] input and output for each; 0 if it costs nothing`)}
	}
	return []finding{ok("cost", "a budget, and a rate for every model")}
}

// checkToolSecrets resolves the references of tool plugins and MCP servers.
func checkToolSecrets(ctx context.Context, cfg config.Config) []finding {
	var all []finding
	look := func(what, text string) {
		if v, err := config.ParseValue(text); err == nil && v.Ref != (secret.Ref{}) {
			all = append(all, checkSecret(ctx, what, v.Ref))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Tools)) {
		for key, text := range sorted(cfg.Tools[name].Allow.Secrets) {
			look("tools."+name+".allow.secrets."+key, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.MCP)) {
		m := cfg.MCP[name]
		for key, text := range sorted(m.Env) {
			look("mcp."+name+".env."+key, text)
		}
		for key, text := range sorted(m.Headers) {
			look("mcp."+name+".headers."+key, text)
		}
		if m.Token != "" {
			look("mcp."+name+".token", m.Token)
		}
	}
	return all
}

// sorted walks a table in the order of its keys.
func sorted(m map[string]string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
