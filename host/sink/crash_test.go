package sink_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/journal"
)

// steps are the failpoints of journal and sink.
func steps() []failpoint.Name {
	return []failpoint.Name{
		failpoint.MigrateBeforeCommit, failpoint.MigrateAfterCommit,
		failpoint.BootBefore, failpoint.RecoverBeforeCommit, failpoint.RecoverAfterCommit, failpoint.BootAfter,
		failpoint.AdmitBeforeCommit, failpoint.AdmitAfterCommit, "admit-before-commit:2", "admit-after-commit:2",
		failpoint.NextBeforeCommit, failpoint.NextAfterCommit,
		failpoint.AttemptBeforeCommit, failpoint.AttemptAfterCommit, "attempt-before-commit:2", "attempt-after-commit:2",
		failpoint.FirstVisibleBeforeCommit, failpoint.FirstVisibleAfterCommit, failpoint.ReaderAfterFirst,
		"first-visible-before-commit:2", "first-visible-after-commit:2",
		failpoint.DeltasBeforeCommit, failpoint.DeltasAfterCommit, "deltas-before-commit:3", "deltas-after-commit:3",
		failpoint.SettleBeforeCommit, failpoint.SettleAfterCommit,
		failpoint.FinishBeforeCommit, failpoint.FinishAfterCommit, "finish-before-commit:2", "finish-after-commit:2",
		failpoint.CloseBeforeCommit, failpoint.CloseAfterCommit,
	}
}

// TestCrash kills a host at every step, starts again, and checks what was
// promised: nothing accepted is lost, nothing shown is unknown to the journal,
// every request is in the ledger, every turn has an end.
func TestCrash(t *testing.T) {
	t.Parallel()
	exe := filepath.Join(t.TempDir(), "crash")
	out, err := exec.Command("go", "build", "-tags", "failpoints", "-o", exe, "./testdata/crash").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, step := range steps() {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "journal.db")
			cmd := exec.Command(exe, path)
			cmd.Env = append(os.Environ(), failpoint.EnvVar+"="+string(step))
			said, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(err.Error(), "killed") || strings.Contains(string(said), "error") {
				t.Fatalf("%v after\n%s", err, said)
			}
			j, err := journal.Open(t.Context(), path, journal.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close(context.Background())
			for line := range strings.Lines(string(said)) {
				checkPromise(t, j, strings.Fields(line))
			}
			checkAllEnded(t, j)
		})
	}
}

// checkPromise checks one line of what the host has said before it died.
func checkPromise(t *testing.T, j *journal.Journal, said []string) {
	t.Helper()
	switch said[0] {
	case "accepted":
		turn, err := j.Turn(t.Context(), said[1])
		if err != nil || turn.Text != "question" {
			t.Errorf("accepted and lost: %v", err)
		}
	case "requested", "settled":
		id, err := strconv.ParseInt(said[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		a := findAttempt(t, j, id)
		if a == nil {
			t.Errorf("request %d is not in the ledger", id)
		} else if said[0] == "settled" && a.Outcome != "network" {
			t.Errorf("request %d was settled and is %q", id, a.Outcome)
		}
	case "shown":
		turn, err := j.Turn(t.Context(), said[1])
		if err != nil || !turn.Visible {
			t.Errorf("%v was seen, and the journal does not know: %+v, %v", said, turn, err)
		}
	case "ended":
		turn, err := j.Turn(t.Context(), said[1])
		if err != nil || turn.State != journal.Complete {
			t.Errorf("ended and is %s, %v", turn.State, err)
		}
	}
}

func findAttempt(t *testing.T, j *journal.Journal, id int64) *journal.Attempt {
	t.Helper()
	turns, err := j.Turns(t.Context(), journal.TurnFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		attempts, err := j.Attempts(t.Context(), turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i := range attempts {
			if attempts[i].ID == id {
				return &attempts[i]
			}
		}
	}
	return nil
}

// checkAllEnded checks that every turn has one visible end, and that what was
// shown of an interrupted one is its answer.
func checkAllEnded(t *testing.T, j *journal.Journal) {
	t.Helper()
	turns, err := j.Turns(t.Context(), journal.TurnFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		events, err := j.Events(t.Context(), turn.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		for i, e := range events {
			if e.N != int64(i+1) {
				t.Errorf("event %d has number %d", i+1, e.N)
			}
			shown += e.Text
		}
		if !turn.State.Ended() || len(events) == 0 || events[len(events)-1].Type != journal.EventTurnEnded {
			t.Errorf("turn %s has no end: %+v", turn.ID, events)
		}
		if turn.State == journal.Complete {
			continue
		}
		if turn.State != journal.Interrupted || turn.Marker != "turn-interrupted-by-restart" {
			t.Errorf("turn %s is %s with marker %q", turn.ID, turn.State, turn.Marker)
		}
		if kept := answer(t, j, turn); kept != shown {
			t.Errorf("shown %q, kept %q", shown, kept)
		}
	}
}

// answer is the text of a turn's answer in the transcript.
func answer(t *testing.T, j *journal.Journal, turn journal.Turn) string {
	t.Helper()
	messages, err := j.Messages(t.Context(), turn.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if m.Turn == turn.ID && m.Role == "assistant" {
			return m.Parts[0].Text
		}
	}
	return ""
}
