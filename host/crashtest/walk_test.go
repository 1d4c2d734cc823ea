//go:build failpoints

package crashtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/journal"
)

// TestCrashWalk kills the host at every failpoint, and checks after the next
// start: nothing accepted is missing, no visible output is followed by a
// replay, every request is in the ledger, attempts that were in flight are
// unknown (ADM-1, REL-4, SNK-2, CST-1, BOT-1), no tool has run twice, none that
// may have run is told as done, and the history is one that a strict provider
// takes (C096).
func TestCrashWalk(t *testing.T) {
	t.Parallel()
	walked := 0
	for _, name := range failpoint.Names() {
		for _, nth := range []int{1, 2} {
			if nth > 1 && once(name) {
				continue
			}
			walked++
			t.Run(fmt.Sprintf("%s:%d", name, nth), func(t *testing.T) {
				t.Parallel()
				walk(t, name, nth)
			})
		}
	}
	t.Logf("walked %d combinations of failpoint and time", walked)
}

// once reports whether a start reaches a failpoint once only.
func once(name failpoint.Name) bool {
	for _, p := range []string{"migrate", "boot", "recover", "close", "next", "settle", "summary", "discard"} {
		if strings.HasPrefix(string(name), p) {
			return true
		}
	}
	return false
}

// duringCall reports whether a failpoint lies between the start of a tool and
// the storing of its result.
func duringCall(name failpoint.Name, nth int) bool {
	if name == failpoint.CallEndBeforeCommit {
		return nth == 1 // the second one may be the message with the results
	}
	return name == failpoint.CallStartAfterCommit || name == failpoint.ToolBeforeRun || name == failpoint.ToolAfterRun
}

func walk(t *testing.T, name failpoint.Name, nth int) {
	v := startVendor(t)
	home := newHome(t, v.URL)
	if strings.HasPrefix(string(name), "recover") {
		// There has to be something to recover.
		start(t, home, failpoint.ToolAfterRun, 1, talkAll)
	}
	lines := start(t, home, name, nth, talkAll)
	start(t, home, "", 0, talkNone)
	first := check(t, home, lines, v)
	if duringCall(name, nth) && !strings.Contains(strings.Join(first, "\n"), string(journal.CallUnknown)) {
		t.Errorf("died while a tool ran, and no call is unknown:\n%s", strings.Join(first, "\n"))
	}
	start(t, home, "", 0, talkNone)
	if second := check(t, home, lines, v); !slices.Equal(first, second) {
		t.Errorf("a further start changed the turns:\n%s\n%s", first, second)
	}
	if n := v.from(talkNone); n != 0 {
		t.Errorf("the next starts sent %d requests", n)
	}
	start(t, home, "", 0, talkAfter)
	if v.from(talkAfter) == 0 {
		t.Error("the vendor cannot tell who asks")
	}
	checkTold(t, home, v)
}

// start runs a host to the failpoint, or to its end if there is none, and
// returns what it said.
func start(t *testing.T, home string, name failpoint.Name, nth int, talk string) []said {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childHome+"="+home, childTalk+"="+talk, "CRASH_KEY=sk-crash-0123456789")
	if name != "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s:%d", failpoint.EnvVar, name, nth))
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && wasKilled(exit)
	if killed != (name != "") || (name == "" && err != nil) {
		t.Fatalf("failpoint %q: the host ended with %v\n%s", name, err, stderr.Bytes())
	}
	if name == "" && stderr.Len() > 0 {
		t.Errorf("the host said %s", stderr.Bytes())
	}
	return parse(t, &out)
}

// wasKilled tells whether a process ended as failpoints end one.
func wasKilled(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

func parse(t *testing.T, out io.Reader) (lines []said) {
	t.Helper()
	for s := bufio.NewScanner(out); s.Scan(); {
		var l said
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			continue // the line that the crash cut
		}
		lines = append(lines, l)
	}
	return lines
}

// The agents with tools: how many each has tells the vendor which one asks.
const (
	workerTools = 3
	askingTools = 1
)

func newHome(t *testing.T, url string) string {
	t.Helper()
	home := t.TempDir()
	config := fmt.Sprintf(`
[agents.main]
model = "m"
[agents.worker]
model = "m"
tools = ["shell", "read_file", "list_dir"]
approve = "never"
[agents.asking]
model = "m"
tools = ["shell"]
[agents.small]
model = "small"
[models.m]
provider = "fake"
model = "m"
provider_backoff_ms = 1
[models.small]
provider = "fake"
model = "m"
context = 1000
provider_backoff_ms = 1
[providers.fake]
plugin = "openai-chat"
base_url = "%s/v1"
api_keys = ["env:CRASH_KEY"]
`, url)
	shared := filepath.Join(os.TempDir(), "zchost-test-cache")
	err := errors.Join(
		os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600),
		os.MkdirAll(workspace(home, "worker"), 0o700),
		os.WriteFile(filepath.Join(workspace(home, "worker"), "notes.txt"), []byte("the secret word is heron\n"), 0o600),
		os.MkdirAll(shared, 0o700), os.Symlink(shared, filepath.Join(home, "cache")))
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// workspace is where an agent's tools work.
func workspace(home, agent string) string { return filepath.Join(home, "workspace", agent) }
