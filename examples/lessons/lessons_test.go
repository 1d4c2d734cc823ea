package lessons_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/config"
)

// command is something that a lesson has its reader type, and what is seen then.
type command struct {
	line string // after "$ "
	want []string
}

// lessons returns the lessons' directories, in order.
func lessons(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("[0-9][0-9]-*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("%d lessons, error %v", len(dirs), err)
	}
	return dirs
}

// read returns the commands in the console blocks of a lesson.
func read(t *testing.T, dir string) []command {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var list []command
	inside := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		typed, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case !inside:
		case isCommand:
			list = append(list, command{line: typed})
		case len(list) == 0:
			t.Fatalf("%s: output before the first command", dir)
		default:
			list[len(list)-1].want = append(list[len(list)-1].want, line)
		}
	}
	if len(list) == 0 {
		t.Fatalf("%s/README.md has nothing to type", dir)
	}
	return list
}

// TestConfigs: each lesson's config is right, and is shown in its README.
func TestConfigs(t *testing.T) {
	t.Parallel()
	contents, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range lessons(t) {
		if !strings.Contains(string(contents), "]("+dir+")") {
			t.Errorf("README.md does not lead to %s", dir)
		}
		path := filepath.Join(dir, config.FileName)
		if _, err := config.Load(config.Options{Path: path, Env: keys()}); err != nil {
			t.Error(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(readme), "```toml\n"+string(text)+"```\n") {
			t.Errorf("%s/README.md does not show the config as it is", dir)
		}
		for _, link := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(string(readme), -1) {
			if _, err := os.Stat(filepath.Join(dir, link[1])); err != nil {
				t.Errorf("%s/README.md: %v", dir, err)
			}
		}
		if n := strings.Count(string(readme), "\n"); n > 90 {
			t.Errorf("%s/README.md has %d lines: a lesson is a screen long", dir, n)
		}
	}
}

// keys are the variables that the lessons' configs refer to.
func keys() []string {
	return []string{
		"OPENAI_API_KEY=sk-lesson-openai-000001", "OPENAI_API_KEY_2=sk-lesson-openai-000002",
		"GEMINI_API_KEY=lesson-gemini-0000001",
	}
}
