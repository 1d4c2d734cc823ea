//go:build unix

package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/host"
)

// buildExample builds a tool plugin of examples into a home.
func buildExample(t *testing.T, home, name string) {
	t.Helper()
	dir := filepath.Join(home, "plugins", name)
	source := "../examples/tool-" + name
	manifest, err := os.ReadFile(source + "/plugin.toml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugin.toml"), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", filepath.Join(dir, "plugin.wasm"), source)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build plugin %s: %v\n%s", name, err, out)
	}
}

// withTools is a config whose agent is the demo with tools, and more at its end.
func withTools(tools, more string) string {
	return "[agents.main]\nmodel = \"m\"\napprove = \"never\"\ntools = [" + tools + "]\n" +
		"[models.m]\nprovider = \"demo\"\nmodel = \"demo\"\n[providers.demo]\nplugin = \"demo\"\n" + more
}

// A plugin's tools are an agent's, and what a tool gives is free of the secrets
// that the host knows.
func TestAgentWithToolPlugin(t *testing.T) {
	t.Parallel()
	const key = "tok-77aa1f0c2b934e8d"
	home := newHome(t, withTools(`"plugin:dice", "shell"`, "[shell]\nenv = [\"PATH\", \"DICE_TOKEN\"]\n"+
		"[tools.dice]\nplugin = \"dice\"\nallow = { secrets = { token = \"env:DICE_TOKEN\" } }\n"))
	buildExample(t, home, "dice")
	h, err := host.Start(t.Context(), host.Options{Home: home, Env: []string{"PATH=" + os.Getenv("PATH"), "DICE_TOKEN=" + key, "OTHER=x"}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range map[string]string{
		`/demo tool dice_odds {"dice": "3d6", "total": 17}`:         "3d6 gives at least 17 with a probability of 1.85 %.",
		`/demo tool dice_odds {"dice": 3}`:                          "its arguments do not fit its input schema",
		`/demo tool shell {"command": "echo $DICE_TOKEN.$OTHER !"}`: "[redacted]. !",
	} {
		_, text := ask(t, h, "main", said)
		if !strings.Contains(text, want) {
			t.Errorf("%s gave %q, want %q", said, text, want)
		}
	}
	if err := h.Shutdown(); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		nowhere(t, path, data, key)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A plugin that asks for more than the operator allows, and a tool that it does
// not have, are said at the start.
func TestToolPluginIsChecked(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		withTools(`"plugin:weather"`, "[tools.weather]\nplugin = \"weather\"\nallow = { http = [\"api.open-meteo.com\"] }\n"):    `capability http "geocoding-api.open-meteo.com" is not granted`,
		withTools(`"plugin:weather/wind"`, "[tools.weather]\nplugin = \"weather\"\nallow = { http = [\"*.open-meteo.com\"] }\n"): `has no tool "wind"`,
	} {
		home := newHome(t, config)
		buildExample(t, home, "weather")
		h, err := host.Start(t.Context(), host.Options{Home: home, Version: "test"})
		if err == nil {
			_ = h.Shutdown()
			t.Errorf("it started, and should say %q", want)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
