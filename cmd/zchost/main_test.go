package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zchost/zchost/plugins/builtin"
)

// TestMain builds the program as it is shipped and puts it before all others of
// its name. The race detector is not in it: it makes the compilation of plugins
// thirty times slower, and the packages have tests of their own.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "fakemcp" { // the program under test starts its own tests' binary as a server
		os.Exit(mcpServer())
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "zchost-test-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "zchost"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build zchost:", err)
		return 1
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestScripts runs the program as a whole against servers on loopback. The
// scripts are testdata/*.txtar; fakeopenai_test.go has their commands.
func TestScripts(t *testing.T) {
	t.Parallel()
	if len(builtin.Names()) == 0 {
		t.Fatal("the built-in plugins are not built: run make plugins")
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fakeopenai":      fakeOpenAI,
			"requests":        requests,
			"asked":           asked,
			"samefingerprint": sameFingerprint,
			"await":           await,
			"keyonlyin":       keyOnlyIn,
			"terminate":       terminate,
			"exitcode":        exitCode,
			"example":         example,
		},
	})
}

// setup gives a script an empty home and an environment without a language.
func setup(e *testscript.Env) error {
	e.Values[serversKey{}] = map[string]*server{}
	e.Setenv("ZCHOST_HOME", e.WorkDir+"/home")
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("LANG", "C")
	self, err := os.Executable()
	e.Setenv("SELF", self)
	return err
}

// condition adds [root]: whether the tests run as the super-user.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// example compiles an example plugin into the home: example NAME.
func example(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: example NAME")
	}
	from, to := filepath.Join("..", "..", "examples", args[0]), ts.MkAbs(filepath.Join("home", "plugins", strings.TrimPrefix(args[0], "tool-")))
	ts.Check(os.MkdirAll(to, 0o700))
	manifest, err := os.ReadFile(filepath.Join(from, "plugin.toml"))
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(to, "plugin.toml"), manifest, 0o600))
	build := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(to, "plugin.wasm"), "./"+filepath.ToSlash(from))
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		ts.Fatalf("build %s: %v\n%s", args[0], err, out)
	}
}
