package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zchost/zchost/host/plugin"
	"github.com/zchost/zchost/sdk/providertest"
)

// TestCompiled runs the suite against the module, in the host's sandbox.
func TestCompiled(t *testing.T) {
	t.Parallel()
	module := filepath.Join(t.TempDir(), "plugin.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w -buildid=", "-o", module, ".")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wasm, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile("plugin.toml")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.WithoutCancel(t.Context()) // what closes runs after the test
	runtime, err := plugin.NewRuntime(ctx, plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runtime.Close(ctx) })
	p, err := runtime.Load(ctx, plugin.Source{Manifest: manifest, Module: wasm, Origin: "test"}, plugin.Grant{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	providertest.Run(t, p, suite)
}
