package plugin_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zchost/zchost/host/plugin"
)

// files lists the files below dir that the compile cache has, without sums.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "sum" {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// cached returns a runtime with a cache of its own.
func cached(t *testing.T, dir string) *plugin.Runtime {
	t.Helper()
	return newRuntime(t, func(o *plugin.Options) { o.CacheDir = dir })
}

// The cache is private, and what is compiled is found there again, by content.
func TestCacheKeepsCompiledModules(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "by us")
	r := cached(t, dir)
	for path := dir; ; path = r.CacheVersionDir() {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v (%v)", path, info.Mode(), err)
		}
		if path == r.CacheVersionDir() {
			break
		}
	}
	load(t, r, manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	first := files(t, dir)
	if len(first) != 1 {
		t.Fatalf("the cache holds %q", first)
	}
	info, err := os.Stat(first[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the entry has mode %v (%v)", info.Mode(), err)
	}
	p := load(t, cached(t, dir), manifest("stdio", "description = 'x'"), switchModule().bytes(), plugin.Grant{})
	if got := say(t, p, "k"); got != "k" {
		t.Errorf("from the cache it gave %q", got)
	}
	again, err := os.Stat(first[0])
	if err != nil || !os.SameFile(info, again) || len(files(t, dir)) != 1 {
		t.Error("the module was compiled again")
	}
	load(t, r, manifest("stdio", ""), switchModule(2).bytes(), plugin.Grant{})
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("with another module the cache holds %q", got)
	}
}

// Single flight: one module is compiled once, however many load it at once.
func TestCacheSingleFlight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := cached(t, dir)
	var loads sync.WaitGroup
	for range 8 {
		loads.Go(func() {
			p := load(t, r, manifest("extism", ""), extismSwitch().bytes(), plugin.Grant{})
			if got := say(t, p, "k"); got != "k" {
				t.Errorf("it gave %q", got)
			}
		})
		loads.Go(func() { load(t, r, manifest("stdio", ""), switchModule().bytes(), plugin.Grant{}) })
	}
	loads.Wait()
	if got := files(t, dir); len(got) != 3 { // Extism's kernel too
		t.Errorf("the cache holds %q", got)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.Load(ctx, plugin.Source{Manifest: manifest("stdio", ""), Module: switchModule(3).bytes()}, plugin.Grant{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled load gave %v", err)
	}
}

// Several hosts on one directory do not take each other's entries away.
func TestCacheSharedByHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const modules = 20
	var hosts sync.WaitGroup
	for range 6 {
		r := cached(t, dir)
		hosts.Go(func() {
			for n := range uint64(modules) {
				p := load(t, r, manifest("stdio", ""), switchModule(n+1).bytes(), plugin.Grant{})
				if got := say(t, p, "k"); got != "k" {
					t.Errorf("it gave %q", got)
				}
				p.Close()
			}
		})
	}
	hosts.Wait()
	if got := files(t, dir); len(got) != modules || strings.Contains(strings.Join(got, ""), ".making-") {
		t.Errorf("the cache holds %d files, want %d: %q", len(got), modules, got)
	}
}

// A changed or cut entry is compiled anew. wazero itself would trust the table
// before the code.
func TestCacheEntryThatWasChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	load(t, cached(t, dir), manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	good, err := os.ReadFile(files(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{
		"empty": {}, "cut": good[:len(good)/2], "first byte": append([]byte{0}, good[1:]...),
		"function count": bytes.Replace(good, []byte{1, 0, 0, 0}, []byte{255, 255, 255, 127}, 1),
		"code":           append(bytes.Clone(good[:len(good)-40]), make([]byte, 40)...),
	} {
		if err := os.WriteFile(files(t, dir)[0], bad, 0o600); err != nil {
			t.Fatal(err)
		}
		p := load(t, cached(t, dir), manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
		if got := say(t, p, "k"); got != "k" {
			t.Errorf("%s: it gave %q", what, got)
		}
		if got, err := os.ReadFile(files(t, dir)[0]); err != nil || !bytes.Equal(got, good) {
			t.Errorf("%s: the entry was not made anew (%v)", what, err)
		}
	}
}

// At start the cache is cleaned: other versions, and what is over the limit,
// the longest unused first. Files that are not ours stay.
func TestCacheIsCleaned(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	version := filepath.Base(cached(t, dir).CacheVersionDir())
	for _, path := range []string{"wazero-v1.0.0-amd64/old/code", version + "/abc.making-1/code", version + "/abc.making-2/code", "notes.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, version, "abc.making-1"), long, long); err != nil {
		t.Fatal(err)
	}
	r := cached(t, dir)
	if got := strings.Join(files(t, dir), " "); got != filepath.Join(dir, "notes.txt")+" "+filepath.Join(dir, version, "abc.making-2", "code") {
		t.Errorf("the cache holds %s", got)
	}
	if err := os.RemoveAll(filepath.Join(dir, version, "abc.making-2")); err != nil {
		t.Fatal(err)
	}
	for n, name := range []string{"middle", "newest", "oldest"} {
		entry := filepath.Join(r.CacheVersionDir(), name)
		if err := os.MkdirAll(filepath.Join(entry, "deep"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(entry, "deep", "code"), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(time.Duration([]int{-2, -1, -3}[n]) * time.Hour)
		if err := os.Chtimes(entry, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		limit int64
		want  string
	}{{3000, "middle newest oldest"}, {2999, "middle newest"}, {1000, "newest"}, {0, ""}} {
		if err := r.Trim(step.limit); err != nil {
			t.Fatal(err)
		}
		var names []string
		entries, err := os.ReadDir(r.CacheVersionDir())
		for _, e := range entries {
			names = append(names, e.Name())
		}
		if got := strings.Join(names, " "); err != nil || got != step.want {
			t.Errorf("at %d bytes %q is left (%v), want %q", step.limit, got, err, step.want)
		}
	}
}

// A cache directory that others could write is emptied before use: what is in
// it would be run. One that cannot be used is no reason not to start.
func TestCacheThatIsNotPrivate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	load(t, cached(t, dir), manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	for mode, left := range map[os.FileMode]int{0o755: 1, 0o777: 0} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		cached(t, dir)
		info, err := os.Stat(dir)
		if got := len(files(t, dir)); err != nil || info.Mode().Perm() != 0o700 || got != left {
			t.Errorf("mode %o became %v with %d entries, want %d", mode, info.Mode().Perm(), got, left)
		}
		load(t, cached(t, dir), manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := load(t, cached(t, file), manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	if got := say(t, p, "k"); got != "k" {
		t.Errorf("without a cache it gave %q", got)
	}
}

// A disk that takes nothing is no reason not to load.
func TestCacheThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := cached(t, dir)
	if err := os.RemoveAll(r.CacheVersionDir()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.CacheVersionDir(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p := load(t, r, manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	if got := say(t, p, "k"); got != "k" {
		t.Errorf("it gave %q", got)
	}
}

func TestReadDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := plugin.ReadDir(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "plugin.toml") {
		t.Errorf("an empty directory gave %v", err)
	}
	write("plugin.toml", []byte("abi = 1"))
	write("plugin.wasm", []byte("wasm"))
	s, err := plugin.ReadDir(dir)
	if err != nil || string(s.Manifest) != "abi = 1" || string(s.Module) != "wasm" || s.Origin != dir {
		t.Errorf("read %+v, %v", s, err)
	}
	write("plugin.toml", make([]byte, 256<<10+1))
	if _, err := plugin.ReadDir(dir); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large manifest gave %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "plugin.toml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "plugin.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := plugin.ReadDir(dir); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a directory in place of the manifest gave %v", err)
	}
}

// pack makes a .zcp.
func pack(t testing.TB, entries ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for n := 0; n < len(entries); n += 2 {
		w, err := z.Create(entries[n])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(entries[n+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestReadPackage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.zcp")
	read := func(data []byte) (plugin.Source, error) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return plugin.ReadPackage(path)
	}
	s, err := read(pack(t, "README.md", "hello", "plugin.toml", "abi = 1", "plugin.wasm", "wasm"))
	if err != nil || string(s.Manifest) != "abi = 1" || string(s.Module) != "wasm" || s.Origin != path {
		t.Errorf("read %+v, %v", s, err)
	}
	for want, data := range map[string][]byte{
		"no plugin.wasm":    pack(t, "plugin.toml", "abi = 1"),
		"no plugin.toml":    pack(t, "x/plugin.toml", "abi = 1", "plugin.wasm", ""),
		"plugin.toml twice": pack(t, "plugin.toml", "a", "plugin.toml", "b", "plugin.wasm", ""),
		"larger than":       pack(t, "plugin.toml", strings.Repeat("#", 1<<20), "plugin.wasm", ""),
		"zip":               []byte("this is no archive"),
		"larger than 6":     pack(t, "plugin.toml", "", "plugin.wasm", strings.Repeat("\x00", 64<<20+1)),
	} {
		if _, err := read(data); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := plugin.ReadPackage(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a directory gave %v", err)
	}
}

func FuzzReadPackage(f *testing.F) {
	f.Add(pack(f, "plugin.toml", "abi = 1", "plugin.wasm", "wasm"))
	f.Add(pack(f, "plugin.toml", "abi = 1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.zcp")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := plugin.ReadPackage(path)
		if (err == nil) != (s.Origin == path) {
			t.Fatalf("read %+v with error %v", s, err)
		}
	})
}
