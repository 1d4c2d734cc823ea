//go:build failpoints

package crashtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
)

// TestCrashWalk kills the host at every failpoint, and checks after the next
// start: nothing accepted is missing, no visible output is followed by a
// replay, every request is in the ledger, and attempts that were in flight are
// unknown (ADM-1, REL-4, SNK-2, CST-1, BOT-1).
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
	for _, p := range []string{"migrate", "boot", "recover", "close", "next", "settle"} {
		if strings.HasPrefix(string(name), p) {
			return true
		}
	}
	return false
}

func walk(t *testing.T, name failpoint.Name, nth int) {
	v := startVendor(t)
	home := newHome(t, v.URL)
	if strings.HasPrefix(string(name), "recover") {
		// There has to be something to recover.
		start(t, home, failpoint.FirstVisibleAfterCommit, 1, true)
	}
	lines := start(t, home, name, nth, true)
	seen := v.count()
	start(t, home, "", 0, false)
	if after := v.count(); after != seen {
		t.Errorf("the next start sent %d requests", after-seen)
	}
	first := check(t, home, lines, v)
	start(t, home, "", 0, false)
	if second := check(t, home, lines, v); !slices.Equal(first, second) {
		t.Errorf("a further start changed the turns:\n%s\n%s", first, second)
	}
}

// start runs a host to the failpoint, or to its end if there is none, and
// returns what it said.
func start(t *testing.T, home string, name failpoint.Name, nth int, talk bool) []said {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childHome+"="+home, "CRASH_KEY=sk-crash-0123456789")
	if talk {
		cmd.Env = append(cmd.Env, childTalk+"=1")
	}
	if name != "" {
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%s:%d", failpoint.EnvVar, name, nth))
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	killed := errors.As(err, &exit) && wasKilled(exit)
	if killed != (name != "") {
		t.Fatalf("failpoint %q: the host ended with %v\n%s", name, err, stderr.Bytes())
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

// check opens the journal of a host that is not running and returns a line for
// each turn.
func check(t *testing.T, home string, lines []said, v *vendor) []string {
	t.Helper()
	r, err := journal.OpenReader(t.Context(), filepath.Join(home, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	turns, err := r.Turns(t.Context(), journal.TurnFilter{})
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]journal.Turn{}
	requests := map[string]int{}
	var all []string
	for _, turn := range turns {
		byID[turn.ID] = turn
		if !turn.State.Ended() {
			t.Errorf("turn %q is %s after the next start", turn.Text, turn.State)
		}
		attempts, err := r.Attempts(t.Context(), turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		requests[turn.Text] += len(attempts)
		checkAttempts(t, turn, attempts)
		checkMessages(t, r, turn)
		all = append(all, fmt.Sprintf("%s %s %s %d attempts", turn.Text, turn.State, turn.Marker, len(attempts)))
	}
	for _, l := range lines {
		turn, ok := byID[l.Turn]
		if !ok {
			t.Errorf("turn %s (%q) was accepted and is missing (ADM-2)", l.Turn, l.Text)
			continue
		}
		if l.Event != nil && l.Event.Type.Visible() && !turn.Visible {
			t.Errorf("a reader saw output of %q, and the journal does not know (SNK-2)", turn.Text)
		}
	}
	for text, n := range v.requests() {
		if n > requests[text] {
			t.Errorf("%d requests for %q, %d in the ledger (CST-1)", n, text, requests[text])
		}
	}
	return all
}

func checkAttempts(t *testing.T, turn journal.Turn, attempts []journal.Attempt) {
	t.Helper()
	for i, a := range attempts {
		if a.Visible && i != len(attempts)-1 {
			t.Errorf("%q: attempt %d was visible and another one followed (REL-4)", turn.Text, a.Number)
		}
		if a.Outcome == journal.OutcomeUnknown && turn.State == journal.Complete {
			t.Errorf("%q is complete with an unknown attempt", turn.Text)
		}
	}
	restarted := turn.Marker == string(marker.InterruptedByRestart)
	if turn.State != journal.Complete && !restarted {
		t.Errorf("%q is %s with marker %q", turn.Text, turn.State, turn.Marker)
	}
}

// checkMessages looks for the person's message, and for the partial answer if
// there was visible text (MRK-2, MRK-4).
func checkMessages(t *testing.T, r *journal.Reader, turn journal.Turn) {
	t.Helper()
	messages, err := r.Messages(t.Context(), turn.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var user, assistant int
	for _, m := range messages {
		if m.Turn != turn.ID {
			continue
		}
		switch m.Role {
		case abi.RoleUser:
			user++
		case abi.RoleAssistant:
			assistant++
			if m.Marker != turn.Marker {
				t.Errorf("%q: the answer has marker %q, the turn %q", turn.Text, m.Marker, turn.Marker)
			}
		case abi.RoleTool:
		}
	}
	if want := map[bool]int{true: 1}[turn.Visible]; user != 1 || assistant != want {
		t.Errorf("%q: %d messages of the user, %d answers, want 1 and %d", turn.Text, user, assistant, want)
	}
}

// vendor is a server of chat completions that knows three messages.
type vendor struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]int
}

func startVendor(t *testing.T) *vendor {
	t.Helper()
	v := &vendor{seen: map[string]int{}}
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	return v
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream   bool
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text := lastText(in.Messages[len(in.Messages)-1].Content)
	v.mu.Lock()
	v.seen[text]++
	v.mu.Unlock()
	if text == "retry" && in.Stream {
		return // an empty body
	}
	if !in.Stream {
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"again"},"finish_reason":"stop"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	pieces := 1
	if text == "slow" {
		pieces = 4
	}
	for range pieces {
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"piece "},"finish_reason":null}]}`+"\n\n")
		_ = http.NewResponseController(w).Flush()
		if pieces > 1 {
			select {
			case <-time.After(80 * time.Millisecond): // longer than deltas wait for each other
			case <-r.Context().Done():
				return
			}
		}
	}
	_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// lastText is the text of a message's content, or of its last part.
func lastText(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) == nil && len(parts) > 0 {
		return parts[len(parts)-1].Text
	}
	return string(content)
}

func (v *vendor) count() (n int) {
	for _, m := range v.requests() {
		n += m
	}
	return n
}

func (v *vendor) requests() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := map[string]int{}
	for text, n := range v.seen {
		out[text] = n
	}
	return out
}

func newHome(t *testing.T, url string) string {
	t.Helper()
	home := t.TempDir()
	config := fmt.Sprintf(`
[agents.main]
model = "m"
[models.m]
provider = "fake"
model = "m"
provider_backoff_ms = 1
[providers.fake]
plugin = "openai-chat"
base_url = "%s/v1"
api_keys = ["env:CRASH_KEY"]
`, url)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(os.TempDir(), "zchost-test-cache")
	if err := errors.Join(os.MkdirAll(shared, 0o700), os.Symlink(shared, filepath.Join(home, "cache"))); err != nil {
		t.Fatal(err)
	}
	return home
}
