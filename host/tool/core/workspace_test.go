package core_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool/core"
)

// No path leads out of the workspace, for no tool.
func TestNothingOutsideTheWorkspace(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"in.txt": "inside\n", "d/in.txt": "inside\n"})
	outside := filepath.Dir(b.dir)
	secret := filepath.Join(outside, "secret.txt")
	if err := os.WriteFile(secret, []byte("top secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"abs": secret, "rel": "../secret.txt", "dir": "..", "absdir": outside, "d/up": "../../secret.txt", "chain": "rel",
		"new": "../new.txt", "self": "self",
	} {
		if err := os.Symlink(target, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	paths := []string{
		"../secret.txt", "d/../../secret.txt", "./../secret.txt", secret, "/etc/passwd", "abs", "rel", "dir/secret.txt", "absdir/secret.txt", "d/up", "chain",
		"dir", "..", "/", "new", "absdir/new.txt", "dir/new.txt", "self", "a\x00b", strings.Repeat("x/", 3000),
	}
	for _, p := range paths {
		for name, a := range map[string]args{
			core.ReadFile: {"path": p}, core.ListDir: {"path": p}, core.SearchFiles: {"path": p, "pattern": "secret"},
			core.WriteFile: {"path": p, "content": "overwritten"}, core.EditFile: {"path": p, "old": "top", "new": "no"},
		} {
			if got := b.run(t, name, a); !strings.HasPrefix(got, "!") || strings.Contains(got, "top secret") {
				t.Errorf("%s of %.50q gave %q", name, p, got)
			}
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 2 {
		t.Errorf("outside of the workspace there is %v, %v", entries, err)
	}
	if content, err := os.ReadFile(secret); string(content) != "top secret\n" || err != nil {
		t.Errorf("the file outside holds %q, %v", content, err)
	}
	if got := b.run(t, core.SearchFiles, args{"pattern": "secret"}); !strings.HasPrefix(got, "[no match in 2 files") {
		t.Errorf("a search followed a link: %s", got)
	}
}

// What is in the workspace can be named in any way: also absolutely, as a shell
// says it, and through links that stay inside.
func TestPathsInside(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"d/in.txt": "inside\n"})
	if err := os.Symlink("d", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"d/in.txt", "./d//in.txt", "d/../d/in.txt", filepath.Join(b.dir, "d/in.txt"), filepath.Join(resolved, "d/in.txt"), "link/in.txt"} {
		if got := b.run(t, core.ReadFile, args{"path": p}); got != "inside\n" {
			t.Errorf("%s gave %q", p, got)
		}
	}
}

// A link that is swapped in while tools work leads nowhere either.
func TestSymlinkSwappedIn(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"real/f.txt": "inside\n"})
	outside := filepath.Join(filepath.Dir(b.dir), "out")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(outside, "f.txt")
	if err := os.WriteFile(secret, []byte("top secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good, bad, name := filepath.Join(b.dir, "good"), filepath.Join(b.dir, "bad"), filepath.Join(b.dir, "d")
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Symlink("real", good)
			_ = os.Rename(good, name)
			_ = os.Symlink(outside, bad)
			_ = os.Rename(bad, name)
		}
	})
	for range 300 {
		if got := b.run(t, core.ReadFile, args{"path": "d/f.txt"}); strings.Contains(got, "secret") {
			t.Fatalf("read %q", got)
		}
		b.run(t, core.WriteFile, args{"path": "d/f.txt", "content": "inside\n"})
		b.run(t, core.WriteFile, args{"path": "d/new.txt", "content": "x"})
		b.run(t, core.EditFile, args{"path": "d/f.txt", "old": "top", "new": "no"})
	}
	close(stop)
	swapping.Wait()
	if content, err := os.ReadFile(secret); string(content) != "top secret\n" || err != nil {
		t.Errorf("the file outside holds %q, %v", content, err)
	}
	if entries, err := os.ReadDir(outside); len(entries) != 1 || err != nil {
		t.Errorf("outside there is %v, %v", entries, err)
	}
}

// The effects decide about approvals and recovery; nothing is added but on
// purpose.
func TestEffects(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	got := map[string]abi.Effect{}
	for _, one := range b.tools.Tools() {
		got[one.Spec().Name] = one.Spec().Effect
	}
	want := map[string]abi.Effect{
		"read_file": "read", "list_dir": "read", "search_files": "read", "write_file": "write", "edit_file": "write", "shell": "write",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An agent has what its config names: there is no shell without its name.
func TestOnlyWhatIsNamed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	tools, err := core.New(core.Options{Workspace: dir}, core.ReadFile)
	if err != nil || len(tools) != 1 || tools[0].Spec().Name != core.ReadFile {
		t.Errorf("got %v, %v", tools, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the workspace is %v, %v", info, err)
	}
	if tools, err := core.New(core.Options{}); tools != nil || err != nil {
		t.Errorf("without names: %v, %v", tools, err)
	}
	for _, names := range [][]string{{"no_such"}, {core.FetchURL}} {
		if _, err := core.New(core.Options{Workspace: dir}, names...); err == nil {
			t.Errorf("%v was made", names)
		}
	}
}
