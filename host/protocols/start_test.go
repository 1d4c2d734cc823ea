package protocols

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/host"
)

// allProviders is a config with a provider and a profile for every plugin, and
// an agent for each of those.
func allProviders(agents ...string) string {
	var b strings.Builder
	for _, w := range wires() {
		fmt.Fprintf(&b, "[providers.%s]\nplugin = %q\nbase_url = \"http://127.0.0.1:1%s\"\n[models.%s]\nprovider = %q\nmodel = \"m-1\"\n",
			w.plugin(), w.plugin(), w.suffix(), w.plugin(), w.plugin())
	}
	for _, a := range agents {
		fmt.Fprintf(&b, "[agents.%s]\nmodel = %q\n", a, a)
	}
	return b.String()
}

func plugins() []string {
	var names []string
	for _, w := range wires() {
		names = append(names, w.plugin())
	}
	return names
}

// ownCache makes a home whose cache nobody shares.
func ownCache(t testing.TB, config string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// compiled counts the modules in the cache.
func compiled(t testing.TB, home string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(home, "cache"), func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Only what an agent can ask is compiled and loaded, whatever other providers
// the config has.
func TestOnlyUsedPluginsAreLoaded(t *testing.T) {
	t.Parallel()
	one := ownCache(t, allProviders("gemini"))
	startHost(t, one)
	two := ownCache(t, allProviders("gemini", "openai-chat"))
	startHost(t, two)
	if a, b := compiled(t, one), compiled(t, two); a == 0 || b != 2*a {
		t.Errorf("with one plugin in use the cache has %d files, with two %d", a, b)
	}
}

// A start with all provider plugins: compiled side by side into an empty
// cache, and loaded from a full one.
func BenchmarkStart(b *testing.B) {
	start := func(b *testing.B, home string) {
		h, err := host.Start(b.Context(), host.Options{Home: home, Version: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := h.Shutdown(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	config := allProviders(plugins()...)
	b.Run("cache=empty", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			home := ownCache(b, config)
			b.StartTimer()
			start(b, home)
		}
	})
	b.Run("cache=full", func(b *testing.B) {
		home := ownCache(b, config)
		start(b, home)
		for b.Loop() {
			start(b, home)
		}
	})
}
