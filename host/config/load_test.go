package config_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/host/config"
)

// load writes a config into a home and loads it.
func load(t *testing.T, text string, env ...string) (config.Config, error) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, config.FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(config.Options{Home: home, Env: env})
}

// TestDefaults: without a file, with an empty one, and with only comments the
// config is the same: the main agent on the demo provider.
func TestDefaults(t *testing.T) {
	t.Parallel()
	want := config.Config{
		Agents:    map[string]config.Agent{"main": {Model: "demo", Tools: []string{"list_dir", "read_file"}}},
		Models:    map[string]config.Model{"demo": {Provider: "demo", Model: "demo"}},
		Providers: map[string]config.Provider{"demo": {Plugin: "demo"}},
		Log:       config.Log{Level: "warn", Format: "text"},
	}
	none, err := config.Load(config.Options{Home: t.TempDir(), Env: []string{"OPENAI_API_KEY=x", "ZCHOST_HOME=/x"}})
	if err != nil {
		t.Fatal(err)
	}
	if none.File() != "" {
		t.Errorf("file %q", none.File())
	}
	for _, text := range []string{"", "\n\n", "# nothing\r\n", "\ufeff"} {
		c, err := load(t, text)
		if err != nil {
			t.Fatal(err)
		}
		if c.File() == "" {
			t.Error("the file is not named")
		}
		for _, got := range []config.Config{none, c} {
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(config.Config{})); diff != "" {
				t.Errorf("%q: %s", text, diff)
			}
		}
	}
}

// TestNamedFileMustBeThere: whoever watches a file must not take the moment in
// which an editor renames for a config without keys (C140).
func TestNamedFileMustBeThere(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "config.toml"), t.TempDir()} {
		_, err := config.Load(config.Options{Path: path})
		var all *config.Errors
		if !errors.As(err, &all) || len(all.List) != 1 || all.List[0].File != path {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// TestLargeFile is refused without being read to its end.
func TestLargeFile(t *testing.T) {
	t.Parallel()
	_, err := load(t, strings.Repeat("#", 1<<20+1))
	if err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
	if _, err := load(t, strings.Repeat("#", 1<<20)); err != nil {
		t.Errorf("the largest: %v", err)
	}
}

// TestManyProblems are bounded.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"[models.x", "x = y\n", "[agents.main.a]\n", "a\x01 = 1\n"} {
		_, err := load(t, strings.Repeat(line, 1<<20/len(line)))
		var all *config.Errors
		if !errors.As(err, &all) || len(all.List) > 101 {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// TestManyKeys ends with the table that has too many, in little time.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"":                        "and 925 more",
		"[providers.a.options]\n": "more than 1024 keys in one table",
	} {
		var b strings.Builder
		b.WriteString(head)
		for i := range 80_000 {
			fmt.Fprintf(&b, "k%d = 1\n", i)
		}
		_, err := load(t, b.String())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: no %q", head, want)
		}
	}
}

// TestHalfWritten cuts a config at every byte, as an editor does that writes
// in two steps (C140). What is cut inside a value or a name is an error; what
// is cut between two lines is a shorter config, and never a panic.
func TestHalfWritten(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/effective/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	for n := range data {
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(config.Options{Path: path})
		var all *config.Errors
		if err != nil && !errors.As(err, &all) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// TestDamaged changes random bytes: an error has a place, and there is no
// panic.
func TestDamaged(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/effective/full.toml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		damaged := []byte(string(data))
		for range 1 + random.IntN(3) {
			damaged[random.IntN(len(damaged))] = byte(random.IntN(256))
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := config.Load(config.Options{Path: path})
		var all *config.Errors
		if err != nil && !errors.As(err, &all) {
			t.Fatalf("%v", err)
		}
	}
}

// FuzzLoad reads any bytes as a config: an error is an *Errors, and what loads
// is shown as TOML that loads to the same.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{"testdata/effective/*.toml", "testdata/errors/*.toml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := load(t, string(data))
		if err != nil {
			var all *config.Errors
			if !errors.As(err, &all) || len(all.List) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		d, err := load(t, c.Show())
		if err != nil {
			t.Fatalf("%v in what Show prints:\n%s", err, c.Show())
		}
		if diff := cmp.Diff(plain(c.Show()), plain(d.Show())); diff != "" {
			t.Fatal(diff)
		}
	})
}
