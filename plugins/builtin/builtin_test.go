package builtin

import (
	"errors"
	"slices"
	"testing"
	"testing/fstest"
)

func built() fstest.MapFS {
	return fstest.MapFS{
		"README":             {Data: []byte("text")},
		"demo/plugin.toml":   {Data: []byte("name = 'demo'")},
		"demo/plugin.wasm":   {Data: []byte("\x00asm")},
		"alpha/plugin.toml":  {Data: []byte("name = 'alpha'")},
		"alpha/plugin.wasm":  {Data: []byte("\x00asm2")},
		"broken/plugin.toml": {Data: []byte("name = 'broken'")},
	}
}

func TestNamesAreSortedAndComplete(t *testing.T) {
	t.Parallel()
	if got, want := names(built()), []string{"alpha", "demo"}; !slices.Equal(got, want) {
		t.Errorf("names = %q, want %q", got, want)
	}
}

func TestOpenGivesBothFiles(t *testing.T) {
	t.Parallel()
	manifest, module, err := open(built(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	if string(manifest) != "name = 'demo'" || string(module) != "\x00asm" {
		t.Errorf("got %q and %q", manifest, module)
	}
}

func TestOpenRefusesOtherNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"none", "broken", "README", "../demo", "", ".", "demo/plugin.toml"} {
		_, _, err := open(built(), name)
		var missing *NotFoundError
		if !errors.As(err, &missing) || missing.Name != name {
			t.Errorf("open(%q) = %v, want a NotFoundError with the name", name, err)
		}
	}
}

func TestOpenWithoutPluginsSaysSo(t *testing.T) {
	t.Parallel()
	empty := fstest.MapFS{"README": {Data: []byte("text")}}
	if _, _, err := open(empty, "demo"); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("open without plugins = %v, want ErrNotBuilt", err)
	}
}

func TestEverythingEmbeddedOpens(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		if _, _, err := Open(name); err != nil {
			t.Error(err)
		}
	}
}
