package journal_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// numbered makes so many ended turns of one session, and one that runs.
func numbered(t *testing.T, j *journal.Journal, n int) (ended []journal.Turn, running journal.Turn) {
	t.Helper()
	for range n {
		must(t, plainTurn(t.Context(), j, "s", ""))
	}
	s, err := j.Session(t.Context(), "s")
	must(t, err)
	turns, err := j.Turns(t.Context(), journal.TurnFilter{Session: s.ID})
	must(t, err)
	ended = make([]journal.Turn, n)
	for _, turn := range turns {
		ended[turn.Seq-1] = turn
	}
	return ended, admit(t, j, "s")
}

func summarise(t *testing.T, j *journal.Journal, turn string, upto int64, text string) error {
	t.Helper()
	return j.Write(t.Context(), journal.StepSummary, func(tx *journal.Tx) error {
		return tx.AddSummary(journal.Summary{Turn: turn, Upto: upto, Text: text})
	})
}

func checkPast(t *testing.T, j *journal.Journal, before journal.Turn, limit int, want ...int64) {
	t.Helper()
	past, err := j.Past(t.Context(), before, limit)
	must(t, err)
	var got []int64
	for _, p := range past {
		got = append(got, p.Seq)
		if len(p.Messages) != 2 || p.Messages[0].Role != abi.RoleUser || p.Messages[1].Role != abi.RoleAssistant {
			t.Errorf("turn %d: %+v", p.Seq, p.Messages)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSummary checks that the newest summary stands for the turns up to its
// own last, that the turns stay in the journal, and that a turn before it is
// not shown a summary of itself.
func TestSummary(t *testing.T) {
	t.Parallel()
	j := open(t)
	ended, running := numbered(t, j, 5)
	checkPast(t, j, running, 0, 1, 2, 3, 4, 5)
	checkPast(t, j, running, 2, 4, 5)
	if _, ok, err := j.Summary(t.Context(), running); ok || err != nil {
		t.Errorf("a summary: %v, %v", ok, err)
	}
	must(t, summarise(t, j, running.ID, 2, "first two"), summarise(t, j, running.ID, 4, "first four"))
	checkPast(t, j, running, 0, 5)
	got, ok, err := j.Summary(t.Context(), running)
	must(t, err)
	want := journal.Summary{Session: running.SessionID, Upto: 4, Turn: running.ID, Text: "first four"}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(journal.Summary{}, "Created")); d != "" || !ok || got.Created.IsZero() {
		t.Errorf("%v\n%s", ok, d)
	}
	checkPast(t, j, ended[3], 0, 3) // the fourth turn, which is in the newest summary
	if got, _, err := j.Summary(t.Context(), ended[3]); err != nil || got.Text != "first two" {
		t.Errorf("%+v, %v", got, err)
	}
	if all, err := j.Messages(t.Context(), running.SessionID, 0); err != nil || len(all) != 11 {
		t.Errorf("%d messages in the journal, %v", len(all), err)
	}
}

// TestSummaryRefused checks that a turn summarises what was before it, while it
// runs.
func TestSummaryRefused(t *testing.T) {
	t.Parallel()
	j := open(t)
	ended, running := numbered(t, j, 2)
	for _, err := range []error{
		summarise(t, j, ended[1].ID, 1, "late"),
		summarise(t, j, running.ID, 3, "of itself"),
		summarise(t, j, "t_none", 1, "of nothing"),
	} {
		if !errors.Is(err, journal.ErrNotRunning) {
			t.Errorf("%v", err)
		}
	}
	if _, ok, err := j.Summary(t.Context(), running); ok || err != nil {
		t.Errorf("stored all the same: %v, %v", ok, err)
	}
}

// TestPastKeepsParts checks STR-8: parts come back byte for byte after a
// restart, each with the provider that gave it.
func TestPastKeepsParts(t *testing.T) {
	t.Parallel()
	parts := []abi.Part{
		{Type: abi.PartReasoning, Text: "hm <&> \u2028", Signature: "EqQB/+==", Opaque: `{"id": "rs_1",  "encrypted_content":"\u00e9/+<"}`},
		{Type: abi.PartReasoning, Opaque: `{"type":"redacted_thinking","data":"x"}`},
		{Type: abi.PartText, Text: "a\r\n\t\x00\"\\", Signature: "sig"},
		{Type: abi.PartProviderTool, CallID: "srv_1", Name: "web_search", Opaque: "{ \"a\" : 1.0 }"},
		{Type: abi.PartToolCall, CallID: "x.1.1", Name: "f", Arguments: `{"a":1.50,"b":"\u0041"}`, Signature: "s2"},
	}
	var turn journal.Turn
	j := crashed(t, func(j *journal.Journal) {
		turn = admit(t, j, "s")
		must(t, j.Write(t.Context(), journal.StepCalls, func(tx *journal.Tx) error {
			_, err := tx.AddMessage(journal.Message{Turn: turn.ID, Role: abi.RoleAssistant, Candidate: "home/org/model", Parts: parts})
			return err
		}))
	})
	past, err := j.Past(t.Context(), admit(t, j, "s"), 0)
	must(t, err)
	if got := past[0].Messages[1]; got.Provider != "home" || !cmp.Equal(parts, got.Parts) {
		t.Errorf("%s\n%s", got.Provider, cmp.Diff(parts, got.Parts))
	}
	if got := past[0].Messages[2]; got.Role != abi.RoleTool || got.Provider != "" || got.Parts[0].CallID != "x.1.1" || !got.Parts[0].IsError {
		t.Errorf("a call without a row has the result %+v", got)
	}
}
