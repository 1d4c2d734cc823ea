package core_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/host/tool"
	"github.com/zchost/zchost/host/tool/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// box is a workspace with all tools but fetch_url.
type box struct {
	dir   string
	tools *tool.Set
}

// setup returns a workspace with files in it, the options changed.
func setup(t testing.TB, files map[string]string, change ...func(*core.Options)) box {
	t.Helper()
	o := core.Options{Workspace: filepath.Join(t.TempDir(), "ws")}
	for _, c := range change {
		c(&o)
	}
	names := []string{core.ReadFile, core.ListDir, core.SearchFiles, core.WriteFile, core.EditFile, core.Shell}
	if o.Fetch.Client != nil {
		names = append(names, core.FetchURL)
	}
	tools, err := core.New(o, names...)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewSet(tools)
	if err != nil {
		t.Fatal(err)
	}
	b := box{o.Workspace, set}
	for name, content := range files {
		b.put(t, name, content)
	}
	return b
}

func (b box) put(t testing.TB, name, content string) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (b box) get(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// args are the arguments of a call.
type args map[string]any

// run calls a tool as the host does; a result that reports an error begins
// with "!".
func (b box) run(t testing.TB, name string, a args) string {
	t.Helper()
	return b.runWithin(t.Context(), t, name, a)
}

func (b box) runWithin(ctx context.Context, t testing.TB, name string, a args) string {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.tools.Check(name, string(text)); err != nil {
		return "!" + err.Error()
	}
	one, ok := b.tools.Find(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	out := tool.Run(ctx, one, tool.Call{ID: "1", Arguments: text}, tool.Limits{})
	if out.IsError {
		return "!" + out.Content
	}
	return out.Content
}

// fits compares a result with what is wanted; of one that reports an error the
// beginning is enough.
func fits(got, want string) bool {
	return got == want || strings.HasPrefix(want, "!") && strings.HasPrefix(got, want)
}
