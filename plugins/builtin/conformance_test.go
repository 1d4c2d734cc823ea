package builtin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/sdk/providertest"
)

// TestCompiledPlugins runs the suite that each plugin passes natively against
// the module that the program contains.
func TestCompiledPlugins(t *testing.T) {
	t.Parallel()
	if len(Names()) == 0 {
		t.Fatal("not built: run `make plugins`")
	}
	ctx := context.WithoutCancel(t.Context()) // what closes runs after the test
	runtime, err := plugin.NewRuntime(ctx, plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := runtime.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	for _, name := range Names() {
		manifest, module, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := runtime.Load(ctx, plugin.Source{Manifest: manifest, Module: module, Origin: name}, plugin.Grant{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		if p.Manifest().Kind != abi.KindProvider {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.Run(t, p, providertest.Suite{
				Scripted:    p.Manifest().Provider.WantsMessages,
				ListsModels: p.Manifest().Provider.ListsModels,
				Streams:     recorded(t, "../providers/"+name+"/testdata"),
			})
		})
	}
}

// recorded reads some of the streams in a plugin's testdata: all of them take
// long in a sandbox.
func recorded(t *testing.T, dir string) []providertest.Stream {
	t.Helper()
	var streams []providertest.Stream
	for _, name := range []string{"openai.sse", "openrouter-error.sse"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another protocol's
		}
		if err != nil {
			t.Fatal(err)
		}
		s := providertest.Stream{Name: name}
		for line := range strings.Lines(string(text)) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				s.Frames = append(s.Frames, providertest.Frame{Data: data})
			}
		}
		streams = append(streams, s)
	}
	return streams
}
