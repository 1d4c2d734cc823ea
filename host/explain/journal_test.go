package explain_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/explain"
	"github.com/zchost/zchost/host/journal"
)

// TestRealJournal explains a turn that a host left behind when it died: the
// attempt is unknown, and its visible text was kept (CST-1, MRK-2). The reader
// works beside the host (GDR-1).
func TestRealJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	id := leave(t, path)
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, func() error { return j.Close(context.WithoutCancel(t.Context())) })
	r, err := journal.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, r.Close)

	e, err := explain.Explain(t.Context(), r, id)
	if err != nil {
		t.Fatal(err)
	}
	want := "interrupted by restart: the host stopped while openai/gpt-x was asked; what became of attempt 1 is unknown; " +
		"the partial answer was kept with [interrupted by restart]"
	if e.Summary != want {
		t.Errorf("summary %q\nwant    %q", e.Summary, want)
	}
	if e.Seen.Text != 5 || e.Usage.Unknown != 1 || !strings.Contains(e.Text(), "the host died") {
		t.Errorf("%s", e.Text())
	}
}

// leave admits a message, asks a model, shows some text, and ends the host
// without ending the turn.
func leave(t *testing.T, path string) (id string) {
	t.Helper()
	j, err := journal.Open(t.Context(), path, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closing(t, func() error { return j.Close(context.WithoutCancel(t.Context())) })
	turn, _, err := j.Admit(t.Context(), journal.Admission{Session: "s", Agent: "main", Surface: "cli", Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	err = j.Write(t.Context(), journal.StepAttempt, func(tx *journal.Tx) error {
		attempt, err := tx.InsertAttempt(journal.Attempt{
			Turn: turn.ID, Iteration: 1, Number: 1, Profile: "fast", Provider: "openai", Model: "gpt-x",
			Streaming: true, Started: time.Now(), Outcome: journal.OutcomeUnknown,
		})
		if err != nil {
			return err
		}
		return tx.AppendEvents(turn.ID, []journal.Event{{N: 1, Attempt: attempt, At: time.Now(), Type: abi.EventText, Text: "Hello"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	return turn.ID
}

func closing(t *testing.T, f func() error) {
	t.Helper()
	if err := f(); err != nil {
		t.Error(err)
	}
}
