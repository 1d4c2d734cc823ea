package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
			WantsMessages: true, MessagesLimit: 5, ListsModels: true,
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

// Load puts the problems of manifest, module, grants and config in one message.
func TestLoadReportsEverything(t *testing.T) {
	t.Parallel()
	module := wasm{
		imports: []wasmImport{
			{"env", "a", "", ""}, {"env", "b", "", ""},
			{"extism:host/env", "alloc", i64, i64},
			{"wasi_snapshot_preview1", "sock_fly", "", i32},
			{"wasi_snapshot_preview1", "fd_read", "", i32},
			{"zchost:host/v1", "now", "", i64},
			{"zchost:host/v1", "telepathy", "", i64},
		},
		funcs: []wasmFunc{
			{"chat_messages", "", i32, constant(0)},
			{"chat_request", i32, i32, constant(0)},
			{"chat_response", "", i64, constant64(0)},
			{"chat_events", "", "", ""},
		},
		memory: []uint64{2000},
	}
	toml := `
abi = 1
kind = "provider"
io = "stdio"
name = "bad"
version = "1"
typo = 1
[capabilities]
random = true
http = ["example.com"]
secrets = ["api_key", "other"]
[config]
type = "object"
required = ["region"]
`
	r := newRuntime(t)
	_, err := r.Load(context.Background(), plugin.Source{Manifest: []byte(toml), Module: module.bytes(), Origin: "here"}, plugin.Grant{
		Capabilities: plugin.Capabilities{Secrets: []string{"api_key"}, HTTP: []string{"example.com"}},
		Config:       []byte(`{"colour":"red"}`),
	})
	contains(t, problems(t, err),
		"typo is not a key", "capability random is not granted", "capability http: this host grants it to no provider plugin",
		`capability secrets "other" is not granted`, "config: ", `imports from "env"`, `imports from "extism:host/env"`,
		"sock_fly, which does not exist", "fd_read with another type", "now, which needs the capability clock", "telepathy, which this host does not have",
		"does not export chat_error", "exports chat_request, but not", "exports chat_response, but not", "needs 2000 pages of memory (125 MiB) to start, its limit is 64 MiB")
}

// What is not a module, or one that does not validate, is one problem.
func TestNotAModule(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	good := switchModule().bytes()
	invalid := wasm{funcs: []wasmFunc{{hookExport, "", i32, ""}}} // nothing on the stack
	for what, module := range map[string][]byte{
		"nothing":    nil,
		"text":       []byte("#!/bin/sh\necho hello\n"),
		"component":  []byte("\x00asm\x0d\x00\x01\x00"),
		"version 2":  []byte("\x00asm\x02\x00\x00\x00"),
		"cut":        good[:len(good)-20],
		"invalid":    invalid.bytes(),
		"huge count": []byte("\x00asm\x01\x00\x00\x00\x01\x05\xff\xff\xff\xff\x0f"),
	} {
		for _, io := range []string{"stdio", "extism"} {
			_, err := r.Load(context.Background(), plugin.Source{Manifest: manifest(io, ""), Module: module}, plugin.Grant{})
			if got := problems(t, err); len(got) == 0 || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q", what, got)
			}
		}
	}
}

// The operator's limits cap those of the manifest.
func TestOperatorCapsLimits(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	toml := manifest("stdio", "[limits]\nmemory_mb = 512\ncall_timeout_ms = 60000\noutput_bytes = 1000")
	for _, c := range []struct{ caps, want plugin.Limits }{
		{plugin.Limits{}, plugin.Limits{Memory: 256, CallTimeout: 30 * time.Second, Output: 1000}},
		{plugin.Limits{Memory: 20, CallTimeout: time.Second, Output: 500}, plugin.Limits{Memory: 20, CallTimeout: time.Second, Output: 500}},
	} {
		p := load(t, r, toml, switchModule().bytes(), plugin.Grant{Limits: c.caps})
		if got := p.Limits(); got != c.want {
			t.Errorf("caps %+v give %+v", c.caps, got)
		}
	}
	_, err := r.Load(context.Background(), plugin.Source{Manifest: toml, Module: switchModule().bytes()}, plugin.Grant{Limits: plugin.Limits{Memory: 9}})
	contains(t, problems(t, err), "memory_mb is capped at 9")
}

// The settings are checked against the schema, and its defaults filled in.
func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	toml := manifest("stdio", `
[config]
type = "object"
additionalProperties = false
[config.properties.region]
type = "string"
default = "eu"
[config.properties.size]
type = "integer"
maximum = 10
`)
	for config, want := range map[string]string{
		"":                           `{"region":"eu"}`,
		`{"size": 3, "region":"us"}`: `{"region":"us","size":3}`,
		`{"size": 11}`:               "!",
		`{"sise": 3}`:                "!",
		`[]`:                         "!",
		`{`:                          "!",
	} {
		p, err := r.Load(context.Background(), plugin.Source{Manifest: toml, Module: switchModule().bytes()}, plugin.Grant{Config: []byte(config)})
		switch {
		case want == "!":
			contains(t, problems(t, err), "config: ")
		case err != nil || string(p.Config()) != want:
			t.Errorf("%s gave %v, want %s", config, err, want)
		}
	}
	_, err := r.Load(context.Background(), plugin.Source{Manifest: manifest("stdio", ""), Module: switchModule().bytes()}, plugin.Grant{Config: []byte(`{"a":1}`)})
	contains(t, problems(t, err), "the plugin has no settings")
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

// The fingerprint changes when, and only when, something changes that can
// change behaviour. Secrets are not among its inputs: the config holds names.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	base := func() (string, wasm, plugin.Grant) {
		return "[capabilities]\nrandom = true\nsecrets = ['a', 'b']\n[config]\ntype = 'object'\n[config.properties.x]\ntype = 'integer'\ndefault = 1", switchModule(),
			plugin.Grant{Capabilities: plugin.Capabilities{Random: true, Clock: true, Secrets: []string{"a", "b"}}, Config: []byte(`{"x":1}`)}
	}
	print := func(change func(toml *string, w *wasm, g *plugin.Grant)) plugin.Fingerprint {
		toml, w, g := base()
		change(&toml, &w, &g)
		return load(t, r, manifest("stdio", toml), w.bytes(), g).Fingerprint()
	}
	first := print(func(*string, *wasm, *plugin.Grant) {})
	if got, want := first.String(), "test@1.0.0#"+first.Full()[:8]; got != want || len(first.Full()) != 64 {
		t.Errorf("the short form is %s, want %s", got, want)
	}
	seen := map[string]string{first.Full(): "nothing"}
	for what, change := range map[string]func(toml *string, w *wasm, g *plugin.Grant){
		"manifest":      func(toml *string, _ *wasm, _ *plugin.Grant) { *toml = "description = 'x'\n" + *toml },
		"schema":        func(toml *string, _ *wasm, _ *plugin.Grant) { *toml += "\nmaximum = 5" },
		"module":        func(_ *string, w *wasm, _ *plugin.Grant) { w.data = []wasmData{{100, "x"}} },
		"debug section": func(_ *string, w *wasm, _ *plugin.Grant) { w.custom = "\x00\x02\x01m" },
		"config":        func(_ *string, _ *wasm, g *plugin.Grant) { g.Config = []byte(`{"x":2}`) },
		"memory":        func(_ *string, _ *wasm, g *plugin.Grant) { g.Limits.Memory = 32 },
		"timeout":       func(_ *string, _ *wasm, g *plugin.Grant) { g.Limits.CallTimeout = time.Second },
		"output":        func(_ *string, _ *wasm, g *plugin.Grant) { g.Limits.Output = 1000 },
		"capability":    func(toml *string, _ *wasm, _ *plugin.Grant) { *toml = strings.Replace(*toml, "random", "clock", 1) },
		"secret name":   func(toml *string, _ *wasm, _ *plugin.Grant) { *toml = strings.Replace(*toml, "'a', ", "", 1) },
	} {
		got := print(change).Full()
		if other, ok := seen[got]; ok {
			t.Errorf("%s makes no difference to %s", what, other)
		}
		seen[got] = what
	}
	for what, change := range map[string]func(toml *string, w *wasm, g *plugin.Grant){
		"a comment":              func(toml *string, _ *wasm, _ *plugin.Grant) { *toml = "# hello\n" + *toml },
		"the default by itself":  func(_ *string, _ *wasm, g *plugin.Grant) { g.Config = nil },
		"space in the config":    func(_ *string, _ *wasm, g *plugin.Grant) { g.Config = []byte("{ \"x\" :\n1 }") },
		"a capability not asked": func(_ *string, _ *wasm, g *plugin.Grant) { g.Capabilities.Clock = false },
		"a secret not asked for": func(_ *string, _ *wasm, g *plugin.Grant) { g.Capabilities.Secrets = []string{"c", "b", "a"} },
		"the size of the pool":   func(_ *string, _ *wasm, g *plugin.Grant) { g.Instances = 1 },
		"a cap that is no limit": func(_ *string, _ *wasm, g *plugin.Grant) { g.Limits.Memory = 128 },
		"nothing, in a new host": func(*string, *wasm, *plugin.Grant) { r = newRuntime(t) },
	} {
		if got := print(change); got != first {
			t.Errorf("%s changes the fingerprint", what)
		}
	}
}

func FuzzLoadModule(f *testing.F) {
	f.Add(switchModule().bytes())
	f.Add(extismSwitch().bytes())
	f.Add((wasm{funcs: []wasmFunc{{"f", "", "", ""}}, memory: []uint64{1, 2}, custom: "x", data: []wasmData{{0, "a"}, {5, "b"}, {-1, "c"}}}).bytes())
	f.Fuzz(func(t *testing.T, binary []byte) {
		slim, err := plugin.Slim(binary)
		if err != nil {
			return
		}
		again, err := plugin.Slim(slim)
		if err != nil || !bytes.Equal(slim, again) {
			t.Fatalf("slimming twice differs from once: %v", err)
		}
	})
}

// slim takes away only what makes no difference.
func TestSlimKeepsBehaviour(t *testing.T) {
	t.Parallel()
	dump := func(w wasm) string { // what the module's memory holds at the start
		w.imports = []wasmImport{{"wasi_snapshot_preview1", "fd_write", i32 + i32 + i32 + i32, i32}}
		w.funcs = []wasmFunc{{hookExport, "", i32,
			store32(60000, constant(0)) + store32(60004, constant(4096)) +
				constant(1) + constant(60000) + constant(1) + constant(60008) + call(0)}}
		w.memory = []uint64{1}
		p := load(t, newRuntime(t), manifest("stdio", ""), w.bytes(), plugin.Grant{})
		return say(t, p, "")
	}
	for what, c := range map[string]struct {
		data    []wasmData
		smaller bool
	}{
		"neighbours":     {[]wasmData{{0, "abc"}, {3, "def"}, {10, "g"}}, true},
		"zeros between":  {[]wasmData{{0, "abc"}, {30, "def"}}, true},
		"a long gap":     {[]wasmData{{0, "abc"}, {3000, "def"}}, false},
		"falling":        {[]wasmData{{100, "abc"}, {0, "def"}}, false},
		"two runs":       {[]wasmData{{100, "abc"}, {105, "d"}, {0, "def"}, {5, "g"}}, true},
		"run over run":   {[]wasmData{{102, "x"}, {100, "a"}, {103, "d"}}, false},
		"overlapping":    {[]wasmData{{0, "abc"}, {1, "XY"}}, false},
		"an empty piece": {[]wasmData{{0, "abc"}, {3, ""}, {4, "d"}}, false},
		"none":           {nil, false},
	} {
		want := make([]byte, 4096)
		for _, d := range c.data {
			copy(want[d.at:], d.data)
		}
		for _, custom := range []string{"", strings.Repeat("debug", 100)} {
			if got := dump(wasm{data: c.data, custom: custom}); got != string(want) {
				t.Errorf("%s: the memory is %.60q", what, got)
			}
		}
		plain := wasm{data: c.data, funcs: []wasmFunc{{"f", "", "", ""}}, memory: []uint64{1}}
		binary := plain.bytes()
		slim, err := plugin.Slim(binary)
		if err != nil {
			t.Fatal(err)
		}
		if c.smaller == bytes.Equal(slim, binary) {
			t.Errorf("%s: %d bytes became %d", what, len(binary), len(slim))
		}
		plain.custom = "x"
		if got, err := plugin.Slim(plain.bytes()); err != nil || !bytes.Equal(got, slim) {
			t.Errorf("%s: the custom section is still there (%v)", what, err)
		}
		plain.count = true // code may then use segments by their number
		counted := plain
		counted.custom = ""
		if got, err := plugin.Slim(plain.bytes()); err != nil || !bytes.Equal(got, counted.bytes()) {
			t.Errorf("%s: with a data count the segments changed (%v)", what, err)
		}
	}
	module := guest(t, goGuest)
	slim, err := plugin.Slim(module)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(fmt.Sprintf("the Go guest: %d bytes, %d slim", len(module), len(slim)))
}
