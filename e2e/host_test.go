//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
)

// key is the secret of all tests; nothing but a request may hold it.
const key = "sk-e2e-7f3c9a1d5b8e2046"

// host is a home directory and the program that uses it.
type host struct {
	home string
	env  []string
}

// answer is what `zchost send --json` printed.
type answer struct {
	events  []event
	summary summary
	code    int
	stdout  string
	stderr  string
}

type event struct {
	N       int64  `json:"n"`
	Attempt int64  `json:"attempt"`
	Type    string `json:"type"`
	Text    string `json:"text"`
}

type summary struct {
	Type      string `json:"type"`
	Turn      string `json:"turn"`
	State     string `json:"state"`
	Marker    string `json:"marker"`
	Text      string `json:"text"`
	Candidate string `json:"candidate"`
	Error     *struct {
		Class   string `json:"class"`
		Message string `json:"message"`
	} `json:"error"`
	Attempts int       `json:"attempts"`
	Usage    abi.Usage `json:"usage"`
	Unknown  int       `json:"usage_unknown"`
}

// newHost makes a home whose one profile asks these models of an endpoint of
// chat completions, in order. More is further lines of the provider's table;
// without a line of api_keys it has the one key.
func newHost(t *testing.T, baseURL string, models []string, more ...string) *host {
	t.Helper()
	return hostOf(t, "openai-chat", baseURL, models, more...)
}

// hostOf is newHost for an endpoint that this plugin speaks with.
func hostOf(t *testing.T, plugin, baseURL string, models []string, more ...string) *host {
	t.Helper()
	h := &host{home: t.TempDir(), env: append(os.Environ(), "E2E_KEY="+key, "NO_COLOR=1", "LC_ALL=en_US.UTF-8")}
	if !slices.ContainsFunc(more, func(line string) bool { return strings.HasPrefix(line, "api_keys") }) {
		more = append(more, `api_keys = ["env:E2E_KEY"]`)
	}
	config := fmt.Sprintf(`
[agents.main]
model = "main"
system = "You are a test."

[models.main]
provider = "peer"
model = %q
fallback_models = %s

[providers.peer]
plugin = %q
base_url = %q
provider_backoff_ms = 1
%s
`, models[0], list(models[1:]), plugin, baseURL, strings.Join(more, "\n"))
	if err := os.WriteFile(filepath.Join(h.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cache, filepath.Join(h.home, "cache")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.noKey(t) })
	return h
}

// agent adds lines to the table of the agent.
func (h *host) agent(t *testing.T, lines ...string) {
	t.Helper()
	path := filepath.Join(h.home, "config.toml")
	config, err := os.ReadFile(path)
	if err == nil {
		more := strings.Replace(string(config), "[agents.main]\n", "[agents.main]\n"+strings.Join(lines, "\n")+"\n", 1)
		err = os.WriteFile(path, []byte(more), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func list(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = fmt.Sprintf("%q", s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// run runs the program to its end.
func (h *host) run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program(t), append([]string{"--home", h.home}, args...)...)
	cmd.Env = h.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run zchost %v: %v", args, err)
	}
	for _, text := range []string{out.String(), errs.String()} {
		if strings.Contains(text, key) {
			t.Errorf("zchost %v prints the key: %s", args, text)
		}
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func program(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../bin/zchost")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf("run make build first: %v", err)
	}
	return bin
}

// send asks text and reads what send prints. The events are numbered without
// gaps (SNK-1) and their text is the summary's, which has a new line where the
// model was asked again.
func (h *host) send(t *testing.T, text string, more ...string) answer {
	t.Helper()
	a := answer{}
	a.stdout, a.stderr, a.code = h.run(t, append([]string{"send", "--json", "-m", text}, more...)...)
	lines := strings.Split(strings.TrimSpace(a.stdout), "\n")
	var shown strings.Builder
	for i, line := range lines[:len(lines)-1] {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("line %d is no event: %q: %v", i+1, line, err)
		}
		if e.N != int64(i+1) {
			t.Errorf("event %d has the number %d", i+1, e.N)
		}
		if e.Type == "text" {
			shown.WriteString(e.Text)
		}
		a.events = append(a.events, e)
	}
	last := lines[len(lines)-1]
	if err := json.Unmarshal([]byte(last), &a.summary); err != nil || a.summary.Type != "summary" {
		t.Fatalf("the last line is no summary: %q (stderr %q)", last, a.stderr)
	}
	flat := func(s string) string { return strings.ReplaceAll(s, "\n", "") }
	if flat(shown.String()) != flat(a.summary.Text) {
		t.Errorf("events show %q, the summary has %q", shown.String(), a.summary.Text)
	}
	return a
}

// want checks how a turn ended.
func (a answer) want(t *testing.T, code int, state, text, marker string) {
	t.Helper()
	s := a.summary
	if a.code != code || s.State != state || s.Text != text || s.Marker != marker {
		t.Errorf("exit %d, state %q, text %q, marker %q;\nwant %d, %q, %q, %q\nstdout %s\nstderr %s",
			a.code, s.State, s.Text, s.Marker, code, state, text, marker, a.stdout, a.stderr)
	}
}

// wantClass checks the class of the error that the turn ended with.
func (a answer) wantClass(t *testing.T, class abi.FailureClass) {
	t.Helper()
	if a.summary.Error == nil || a.summary.Error.Class != string(class) {
		t.Errorf("error %+v, want class %q", a.summary.Error, class)
	}
}

// wantSaid checks that the error says something.
func (a answer) wantSaid(t *testing.T, text string) {
	t.Helper()
	if a.summary.Error == nil || !strings.Contains(a.summary.Error.Message, text) {
		t.Errorf("error %+v does not say %q", a.summary.Error, text)
	}
}

// types lists the types of the events without repetitions.
func (a answer) types() []string {
	var types []string
	for _, e := range a.events {
		types = append(types, e.Type)
	}
	return slices.Compact(types)
}

// noKey looks for the key in every file of the home.
func (h *host) noKey(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(h.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(key)) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
