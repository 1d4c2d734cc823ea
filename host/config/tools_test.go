package config_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/cost"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/tool/core"
)

// TestToolbox: what an agent has of tools, and the defaults.
func TestToolbox(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c, err := config.Load(config.Options{Home: home, Env: []string{
		`ZCHOST_AGENTS__MAIN__TOOLS=["shell", "mcp:files", "mcp:files/read/it", "plugin:w", "plugin:w/now"]`,
		"ZCHOST_AGENTS__OWN__APPROVE=always",
		"ZCHOST_AGENTS__OWN__APPROVAL_TIMEOUT=1s",
		"ZCHOST_AGENTS__OWN__WORKSPACE=work/../play",
		"ZCHOST_AGENTS__OWN__MAX_ITERATIONS=3",
		"ZCHOST_AGENTS__OWN__TOOL_TIMEOUT=2s",
		"ZCHOST_AGENTS__OWN__TOOL_RESULT_BYTES=2048",
		"ZCHOST_AGENTS__ABS__WORKSPACE=/srv/work",
		"ZCHOST_MCP__FILES__COMMAND=server", "ZCHOST_TOOLS__W__PLUGIN=w",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defaults := config.Toolbox{
		Approve: config.ApproveWrite, ApprovalTimeout: 5 * time.Minute, MaxIterations: 25,
		CallTimeout: time.Minute, ResultBytes: 65536,
	}
	main, none, abs := defaults, defaults, defaults
	main.Workspace = filepath.Join(home, "workspace", "main")
	main.Tools = []config.ToolRef{
		{Source: config.SourceCore, Name: "shell"},
		{Source: config.SourceMCP, Name: "files"},
		{Source: config.SourceMCP, Name: "files", Tool: "read/it"},
		{Source: config.SourcePlugin, Name: "w"},
		{Source: config.SourcePlugin, Name: "w", Tool: "now"},
	}
	none.Workspace = filepath.Join(home, "workspace", "none")
	abs.Workspace = "/srv/work"
	for agent, want := range map[string]config.Toolbox{
		"main": main,
		"none": none,
		"abs":  abs,
		"own": {
			Approve: config.ApproveAlways, ApprovalTimeout: time.Second, Workspace: filepath.Join(home, "play"),
			MaxIterations: 3, CallTimeout: 2 * time.Second, ResultBytes: 2048,
		},
	} {
		if diff := cmp.Diff(want, c.Toolbox(agent)); diff != "" {
			t.Errorf("%s: %s", agent, diff)
		}
	}
	for i, ref := range main.Tools {
		if got, want := ref.String(), c.Agents["main"].Tools[i]; got != want {
			t.Errorf("%q is written as %q", want, got)
		}
	}
}

// TestCoreTools: the names that the config takes are those of the host's tools.
func TestCoreTools(t *testing.T) {
	t.Parallel()
	for _, name := range config.CoreTools() {
		_, err := core.New(core.Options{
			Workspace: t.TempDir(), Fetch: core.FetchOptions{Client: egress.New(egress.Options{})},
		}, name)
		if err != nil {
			t.Error(err)
		}
	}
}

// TestServer puts defaults into an [mcp.NAME] table, and resolves its
// directory.
func TestServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c, err := config.Load(config.Options{Home: home, Env: []string{
		"ZCHOST_MCP__A__COMMAND=a", "ZCHOST_MCP__B__COMMAND=b", "ZCHOST_MCP__B__DIR=sub", "ZCHOST_MCP__B__TIMEOUT=1s",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]config.MCP{
		"a":    {Command: []string{"a"}, Dir: home, Timeout: time.Minute},
		"b":    {Command: []string{"b"}, Dir: filepath.Join(home, "sub"), Timeout: time.Second},
		"none": {},
	} {
		if diff := cmp.Diff(want, c.Server(name)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestShellEnvironment: an empty list passes nothing on, none the default,
// which has no secret in it.
func TestShellEnvironment(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 8, "[shell]": 8, "[shell]\nenv = []": 0, "[shell]\nenv = [\"A\"]": 1} {
		c, err := load(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ShellLimits().Env; len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestParseValue: plain text has to say so, and no error repeats a value.
func TestParseValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"text:": "text ", "text:a:b": "text a:b", "text:env:A": "text env:A", "env:A": "ref env:A", "cmd:pass a": "ref cmd:pass a",
		"hunter2": "", "": "", "evn:hunter2": "", "env:1": "", "Text:hunter2": "", " text:hunter2": "",
	} {
		v, err := config.ParseValue(text)
		got := ""
		switch {
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%q: the error repeats it: %v", text, err)
		case err == nil && v.Ref.IsZero():
			got = "text " + v.Text
		case err == nil:
			got = "ref " + v.Ref.String()
		}
		if got != want {
			t.Errorf("%q: %q, error %v, want %q", text, got, err, want)
		}
	}
}

// TestAmountsAreExact: no amount passes through a floating point number, on
// the way in and out (CST-3).
func TestAmountsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		want := cost.Amount(rapid.Int64Range(0, 1_000_000_000*int64(cost.One)).Draw(rt, "amount"))
		c, err := load(t, "[cost]\nmax_per_turn = "+want.String()+"\n")
		if err != nil {
			rt.Fatal(err)
		}
		if got := *c.Budgets().PerTurn; got != want {
			rt.Fatalf("%s is read as %s", want, got)
		}
		if !strings.Contains(c.Show(), "max_per_turn = "+want.String()+" ") || !strings.Contains(string(c.JSON()), `"max_per_turn":`+want.String()) {
			rt.Fatalf("%s is shown as:\n%s", want, c.Show())
		}
	})
}

// TestRates: what host/cost gets, and what lacks a rate (CST-3).
func TestRates(t *testing.T) {
	t.Parallel()
	c, err := load(t, `
[agents.main]
[models.m]
provider = "p"
model = "a"
fallback_models = ["b/c", "d"]
[providers.p]
plugin = "x"
[cost.rates."p/a"]
input = 0.30
output = 2
cache_read = 0.03
[cost.rates."p/b/c"]
input = 0
output = 0
`)
	if err != nil {
		t.Fatal(err)
	}
	amount := func(a cost.Amount) *cost.Amount { return &a }
	want := cost.Rates{
		"p/a":   {Input: amount(cost.One * 3 / 10), Output: amount(2 * cost.One), CacheRead: amount(cost.One * 3 / 100)},
		"p/b/c": {Input: amount(0), Output: amount(0)},
	}
	if diff := cmp.Diff(want, c.Rates()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"p/d"}, c.Unpriced()); diff != "" {
		t.Error(diff)
	}
	if c.Currency() != "USD" || c.Budgets().Any() {
		t.Errorf("currency %s, budgets %+v", c.Currency(), c.Budgets())
	}
}
