package failpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/failpoint"
)

// build builds a program that reaches steps.
func build(t *testing.T, tags string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "die")
	out, err := exec.Command("go", "build", "-tags", tags, "-o", exe, "./testdata/die").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

func run(t *testing.T, exe, step string) (out string, err error) {
	t.Helper()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), failpoint.EnvVar+"="+step)
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// TestHit checks that a build with the tag dies by SIGKILL at the step and the
// time that the environment names, and refuses names that are none.
func TestHit(t *testing.T) {
	t.Parallel()
	exe := build(t, "failpoints")
	head := fmt.Sprintf("true %d\n", len(constants(t)))
	for step, want := range map[string]string{
		"admit-before-commit":   head,
		"admit-after-commit":    head + "1\n",
		"admit-before-commit:1": head,
		"admit-before-commit:3": head + "1\n2\n",
		"admit-after-commit:3":  head + "1\n2\n3\n",
	} {
		out, err := run(t, exe, step)
		if out != want || err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("%s: %v after %q, want %q", step, err, out, want)
		}
	}
	for _, step := range []string{"", "admit-after-commit:4", "boot-after"} {
		if out, err := run(t, exe, step); err != nil || out != head+"1\n2\n3\n" {
			t.Errorf("%q: %v after %q", step, err, out)
		}
	}
	for _, step := range []string{"admit", "admit-before-commit:0", "admit-before-commit:x", ":1"} {
		out, err := run(t, exe, step)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(out, failpoint.EnvVar) {
			t.Errorf("%q: %v after %q", step, err, out)
		}
	}
}

// TestNormalBuild checks that a build without the tag has nothing of it.
func TestNormalBuild(t *testing.T) {
	t.Parallel()
	if failpoint.Enabled() {
		t.Skip("this is a build with failpoints")
	}
	exe := build(t, "")
	if out, err := run(t, exe, "admit-before-commit"); err != nil || out != "false 0\n1\n2\n3\n" {
		t.Errorf("%v after %q", err, out)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(failpoint.EnvVar)) || bytes.Contains(b, []byte(failpoint.AdmitBeforeCommit)) {
		t.Error("the program knows failpoints")
	}
}

// constants are the names that failpoint.go declares.
func constants(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "failpoint.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && spec.Type != nil {
			list = append(list, spec.Names[0].Name)
		}
		return true
	})
	return list
}

// TestNames checks that the list of names has all of them.
func TestNames(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("on.go")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "return []Name{")
	list, _, _ = strings.Cut(list, "}")
	listed := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" ,\n\t", r) })
	if want := constants(t); !slices.Equal(listed, want) {
		t.Errorf("listed   %v\ndeclared %v", listed, want)
	}
}
