package plugin_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host/plugin"
)

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

// The fingerprint changes when, and only when, something changes that can
// change behaviour. Secrets are not among its inputs: the config holds names.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	base := func() (string, wasm, plugin.Grant) {
		return "[capabilities]\nrandom = true\nsecrets = ['a', 'b']\n[config]\ntype = 'object'\n[config.properties.x]\ntype = 'integer'\ndefault = 1", switchModule(),
			plugin.Grant{Capabilities: plugin.Capabilities{Random: true, Clock: true, Secrets: []string{"a", "b"}}, Config: []byte(`{"x":1}`)}
	}
	of := func(change func(toml *string, w *wasm, g *plugin.Grant)) plugin.Fingerprint {
		toml, w, g := base()
		change(&toml, &w, &g)
		return load(t, r, manifest("stdio", toml), w.bytes(), g).Fingerprint()
	}
	first := of(func(*string, *wasm, *plugin.Grant) {})
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
		got := of(change).Full()
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
		if got := of(change); got != first {
			t.Errorf("%s changes the fingerprint", what)
		}
	}
}
