package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host/config"
)

const twoProviders = `
[agents.main]
model = "fast"
[models.fast]
provider = "my-local"
model = "m"
[providers.my-local]
plugin = "openai-chat"
[providers."a.b"]
plugin = "openai-chat"
`

// TestEnvironment sets keys of every kind by their variables.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	c, err := load(t, twoProviders,
		"ZCHOST_AGENTS__MAIN__SYSTEM=[be] = kind # always",
		"ZCHOST_AGENTS__MAIN__TEMPERATURE=0.5",
		"ZCHOST_AGENTS__NEW__MODEL=fast",
		"ZCHOST_MODELS__FAST__FALLBACK_MODELS=one",
		"ZCHOST_MODELS__FAST__MAX_TOKENS=1_000",
		"ZCHOST_PROVIDERS__MY_LOCAL__BASE_URL=http://localhost:1/v1/",
		"ZCHOST_PROVIDERS__A_B__OPTIONS__DEEP__LEVEL=3",
		"ZCHOST_PROVIDERS__A_B__OPTIONS__NAME=plain text",
		"ZCHOST_RELIABILITY__HEADER_TIMEOUT=5s",
		"ZCHOST_RELIABILITY__PROVIDER_RETRIES=0",
		"ZCHOST_LOG__LEVEL=error",
		"ZCHOST_LOG__FORMAT=",
		"ZCHOST_FAILPOINT=admit-before-commit",
		"ZCHOST_HOME=/x", "ZCHOST_CONFIG=/y", "zchost_log__level=off", "PATH=/bin", "=odd", "",
	)
	if err != nil {
		t.Fatal(err)
	}
	main, fast := c.Agents["main"], c.Models["fast"]
	for name, ok := range map[string]bool{
		"text as it is":         main.System == "[be] = kind # always",
		"number":                main.Temperature != nil && *main.Temperature == 0.5,
		"new name":              c.Agents["new"].Model == "fast",
		"list with one entry":   len(fast.FallbackModels) == 1 && fast.FallbackModels[0] == "one",
		"whole number":          fast.MaxTokens == 1000,
		"name with a hyphen":    c.Providers["my-local"].BaseURL == "http://localhost:1/v1",
		"name with a dot":       len(c.Providers["a.b"].Options) > 0,
		"options":               string(c.Providers["a.b"].Options) == `{"deep":{"level":3},"name":"plain text"}`,
		"duration":              c.Knobs("", "").HeaderTimeout == 5*time.Second,
		"zero is set":           c.Knobs("", "").ProviderRetries == 0,
		"enum":                  c.Log.Level == "error",
		"empty sets nothing":    c.Log.Format == "text",
		"origin":                c.Origin("log.level").String() == "env ZCHOST_LOG__LEVEL",
		"origin in the file":    strings.HasSuffix(c.Origin("models.fast.model").String(), "config.toml:6:9"),
		"origin of a list's":    c.Origin("models.fast.fallback_models[0]").String() == "env ZCHOST_MODELS__FAST__FALLBACK_MODELS",
		"origin of what is not": strings.HasSuffix(c.Origin("models.fast.temperature").String(), "config.toml:4:9"),
	} {
		if !ok {
			t.Errorf("%s: not as set:\n%s", name, c.Show())
		}
	}
}

// TestEveryKeyByEnvironment takes all leaves of a config that has them all,
// and sets each by its variable instead of the file.
func TestEveryKeyByEnvironment(t *testing.T) {
	t.Parallel()
	var env []string
	for key, value := range map[string]string{
		"AGENTS__MAIN__MODEL":              "fast",
		"AGENTS__MAIN__LOCALE":             "de",
		"AGENTS__MAIN__MAX_TOKENS":         "1",
		"AGENTS__OTHER__SYSTEM_FILE":       "prompt.txt",
		"MODELS__FAST__PROVIDER":           "p",
		"MODELS__FAST__MODEL":              "m",
		"MODELS__FAST__FALLBACK":           `["demo"]`,
		"MODELS__FAST__TEMPERATURE":        "1",
		"MODELS__FAST__COMPLETION":         "signal",
		"MODELS__FAST__KEY_COOLDOWN":       "1s",
		"PROVIDERS__P__PLUGIN":             "x",
		"PROVIDERS__P__API_KEYS":           "env:A",
		"PROVIDERS__P__OPTIONS":            "{ a = [1] }",
		"PROVIDERS__P__PROGRESS_TIMEOUT":   "1s",
		"RELIABILITY__RETRY_AFTER_MAX":     "0s",
		"RELIABILITY__PROVIDER_BACKOFF_MS": "7",
		"RELIABILITY__TURN_DEADLINE":       "1h",
		"RELIABILITY__IDLE_TIMEOUT":        "1h",
		"LOG__FORMAT":                      "json",
		"AGENTS__MAIN__TOOLS":              `["plugin:w/now", "mcp:web", "mcp:files", "shell"]`,
		"AGENTS__MAIN__APPROVE":            "never",
		"AGENTS__MAIN__APPROVAL_TIMEOUT":   "1s",
		"AGENTS__MAIN__WORKSPACE":          "~/work",
		"AGENTS__MAIN__MAX_ITERATIONS":     "1",
		"AGENTS__MAIN__TOOL_TIMEOUT":       "1h",
		"AGENTS__MAIN__TOOL_RESULT_BYTES":  "1048576",
		"MODELS__FAST__CONTEXT":            "1",
		"TOOLS__W__PLUGIN":                 "w",
		"TOOLS__W__CONFIG":                 "{ a = 1 }",
		"TOOLS__W__ALLOW__HTTP":            "a.example",
		"TOOLS__W__ALLOW__PRIVATE":         `["a.example"]`,
		"TOOLS__W__ALLOW__CLOCK":           "true",
		"TOOLS__W__ALLOW__RANDOM":          "true",
		"TOOLS__W__ALLOW__SECRETS__KEY":    "env:A",
		"MCP__FILES__COMMAND":              `["npx", "server"]`,
		"MCP__FILES__ENV__A_TOKEN":         "env:A",
		"MCP__FILES__DIR":                  "/tmp",
		"MCP__FILES__TRUST":                "true",
		"MCP__WEB__URL":                    "https://mcp.example",
		"MCP__WEB__HEADERS":                `{ A = "text:b" }`,
		"MCP__WEB__TOKEN":                  "cmd:pass show mcp",
		"MCP__WEB__TIMEOUT":                "1s",
		"SHELL__TIMEOUT":                   "1s",
		"SHELL__OUTPUT_BYTES":              "1024",
		"SHELL__ENV":                       "[]",
		"FETCH__PRIVATE":                   "localhost",
		"FETCH__OUTPUT_BYTES":              "1024",
		"COST__CURRENCY":                   "EUR",
		"COST__MAX_PER_TURN":               "0.1",
		"COST__MAX_PER_DAY":                "1",
		"COST__MAX_PER_MONTH":              "2",
		"COST__RATES":                      `{ "p/m" = { input = 1, output = 2 } }`,
	} {
		env = append(env, "ZCHOST_"+key+"="+value)
	}
	c, err := config.Load(config.Options{Path: "testdata/effective/empty.toml", Env: env})
	if err != nil {
		t.Fatal(err)
	}
	// The table of rates is one variable, and shown as two lines.
	if got := strings.Count(c.Show(), "# env ZCHOST_"); got != len(env)+1 {
		t.Errorf("%d of %d keys come from the environment:\n%s", got, len(env), c.Show())
	}
}

// TestRecognised: keys of known vendors are seen, and used where their
// provider is named, by reference (never by value).
func TestRecognised(t *testing.T) {
	t.Parallel()
	const env = "OPENAI_API_KEY=hunter2"
	if got := config.Recognised([]string{env}); len(got) != 1 || got[0].Provider != "openai" {
		t.Errorf("recognised %v", got)
	}
	if got := config.Recognised([]string{"OPENAI_API_KEY="}); len(got) != 0 {
		t.Errorf("an empty one is recognised: %v", got)
	}
	for name, text := range map[string]string{
		"no provider": "[models.m]\nprovider = \"openai\"\nmodel = \"x\"\n",
		"no key":      "[models.m]\nprovider = \"openai\"\nmodel = \"x\"\n[providers.openai]\nplugin = \"openai-chat\"\n",
	} {
		c, err := load(t, text, env)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := c.Providers["openai"].APIKeys; len(got) != 1 || got[0] != "env:OPENAI_API_KEY" {
			t.Errorf("%s: keys %v", name, got)
		}
		if strings.Contains(c.Show()+string(c.JSON()), "hunter2") {
			t.Errorf("%s: the key's value is shown", name)
		}
	}
	// Another endpoint of the same protocol gets no vendor's key.
	c, err := load(t, twoProviders+"base_url = \"http://localhost/v1\"\n", env)
	if err != nil || c.Providers["a.b"].APIKeys != nil {
		t.Errorf("keys %v, error %v", c.Providers["a.b"].APIKeys, err)
	}
}

// TestOllamaURL reads OLLAMA_HOST as Ollama does.
func TestOllamaURL(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"":                      "http://127.0.0.1:11434",
		"0.0.0.0":               "http://127.0.0.1:11434",
		"[::]:1":                "http://127.0.0.1:1",
		":8080":                 "http://127.0.0.1:8080",
		"box.lan":               "http://box.lan:11434",
		"box.lan:1/":            "http://box.lan:1",
		"::1":                   "http://[::1]:11434",
		"https://box.lan/base/": "https://box.lan/base",
		"http://box.lan:1":      "http://box.lan:1",
		"a b":                   "http://127.0.0.1:11434",
		"x:99999":               "http://127.0.0.1:11434",
	} {
		if got := config.OllamaURL([]string{"OLLAMA_HOST=" + host}); got != want {
			t.Errorf("%q is %s, want %s", host, got, want)
		}
	}
}
