package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/host/plugin"
)

// hookExport is the one export of the test plugins, which are hooks.
const hookExport = "before_agent_reply"

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "zchost-plugin-test-")
	if err != nil {
		panic(err)
	}
	if err := os.Setenv(dirVariable, dir); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(dir); err != nil {
			panic(err)
		}
		os.Exit(code)
	}))
}

// dirVariable names the directory of this run: built guests, compile cache.
const dirVariable = "ZCHOST_PLUGIN_TEST_DIR"

// goGuest and extismGuest build the guests in testdata, once for each run.
var (
	goGuest     = sync.OnceValues(func() ([]byte, error) { return build("./testdata/guest") })
	extismGuest = sync.OnceValues(func() ([]byte, error) { return build("./testdata/extismguest") })
)

func build(dir string) ([]byte, error) {
	out := filepath.Join(os.Getenv(dirVariable), filepath.Base(dir)+".wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w -buildid=", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %w: %s", dir, err, text)
	}
	return os.ReadFile(out)
}

// guest returns the module of a guest in testdata.
func guest(t testing.TB, build func() ([]byte, error)) []byte {
	t.Helper()
	module, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// manifest is a plugin.toml of a hook; more is added at its end.
func manifest(io, more string) []byte {
	return fmt.Appendf(nil, "abi = 1\nkind = \"hook\"\nio = %q\nname = \"test\"\nversion = \"1.0.0\"\n%s", io, more)
}

// newRuntime returns a runtime that ends with the test. The compile cache is
// shared by all tests of a run.
func newRuntime(t testing.TB, change ...func(*plugin.Options)) *plugin.Runtime {
	t.Helper()
	o := plugin.Options{CacheDir: filepath.Join(os.Getenv(dirVariable), "cache")}
	for _, c := range change {
		c(&o)
	}
	r, err := plugin.NewRuntime(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
		if used := r.Memory(); used != 0 {
			t.Errorf("%d bytes of memory are still counted after Close", used)
		}
	})
	return r
}

// load loads a plugin.
func load(t testing.TB, r *plugin.Runtime, toml, module []byte, g plugin.Grant) *plugin.Plugin {
	t.Helper()
	p, err := r.Load(context.Background(), plugin.Source{Manifest: toml, Module: module, Origin: "test"}, g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// say calls the test plugin and returns what it said, or "!reason".
func say(t testing.TB, p *plugin.Plugin, in string) string {
	t.Helper()
	out, err := p.Call(context.Background(), hookExport, []byte(in))
	if err != nil {
		return "!" + string(reason(t, err))
	}
	return string(out)
}

// reason returns the reason of an error of Call.
func reason(t testing.TB, err error) plugin.Reason {
	t.Helper()
	var call *plugin.CallError
	if !errors.As(err, &call) {
		t.Fatalf("Call returned a %T: %v", err, err)
	}
	return call.Reason
}
