//go:build failpoints

package crashtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
)

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
	ended := map[string]journal.CallState{}
	requests := map[string]int{}
	runs := map[string]*span{"worker": {}, "asking": {}}
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
		calls := checkCalls(t, r, turn, runs[turn.Agent])
		checkMessages(t, r, turn, len(calls) > 0)
		var states []journal.CallState
		for _, c := range calls {
			ended[c.ID] = c.State
			states = append(states, c.State)
		}
		all = append(all, fmt.Sprintf("%s %s %s %d attempts %s", turn.Text, turn.State, turn.Marker, len(attempts), states))
	}
	for _, l := range lines {
		checkSaid(t, byID, ended, l)
	}
	for text, n := range v.requests() {
		if n > requests[text] {
			t.Errorf("%d requests for %q, %d in the ledger (CST-1)", n, text, requests[text])
		}
	}
	for agent, want := range runs {
		if n := lineCount(t, filepath.Join(workspace(home, agent), "runs.txt")); n < want.least || n > want.most {
			t.Errorf("the write tool of %s ran %d times, the journal says %d to %d", agent, n, want.least, want.most)
		}
	}
	return all
}

// checkSaid compares a line of the host that died with what the journal knows.
func checkSaid(t *testing.T, byID map[string]journal.Turn, ended map[string]journal.CallState, l said) {
	t.Helper()
	turn, ok := byID[l.Turn]
	if !ok {
		t.Errorf("turn %s (%q) was accepted and is missing (ADM-2)", l.Turn, l.Text)
		return
	}
	if l.Event != nil && l.Event.Type.Visible(l.Event.Text) && !turn.Visible {
		t.Errorf("a reader saw output of %q, and the journal does not know (SNK-2)", turn.Text)
	}
	if l.Event != nil && l.Event.Type == journal.EventToolEnded {
		var e struct {
			Call  string
			State journal.CallState
		}
		if err := json.Unmarshal(l.Event.Data, &e); err != nil || ended[e.Call] != e.State {
			t.Errorf("a reader was told that a call of %q is %q; the journal says %q (%v)", turn.Text, e.State, ended[e.Call], err)
		}
	}
}

func checkAttempts(t *testing.T, turn journal.Turn, attempts []journal.Attempt) {
	t.Helper()
	for i, a := range attempts {
		if a.Visible && i+1 < len(attempts) && attempts[i+1].Iteration == a.Iteration {
			t.Errorf("%q: attempt %d of iteration %d was visible and another one followed (REL-4)", turn.Text, a.Number, a.Iteration)
		}
		if a.Outcome == journal.OutcomeUnknown && turn.State == journal.Complete {
			t.Errorf("%q is complete with an unknown attempt", turn.Text)
		}
	}
	restarted := turn.Marker == string(marker.InterruptedByRestart)
	cut := turn.Text == "cut" && turn.Marker == string(marker.StreamInterrupted)
	if turn.State != journal.Complete && !restarted && !cut {
		t.Errorf("%q is %s with marker %q", turn.Text, turn.State, turn.Marker)
	}
}

// span is how often something may have happened.
type span struct{ least, most int }

// checkCalls checks that every call has an end, and that a turn that is
// complete has no unknown one. It adds up in runs how often the write tool can
// have run, by what the journal says, and returns the calls.
func checkCalls(t *testing.T, r *journal.Reader, turn journal.Turn, runs *span) []journal.ToolCall {
	t.Helper()
	calls, err := r.Calls(t.Context(), turn.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		write := c.Name == "shell"
		if write != (c.Effect == abi.EffectWrite) {
			t.Errorf("%q: %s has effect %s", turn.Text, c.Name, c.Effect)
		}
		switch c.State {
		case journal.CallDone:
			if write {
				runs.least++
				runs.most++
			}
		case journal.CallUnknown:
			if write {
				runs.most++
			}
			if turn.State == journal.Complete {
				t.Errorf("%q is complete, and its call of %s is unknown", turn.Text, c.Name)
			}
		case journal.CallRefused:
		case journal.CallRequested, journal.CallRunning, journal.CallCancelled:
			t.Errorf("%q: call of %s is %s after the next start", turn.Text, c.Name, c.State)
		}
	}
	return calls
}

// checkMessages looks for the person's message, for the answers, and for the
// partial answer if there was visible text that is in no other (MRK-2, MRK-4);
// each call has its result (C096).
func checkMessages(t *testing.T, r *journal.Reader, turn journal.Turn, tools bool) {
	t.Helper()
	messages, err := r.Messages(t.Context(), turn.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	messages = slices.DeleteFunc(messages, func(m journal.Message) bool { return m.Turn != turn.ID })
	var user, assistant int
	var open []string
	for i, m := range messages {
		called, answered := paired(m)
		if !slices.Equal(open, answered) {
			t.Errorf("%q: message %d answers %v, want %v (C096)", turn.Text, i, answered, open)
		}
		open = called
		switch m.Role {
		case abi.RoleUser:
			user++
		case abi.RoleAssistant:
			assistant++
			if last := i == len(messages)-1; (last && m.Marker != turn.Marker) || (!last && m.Marker != "") {
				t.Errorf("%q: answer %d has marker %q, the turn %q", turn.Text, assistant, m.Marker, turn.Marker)
			}
		case abi.RoleTool:
		}
	}
	if len(open) > 0 {
		t.Errorf("%q: no results for %v (C096)", turn.Text, open)
	}
	want := map[bool]int{true: 1}[turn.Visible && !turn.Discarded]
	if user != 1 || (!tools && assistant != want) || (tools && assistant < 1) {
		t.Errorf("%q: %d messages of the user, %d answers, want 1 and %d", turn.Text, user, assistant, want)
	}
	if shown := transcript(messages); strings.Count(shown, "Let me see.") > 1 {
		t.Errorf("%q: an answer is there twice: %s", turn.Text, shown)
	}
}

// paired returns the ids of a message's calls and of its results.
func paired(m journal.Message) (called, answered []string) {
	for _, p := range m.Parts {
		switch p.Type { //nolint:exhaustive // the others have no ids
		case abi.PartToolCall:
			called = append(called, p.CallID)
		case abi.PartToolResult:
			answered = append(answered, p.CallID)
		}
	}
	return called, answered
}

func transcript(messages []journal.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, p := range m.Parts {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// checkTold compares what the next message's request told the model of each
// call with what the journal knows: a result that was stored is told as it is,
// one that nobody knows is never told as a result.
func checkTold(t *testing.T, home string, v *vendor) {
	t.Helper()
	for _, problem := range v.complaints() {
		t.Errorf("a strict provider refuses: %s (C096)", problem)
	}
	r, err := journal.OpenReader(t.Context(), filepath.Join(home, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for session, tools := range map[string]int{"c": workerTools, "d": askingTools} {
		s, err := r.Session(t.Context(), session)
		if err != nil {
			t.Fatal(err)
		}
		turns, err := r.Turns(t.Context(), journal.TurnFilter{Session: s.ID})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(turns, func(a, b journal.Turn) int { return int(a.Seq - b.Seq) })
		var calls []journal.ToolCall
		for _, turn := range turns {
			more, err := r.Calls(t.Context(), turn.ID)
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, more...)
		}
		results, text := v.told(tools)
		checkResults(t, calls, results)
		checkEffects(t, turns, calls, text)
	}
}

func checkResults(t *testing.T, calls []journal.ToolCall, told []result) {
	t.Helper()
	if len(calls) != len(told) {
		t.Errorf("%d calls, and the model was told %d results", len(calls), len(told))
		return
	}
	for i, c := range calls {
		text := told[i].text
		switch {
		case told[i].tool != c.Name || !strings.Contains(text, c.Result):
			t.Errorf("result %d is of %s: %q; the journal has %s: %q", i, told[i].tool, text, c.Name, c.Result)
		case c.State == journal.CallUnknown && !strings.Contains(text, "unknown"):
			t.Errorf("an unknown result of %s is told as %q", c.Name, text)
		case c.State == journal.CallRefused && !strings.Contains(text, "Not run"):
			t.Errorf("a call of %s that did not run is told as %q", c.Name, text)
		case c.State == journal.CallDone && strings.Contains(text, "unknown"):
			t.Errorf("a known result of %s is told as %q", c.Name, text)
		case c.State == journal.CallDone && c.Name == "read_file" && !strings.Contains(text, "heron"):
			t.Errorf("the file is told as %q", text)
		}
	}
}

// checkEffects checks what the model is told when an interrupted turn goes on:
// each effect that there was, or may have been, and no other (GDR-2).
func checkEffects(t *testing.T, turns []journal.Turn, calls []journal.ToolCall, text string) {
	t.Helper()
	going := turns[len(turns)-1].Relation == journal.RelationContinue
	if interrupted := len(turns) > 1 && turns[0].State == journal.Interrupted; interrupted != going {
		t.Errorf("the first turn is %s, and the next one's relation %q", turns[0].State, turns[len(turns)-1].Relation)
	}
	done, unknown := 0, 0
	for _, c := range calls {
		if c.Effect == abi.EffectWrite && c.State == journal.CallDone {
			done++
		}
		if c.Effect == abi.EffectWrite && c.State == journal.CallUnknown {
			unknown++
		}
	}
	if !going {
		done, unknown = 0, 0
	}
	if d, u := strings.Count(text, ": done"), strings.Count(text, "the outcome is unknown"); d != done || u != unknown {
		t.Errorf("%d effects are told as done and %d as unknown, want %d and %d: %q", d, u, done, unknown, text)
	}
}

// lineCount counts the lines of a file; 0 if there is none.
func lineCount(t *testing.T, path string) int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}
