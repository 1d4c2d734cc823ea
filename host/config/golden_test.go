package config_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/fault"
)

var update = flag.Bool("update", false, "write golden files") //nolint:gochecknoglobals // a flag

// environment returns the variables that a golden file asks for in comments at
// its top: "#env NAME=value".
func environment(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "#env "); ok {
			env = append(env, v)
		}
	}
	return env
}

// golden compares text with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it):\n%s", path, diff)
	}
}

// TestEffective reads each testdata/effective/*.toml and compares the
// effective config, as text and as JSON. What Show prints gives the same
// config when it is read again.
func TestEffective(t *testing.T) {
	t.Parallel()
	for _, path := range glob(t, "testdata/effective/*.toml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(config.Options{Path: path, Env: environment(t, path)})
			if err != nil {
				t.Fatal(err)
			}
			base := strings.TrimSuffix(path, ".toml")
			golden(t, base+".show", c.Show())
			var indented bytes.Buffer
			if err := json.Indent(&indented, c.JSON(), "", "  "); err != nil {
				t.Fatal(err)
			}
			golden(t, base+".json", indented.String()+"\n")
			again(t, c)
		})
	}
}

// again loads what Show printed.
func again(t *testing.T, c config.Config) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/effective")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "again.toml")
	if err := os.WriteFile(path, []byte(c.Show()), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := config.Load(config.Options{Path: path})
	if err != nil {
		t.Fatalf("%v in:\n%s", err, c.Show())
	}
	if diff := cmp.Diff(plain(c.Show()), plain(d.Show())); diff != "" {
		t.Errorf("what Show prints is another config:\n%s", diff)
	}
}

// plain is Show's text without origins.
func plain(show string) string {
	var b strings.Builder
	for line := range strings.Lines(show) {
		if i := strings.LastIndex(line, "  # "); i >= 0 {
			line = line[:i]
		}
		if !strings.HasPrefix(line, "#") {
			b.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	return b.String()
}

// TestErrors reads each testdata/errors/*.toml and compares what is reported.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, path := range glob(t, "testdata/errors/*.toml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c, err := config.Load(config.Options{Path: path, Env: environment(t, path)})
			if err == nil {
				t.Fatal("no error")
			}
			if fmt.Sprintf("%+v", c) != fmt.Sprintf("%+v", config.Config{}) {
				t.Error("a refused config is returned, and with it perhaps a secret")
			}
			golden(t, strings.TrimSuffix(path, ".toml")+".txt", err.Error()+"\n")
			if fault.CodeOf(err) != fault.Config || fault.HintOf(err) == "" {
				t.Errorf("code %s, hint %q", fault.CodeOf(err), fault.HintOf(err))
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("a secret is in the message")
			}
		})
	}
}

// TestTenMistakes: all at once, in the order of the file, each with a place.
func TestTenMistakes(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Options{Path: "testdata/errors/ten.toml"})
	var all *config.Errors
	if !errors.As(err, &all) || len(all.List) < 10 {
		t.Fatalf("got %v", err)
	}
	for i, p := range all.List {
		if p.Line == 0 || p.Column == 0 || p.File == "" || p.Msg == "" || p.Hint == "" {
			t.Errorf("not clear: %+v", p)
		}
		if i > 0 && p.Line < all.List[i-1].Line {
			t.Errorf("out of order: %s", p)
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, error %v", pattern, len(paths), err)
	}
	return paths
}
