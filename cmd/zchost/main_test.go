package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zchost/zchost/plugins/builtin"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"zchost": main})
}

// TestScripts runs the program as a whole against servers on loopback. The
// scripts are testdata/*.txtar; fakeopenai_test.go has their commands.
func TestScripts(t *testing.T) {
	t.Parallel()
	if len(builtin.Names()) == 0 {
		t.Skip("the built-in plugins are not built: run make plugins")
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
		},
	})
}

// setup gives a script an empty home and an environment without a language.
func setup(e *testscript.Env) error {
	e.Values[serversKey{}] = map[string]*server{}
	e.Setenv("ZCHOST_HOME", e.WorkDir+"/home")
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("LANG", "C")
	return nil
}

// condition adds [root]: whether the tests run as the super-user.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}
