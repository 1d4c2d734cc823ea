package builtin

import (
	"context"
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
				Images:      !p.Manifest().Provider.WantsMessages,
				Streams:     recorded(t, "../providers/"+name+"/testdata", string(p.Manifest().Provider.Framing)),
			})
		})
	}
}

// recorded reads some of the streams in a plugin's testdata: all of them take
// long in a sandbox.
func recorded(t *testing.T, dir, framing string) []providertest.Stream {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*."+framing))
	if err != nil {
		t.Fatal(err)
	}
	var streams []providertest.Stream
	for _, path := range paths[:min(len(paths), 3)] {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		streams = append(streams, providertest.Stream{Name: filepath.Base(path), Frames: framesOf(string(text), framing)})
	}
	return streams
}

// framesOf cuts a stream whose frames have one line of data each.
func framesOf(text, framing string) []providertest.Frame {
	var frames []providertest.Frame
	name := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if framing == string(abi.FramingNDJSON) {
			line = "data: " + line
		}
		if n, ok := strings.CutPrefix(line, "event: "); ok {
			name = n
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "" {
			frames = append(frames, providertest.Frame{Name: name, Data: data})
			name = ""
		}
	}
	return frames
}
