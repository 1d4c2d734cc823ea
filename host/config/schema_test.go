package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"

	"github.com/zchost/zchost/host/config"
)

// schema returns Schema, resolved: so it is a valid JSON Schema, and its
// defaults are valid, too.
func schema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(config.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// document reads a config file as JSON data, without anything of this package.
func document(t *testing.T, path string) (any, error) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := toml.Unmarshal([]byte(strings.TrimPrefix(string(data), "\ufeff")), &doc); err != nil {
		return nil, err
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(b, &doc)
	return doc, err
}

// TestSchemaTakesGoodConfigs: files that load, and what `config show --json`
// prints of them.
func TestSchemaTakesGoodConfigs(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, path := range glob(t, "testdata/effective/*.toml") {
		env := environment(t, path)
		c, err := config.Load(config.Options{Path: path, Env: env})
		if err != nil {
			t.Fatal(err)
		}
		var shown struct {
			Config any `json:"config"`
		}
		if err := json.Unmarshal(c.JSON(), &shown); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(shown.Config); err != nil {
			t.Errorf("%s, effective: %v", path, err)
		}
		doc, err := document(t, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestSchemaRefusesBadConfigs: those whose mistake is within one key.
func TestSchemaRefusesBadConfigs(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, name := range []string{"secrets", "types", "crlf", "override"} {
		path := filepath.Join("testdata/errors", name+".toml")
		doc, err := document(t, path)
		var notTOML *toml.DecodeError
		if errors.As(err, &notTOML) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); err == nil {
			t.Errorf("%s is taken", path)
		}
	}
}

// TestSchemaAndLoadAgree takes one mistake at a time: both refuse it, and both
// take the value beside it.
func TestSchemaAndLoadAgree(t *testing.T) {
	t.Parallel()
	s := schema(t)
	for _, tt := range []struct{ good, bad string }{
		{`[agents.main]`, `[agent.main]`},
		{`[agents."night.shift"]`, `[agents."night shift"]`},
		{`agents.main.temperature = 2`, `agents.main.temperature = 2.1`},
		{`agents.main.max_tokens = 0`, `agents.main.max_tokens = -1`},
		{`agents.main.max_tokens = 1`, `agents.main.max_tokens = 1.5`},
		{`agents.main.system = ""`, `agents.main.system = 1`},
		{`reliability.provider_retries = 0`, `reliability.provider_retries = 21`},
		{`reliability.header_timeout = "1m30s"`, `reliability.header_timeout = "1 minute"`},
		{`reliability.header_timeout = "1.5s"`, `reliability.header_timeout = 5`},
		{`reliability.completion = "signal"`, `reliability.completion = "strict"`},
		{`log.level = "trace"`, `log.level = "TRACE"`},
		{"[providers.p]\nplugin = \"x\"\napi_keys = [\"env:A\"]", "[providers.p]\nplugin = \"x\"\napi_keys = [\"sk-1\"]"},
		{"[providers.p]\nplugin = \"x\"\noptions = { a = 1 }", "[providers.p]\nplugin = \"x\"\noptions = [1]"},
		{"[providers.p]\nplugin = \"x\"", "[providers.p]"},
		{"[models.demo]\nprovider = \"demo\"\nmodel = \"x\"", "[models.demo]\nprovider = \"demo\"\nmodel = \"\""},
		{`agents.main.tools = ["read_file"]`, `agents.main.tools = "read_file"`},
		{`agents.main.approve = "never"`, `agents.main.approve = false`},
		{`agents.main.max_iterations = 200`, `agents.main.max_iterations = 201`},
		{`agents.main.tool_result_bytes = 1024`, `agents.main.tool_result_bytes = 1023`},
		{"[mcp.a]\ncommand = [\"x\"]\nenv = { A = \"text:b\" }", "[mcp.a]\ncommand = [\"x\"]\nenv = { A = \"b\" }"},
		{"[mcp.a]\ncommand = [\"x\"]\nenv = { A_1 = \"env:B\" }", "[mcp.a]\ncommand = [\"x\"]\nenv = { 1A = \"env:B\" }"},
		{"[mcp.a]\nurl = \"http://x\"\nheaders = { X-A = \"text:b\" }", "[mcp.a]\nurl = \"http://x\"\nheaders = { \"X A\" = \"text:b\" }"},
		{"[mcp.a]\nurl = \"http://x\"\ntoken = \"env:B\"", "[mcp.a]\nurl = \"http://x\"\ntoken = \"b\""},
		{"[mcp.a]\ncommand = [\"x\"]\ntrust = true", "[mcp.a]\ncommand = [\"x\"]\ntrust = 1"},
		{"[mcp.a-b]\ncommand = [\"x\"]", "[mcp.\"a.b\"]\ncommand = [\"x\"]"},
		{"[tools.a]\nplugin = \"x\"\nallow = { secrets = { k = \"env:A\" } }", "[tools.a]\nplugin = \"x\"\nallow = { secrets = { k = \"a\" } }"},
		{"[tools.a]\nplugin = \"x\"\nconfig = { a = 1 }", "[tools.a]\nconfig = { a = 1 }"},
		{`shell.env = ["LC_ALL"]`, `shell.env = ["LC-ALL"]`},
		{`cost.currency = "EUR"`, `cost.currency = "eur"`},
		{`cost.max_per_day = 0.000000001`, `cost.max_per_day = -0.1`},
		{`cost.max_per_day = 1_000_000_000`, `cost.max_per_day = 1_000_000_001`},
		{"[agents.main]\n[cost.rates.\"demo/demo\"]\ninput = 0\noutput = 1.5", "[agents.main]\n[cost.rates.\"demo/demo\"]\ninput = 0"},
		{"[agents.main]\n[cost.rates.\"demo/demo\"]\ninput = 0\noutput = 1.5", "[agents.main]\n[cost.rates.demo]\ninput = 0\noutput = 1.5"},
	} {
		for text, good := range map[string]bool{tt.good: true, tt.bad: false} {
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, loadErr := config.Load(config.Options{Path: path})
			doc, err := document(t, path)
			if err != nil {
				t.Fatal(err)
			}
			if schemaErr := s.Validate(doc); (loadErr == nil) != good || (schemaErr == nil) != good {
				t.Errorf("%q: want good %v; Load: %v; schema: %v", text, good, loadErr, schemaErr)
			}
		}
	}
}

// TestTemplate: what init writes loads without problems, with and without a
// key in the environment, and holds no value of it. Its comments are right,
// too: without their signs they load.
func TestTemplate(t *testing.T) {
	t.Parallel()
	for want, env := range map[string][]string{
		"demo": nil, "local": nil, "openai": {"OPENAI_API_KEY=hunter2"}, "anthropic": {"ANTHROPIC_API_KEY=hunter2"}, "gemini": {"GEMINI_API_KEY=hunter2", "X=y"},
	} {
		ollama := ""
		if want == "local" {
			ollama = "http://127.0.0.1:5"
		}
		text := config.Template(env, ollama)
		c, err := load(t, text, env...)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if strings.Contains(text, "hunter2") {
			t.Error("the key is in it")
		}
		if got := c.Agents["main"].Model; got != want {
			t.Errorf("the main agent asks %s, want %s", got, want)
		}
		all := []string{"OPENAI_API_KEY=x", "ANTHROPIC_API_KEY=x", "GEMINI_API_KEY=x"}
		c, err = load(t, uncommented(text), append(all, env...)...)
		if err != nil {
			t.Errorf("%v in\n%s", err, uncommented(text))
		} else if len(c.Cost.Rates) != 1 || len(c.MCP) != 1 || len(c.Tools) != 1 || c.Cost.MaxPerDay == nil || len(c.Agents["helper"].Tools) == 0 {
			t.Errorf("the comments lack the form of tools, servers, budgets or rates:\n%s", c.Show())
		}
	}
}

// uncommented puts the keys and tables of comments in force.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		plain, ok := strings.CutPrefix(line, "# ")
		key, _, isKey := strings.Cut(plain, " = ")
		if ok && (strings.HasPrefix(plain, "[") || isKey && !strings.Contains(strings.TrimSpace(key), " ")) {
			line = strings.ReplaceAll(plain, "…", "other")
		}
		b.WriteString(line)
	}
	return b.String()
}
