// Package lessons holds ten lessons, each a directory with a README and a
// config. Its tests do what the READMEs say, against servers on loopback, and
// compare what is on the screen with what the READMEs show.
package lessons_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain builds the program as it is shipped and puts it before all others of
// its name.
func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		serveMCP(os.Stdin, os.Stdout)
		return
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "zchost-lessons-*")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "zchost"), "../../cmd/zchost")
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
