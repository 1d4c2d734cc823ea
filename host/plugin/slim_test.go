package plugin_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/plugin"
)

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
	t.Logf("the Go guest: %d bytes, %d slim", len(module), len(slim))
}
