package plugin_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/plugin"
)

func TestParseManifest(t *testing.T) {
	t.Parallel()
	got, err := plugin.ParseManifest([]byte(`
abi = 1
kind = "provider"
io = "stdio"
name = "openai-chat"
version = "1.2.3-rc.1+b5"
description = "Chat completions"
license = "Apache-2.0"
homepage = "https://example.com"
[capabilities]
clock = true
secrets = ["api_key"]
[config]
type = "object"
[config.properties.x]
type = "integer"
[limits]
memory_mb = 32
call_timeout_ms = 500
[provider]
framing = "ndjson"
default_base_url = "https://api.example.com/v1/"
idle_timeout_ms = 90000
end_completes = true
wants_messages = true
messages_limit = 5
lists_models = true
[[provider.models]]
id = "m1"
context = 128000
output = 4096
`))
	if err != nil {
		t.Fatal(err)
	}
	want := plugin.Manifest{
		ABI: 1, Kind: abi.KindProvider, IO: abi.IOStdio, Name: "openai-chat", Version: "1.2.3-rc.1+b5",
		Description: "Chat completions", License: "Apache-2.0", Homepage: "https://example.com",
		Capabilities: plugin.Capabilities{Clock: true, Secrets: []string{"api_key"}},
		Config:       json.RawMessage(`{"properties":{"x":{"type":"integer"}},"type":"object"}`),
		Limits:       plugin.Limits{Memory: 32, CallTimeout: 500 * time.Millisecond, Output: 4 << 20},
		Provider: &plugin.Provider{
			Framing: abi.FramingNDJSON, DefaultBaseURL: "https://api.example.com/v1", IdleTimeout: 90 * time.Second,
			EndCompletes: true, WantsMessages: true, MessagesLimit: 5, ListsModels: true,
			Models: []abi.Model{{ID: "m1", Context: 128000, Output: 4096}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManifestDefaults(t *testing.T) {
	t.Parallel()
	got, err := plugin.ParseManifest([]byte("abi = 1\nkind = 'provider'\nname = 'x'\nversion = '1'\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := plugin.Manifest{
		ABI: 1, Kind: abi.KindProvider, IO: abi.IOExtism, Name: "x", Version: "1",
		Limits:   plugin.Limits{Memory: 64, CallTimeout: 2 * time.Second, Output: 4 << 20},
		Provider: &plugin.Provider{Framing: abi.FramingSSE},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChannelAndHookManifests(t *testing.T) {
	t.Parallel()
	got, err := plugin.ParseManifest([]byte(`
abi = 1
kind = "channel"
name = "slack"
version = "1"
[channel]
mode = ["socket", "webhook"]
text_limit = 40000
edits = true
[channel.webhook.signature]
scheme = "hmac-sha256"
header = "X-Slack-Signature"
prefix = "v0="
base = "v0:{timestamp}:{body}"
secret = "signing_secret"
tolerance_ms = 300000
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &plugin.Channel{
		Modes: []plugin.Mode{plugin.ModeSocket, plugin.ModeWebhook}, TextLimit: 40000, Edits: true,
		Signature: &plugin.Signature{
			Scheme: "hmac-sha256", Header: "X-Slack-Signature", Prefix: "v0=", Base: "v0:{timestamp}:{body}",
			Secret: "signing_secret", Tolerance: 5 * time.Minute,
		},
	}
	if diff := cmp.Diff(want, got.Channel); diff != "" {
		t.Error(diff)
	}
	got, err = plugin.ParseManifest([]byte("abi = 1\nkind = 'hook'\nname = 'x'\nversion = '1'\n[hook]\norder = -5"))
	if err != nil || got.Hook.Order != -5 {
		t.Errorf("hook: %+v, %v", got.Hook, err)
	}
}

// problems returns the problems of a *LoadError.
func problems(t *testing.T, err error) []string {
	t.Helper()
	var load *plugin.LoadError
	if !errors.As(err, &load) {
		t.Fatalf("want a *LoadError, got a %T: %v", err, err)
	}
	return load.Problems
}

// contains checks that each wanted text is in one of the problems, and that
// there are no others.
func contains(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n"), w) {
			t.Errorf("no problem says %q", w)
		}
	}
	if len(got) != len(want) || t.Failed() {
		t.Errorf("want %d problems, got %d:\n%s", len(want), len(got), strings.Join(got, "\n"))
	}
}

// All mistakes of a manifest are in one message.
func TestManifestReportsEverything(t *testing.T) {
	t.Parallel()
	_, err := plugin.ParseManifest([]byte(`
abi = 2
kind = "provider"
io = "pipe"
name = "Open AI"
version = "1 0"
memory = 3
description = 5
[capabilities]
files = true
clock = "yes"
secrets = [1]
[config]
type = "object"
[config.properties.x]
type = "nonsense"
[limits]
memory_mb = 1
call_timeout_ms = 0
output_bytes = -1
[provider]
framing = "xml"
default_base_url = "ftp://example.com"
idle_timeout = 3
models = [{ context = 5 }]
[channel]
mode = "carrier-pigeon"
`))
	contains(t, problems(t, err),
		"abi is 2, this host speaks ABI 1", `io is "pipe"`, `name is "Open AI"`, `version is "1 0"`, "memory is not a key",
		"description is not a string", "capabilities.files is not a capability", "capabilities.clock is not true or false",
		"capabilities.secrets is not a list", "config is not a valid JSON Schema", "limits.memory_mb is 1", "limits.call_timeout_ms is 0",
		"limits.output_bytes is -1", `provider.framing is "xml"`, "provider.default_base_url", "provider.idle_timeout is not a key",
		"provider.models[0].id is missing", `channel.mode has "carrier-pigeon"`, "channel is a table for another kind")
}

func TestEmptyManifest(t *testing.T) {
	t.Parallel()
	_, err := plugin.ParseManifest(nil)
	contains(t, problems(t, err), "abi is missing", "kind is missing", "name is missing", "version is missing")
}

func TestManifestThatIsNoTOML(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"abi = \n", "\x00asm", "abi = 1\nabi = 2", strings.Repeat("# long\n", 100_000)} {
		_, err := plugin.ParseManifest([]byte(text))
		if got := problems(t, err); len(got) != 1 {
			t.Errorf("%.20q has the problems %q", text, got)
		}
	}
}

// A schema cannot make the host read another document.
func TestSchemaFetchesNothing(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`"$ref" = "https://example.com/schema.json"`, `"$ref" = "file:///etc/passwd"`, `type = "array"`,
		"type = 'object'\nproperties = { a = { pattern = '(' } }", "type = 'object'\nproperties = { a = { type = 'int' } }",
		"type = 'object'\nproperties = { a = { type = 'integer', default = 'x' } }",
	} {
		_, err := plugin.ParseManifest(manifest("stdio", "[config]\n"+schema))
		contains(t, problems(t, err), "config is not a valid JSON Schema")
	}
}

func FuzzParseManifest(f *testing.F) {
	f.Add(manifest("stdio", "[limits]\nmemory_mb = 16"))
	f.Add([]byte("abi = 1\nkind = 'channel'\nname='a'\nversion='1'\n[channel]\nmode=['poll','webhook']\n[channel.webhook.signature]\nscheme='equal'\nheader='h'\nsecret='s'"))
	f.Add([]byte("a = [[[[[[{}]]]]]]\n[config]\ntype='object'\nx=nan\ny=1979-05-27T07:32:00Z"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := plugin.ParseManifest(data)
		var load *plugin.LoadError
		if err != nil && (!errors.As(err, &load) || len(load.Problems) == 0) {
			t.Fatalf("a %T without problems: %v", err, err)
		}
		if err == nil && (m.ABI != 1 || m.Name == "" || m.Kind == "" || m.Limits.Memory < 10) {
			t.Fatalf("accepted %+v", m)
		}
	})
}
