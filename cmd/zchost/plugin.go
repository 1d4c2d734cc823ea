package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/host/terminal"
	"github.com/zchost/zchost/plugins/builtin"
)

// pluginCmd looks at plugins.
type pluginCmd struct {
	List    pluginListCmd    `cmd:"" default:"withargs" help:"List the plugins that can be used."`
	Inspect pluginInspectCmd `cmd:"" help:"Check a plugin, load it, and show what it is and may."`
}

// pluginListCmd lists plugins.
type pluginListCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// pluginJSON is a plugin as `plugin list --json` prints it.
type pluginJSON struct {
	Name        string   `json:"name"`
	Version     string   `json:"version,omitempty"`
	Kind        abi.Kind `json:"kind,omitempty"`
	Origin      string   `json:"origin"`
	UsedBy      []string `json:"used_by,omitempty"`
	Description string   `json:"description,omitempty"`
	// Tools are what a tool plugin offers.
	Tools []toolInfo `json:"tools,omitempty"`
	Error string     `json:"error,omitempty"`
}

// Run prints the plugins. One that is broken is listed with its error.
func (c pluginListCmd) Run(ctx context.Context, a *app) error {
	cfg, broken := a.loadConfig()
	names, err := pluginNames(a)
	if err != nil {
		return err
	}
	list := make([]pluginJSON, len(names))
	for i, name := range names {
		list[i] = describe(ctx, a, cfg, name)
	}
	if c.JSON {
		return a.printJSON(list)
	}
	table := terminal.NewTable("NAME", "VERSION", "KIND", "FROM", "USED BY", "DESCRIPTION")
	for _, p := range list {
		about := p.Description
		for i, t := range p.Tools {
			about += map[bool]string{true: "; tools: ", false: ", "}[i == 0] + t.Name
		}
		if p.Error != "" {
			about = "cannot be used: " + p.Error
		}
		table.Add(p.Name, p.Version, string(p.Kind), p.Origin, strings.Join(p.UsedBy, " "), about)
	}
	if err := table.Write(a.screen); err != nil || broken == nil {
		return err
	}
	return a.screen.Note("the config is wrong, so who uses a plugin is not known; zchost config check tells more")
}

// pluginNames returns the names of the plugins in home and built in, sorted.
func pluginNames(a *app) ([]string, error) {
	names := map[string]bool{}
	for _, name := range builtin.Names() {
		names[name] = true
	}
	dir := host.Home{Dir: a.home}.Plugins()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(err, fault.Home, "list plugins", "make "+dir+" readable")
	}
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".zcp"); ok || e.IsDir() {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func describe(ctx context.Context, a *app, cfg config.Config, name string) pluginJSON {
	p := pluginJSON{Name: name}
	for _, user := range slices.Sorted(maps.Keys(cfg.Providers)) {
		if cfg.Providers[user].Plugin == name {
			p.UsedBy = append(p.UsedBy, "providers."+user)
		}
	}
	p.UsedBy = append(p.UsedBy, slices.Sorted(maps.Keys(toolUsers(cfg, name)))...)
	source, err := host.FindPlugin(host.Home{Dir: a.home}, name)
	if err != nil {
		p.Origin, p.Error = filepath.Join(a.home, "plugins"), err.Error()
		return p
	}
	p.Origin = source.Origin
	m, err := plugin.ParseManifest(source.Manifest)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	p.Version, p.Kind, p.Description = m.Version, m.Kind, m.Description
	if m.Name != name {
		p.Error = fmt.Sprintf("its plugin.toml names it %q", m.Name)
		return p
	}
	if m.Kind == abi.KindTool {
		if p.Tools, err = offered(ctx, a, cfg, source, m); err != nil {
			p.Error = err.Error()
		}
	}
	return p
}

// pluginInspectCmd shows one plugin.
type pluginInspectCmd struct {
	Name string `arg:"" help:"The plugin's name, a directory, or a .zcp file."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// inspection is a plugin as `plugin inspect --json` prints it.
type inspection struct {
	Manifest plugin.Manifest `json:"manifest"`
	Origin   string          `json:"origin"`
	// ModuleBytes and ModuleSHA256 are of plugin.wasm.
	ModuleBytes  int    `json:"module_bytes"`
	ModuleSHA256 string `json:"module_sha256"`
	// Fingerprints are of the plugin as each provider of the config uses it;
	// without any, of the plugin with no settings.
	Fingerprints []usedAs `json:"fingerprints"`
	// Tools are what a tool plugin offers.
	Tools []toolInfo `json:"tools,omitempty"`
}

// usedAs is a plugin's fingerprint for one user of it.
type usedAs struct {
	// User is "providers.NAME" or "tools.NAME", "" for no settings.
	User        string `json:"user,omitempty"`
	Fingerprint string `json:"fingerprint"`
	SHA256      string `json:"sha256"`
}

// Run loads the plugin, as a host does, and prints what is known of it.
func (c pluginInspectCmd) Run(ctx context.Context, a *app) error {
	source, err := c.source(a)
	if err != nil {
		return err
	}
	m, err := plugin.ParseManifest(source.Manifest)
	if err != nil {
		return fault.Wrap(err, fault.Plugin, "inspect "+c.Name, "correct its plugin.toml")
	}
	sum := sha256.Sum256(source.Module)
	i := inspection{
		Manifest: m, Origin: source.Origin,
		ModuleBytes: len(source.Module), ModuleSHA256: hex.EncodeToString(sum[:]),
	}
	if i.Fingerprints, i.Tools, err = fingerprints(ctx, a, source, m); err != nil {
		return fault.Wrap(err, fault.Plugin, "inspect "+c.Name, "")
	}
	if c.JSON {
		return a.printJSON(i)
	}
	return i.print(a)
}

func (c pluginInspectCmd) source(a *app) (plugin.Source, error) {
	if !strings.ContainsRune(c.Name, filepath.Separator) && !strings.HasSuffix(c.Name, ".zcp") {
		return host.FindPlugin(host.Home{Dir: a.home}, c.Name)
	}
	if strings.HasSuffix(c.Name, ".zcp") {
		return plugin.ReadPackage(c.Name)
	}
	return plugin.ReadDir(c.Name)
}

// fingerprints loads the plugin for each of its users.
func fingerprints(ctx context.Context, a *app, source plugin.Source, m plugin.Manifest) (list []usedAs, tools []toolInfo, err error) {
	runtime, err := plugin.NewRuntime(ctx, plugin.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, runtime.Close(context.WithoutCancel(ctx))) }()
	cfg, _ := a.loadConfig() // a broken config names no users
	if m.Kind == abi.KindTool {
		return toolFingerprints(ctx, runtime, cfg, source, m)
	}
	users := map[string]plugin.Grant{}
	for name, p := range cfg.Providers {
		if p.Plugin == m.Name {
			users["providers."+name] = host.ProviderGrant(p)
		}
	}
	if len(users) == 0 {
		users[""] = host.ProviderGrant(config.Provider{})
	}
	for _, user := range slices.Sorted(maps.Keys(users)) {
		p, err := runtime.Load(ctx, source, users[user])
		if err != nil {
			return nil, nil, err
		}
		f := p.Fingerprint()
		list = append(list, usedAs{User: user, Fingerprint: f.String(), SHA256: f.Full()})
		p.Close()
	}
	return list, nil, nil
}

func (i inspection) print(a *app) error {
	m := i.Manifest
	t := terminal.NewTable()
	row := func(name, value string) {
		if value != "" {
			t.Add(name, value)
		}
	}
	row("name", m.Name)
	row("version", m.Version)
	row("kind", string(m.Kind))
	row("description", m.Description)
	row("license", m.License)
	row("homepage", m.Homepage)
	row("from", i.Origin)
	row("module", fmt.Sprintf("%d bytes, SHA-256 %s", i.ModuleBytes, i.ModuleSHA256))
	for _, f := range i.Fingerprints {
		row("fingerprint", strings.TrimSpace(f.Fingerprint+"  "+f.User))
	}
	row("passes data by", string(m.IO))
	row("capabilities", capabilityText(m.Capabilities))
	row("limits", fmt.Sprintf("%d MiB memory, %s a call, %d bytes of output", m.Limits.Memory, m.Limits.CallTimeout, m.Limits.Output))
	for _, tool := range i.Tools {
		row("tool "+tool.Name, "effect "+string(tool.Effect)+"; "+terminal.Shorten(tool.Description, 100))
	}
	if p := m.Provider; p != nil {
		row("framing", string(p.Framing))
		row("default address", p.DefaultBaseURL)
		var models []string
		for _, model := range p.Models {
			models = append(models, model.ID)
		}
		row("models", strings.Join(models, " "))
	}
	if err := t.Write(a.screen); err != nil {
		return err
	}
	if len(m.Config) == 0 {
		return nil
	}
	var settings bytes.Buffer
	if err := json.Indent(&settings, m.Config, "  ", "  "); err != nil {
		return fmt.Errorf("print settings of %s: %w", m.Name, err)
	}
	return a.print("settings (JSON Schema):\n  %s\n", a.screen.Safe(settings.String()))
}

// capabilityText lists what a plugin asks for.
func capabilityText(c plugin.Capabilities) string {
	var list []string
	for name, on := range map[string]bool{"kv": c.KV, "clock": c.Clock, "random": c.Random} {
		if on {
			list = append(list, name)
		}
	}
	for name, values := range map[string][]string{"http": c.HTTP, "secrets": c.Secrets, "tools": c.Tools} {
		if len(values) > 0 {
			list = append(list, name+"="+strings.Join(values, ","))
		}
	}
	if len(list) == 0 {
		return "none"
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
