package journal_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// interrupted is a turn with a partial answer.
func interrupted(t *testing.T, j *journal.Journal, session string) journal.Turn {
	t.Helper()
	turn := admit(t, j, session)
	must(t, j.Write(t.Context(), journal.StepFinish, func(tx *journal.Tx) error {
		_, err := tx.AddMessage(journal.Message{
			Turn: turn.ID, Role: abi.RoleAssistant, Marker: "turn-stream-interrupted", Candidate: "p/m",
			Parts: []abi.Part{{Type: abi.PartText, Text: "partial"}},
		})
		return errors.Join(err, tx.FinishTurn(journal.Finish{Turn: turn.ID, State: journal.Interrupted, Marker: "turn-stream-interrupted"}))
	}))
	return turn
}

func resume(t *testing.T, j *journal.Journal, session, after string, how journal.Relation) (journal.Turn, error) {
	t.Helper()
	turn, _, err := j.Admit(t.Context(), journal.Admission{Session: session, Text: "go on", After: after, Relation: how})
	return turn, err
}

// TestResume checks GDR-2: what goes on is a new turn that names the old one;
// a retry hides the old one, in the same transaction, from what the model is
// shown, and from nothing else.
func TestResume(t *testing.T) {
	t.Parallel()
	for how, hidden := range map[journal.Relation]bool{journal.RelationContinue: false, journal.RelationRetry: true} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			j := open(t)
			old := interrupted(t, j, "s")
			before := j.Stats()
			turn, err := resume(t, j, "s", old.ID, how)
			must(t, err)
			if got := j.Stats(); got.Commits-before.Commits != 1 {
				t.Errorf("took %d commits, want 1", got.Commits-before.Commits)
			}
			stored, err := j.Turn(t.Context(), turn.ID)
			must(t, err)
			if d := cmp.Diff(turn, stored); d != "" || turn.After != old.ID || turn.Relation != how {
				t.Errorf("the new turn is %+v\n%s", turn, d)
			}
			was, err := j.Turn(t.Context(), old.ID)
			must(t, err)
			if was.Hidden != hidden || was.State != journal.Interrupted || was.Discarded {
				t.Errorf("the old turn is %+v", was)
			}
			past, err := j.Past(t.Context(), turn, 0)
			must(t, err)
			if (len(past) == 0) != hidden {
				t.Errorf("the model is shown %+v", past)
			}
			checkTranscript(t, j, old.SessionID, "user: question", "assistant: partial (turn-stream-interrupted)", "user: go on")
		})
	}
}

// TestResumeRefused checks from which turns nothing can go on, and that a
// refusal leaves nothing.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	j := open(t)
	old := interrupted(t, j, "s")
	newest := interrupted(t, j, "s")
	running := admit(t, j, "running")
	for name, c := range map[string]struct {
		session, after string
		want           func(error) bool
	}{
		"not the newest":  {"s", old.ID, isUsage},
		"not ended":       {"running", running.ID, isUsage},
		"no such turn":    {"s", "t_none", isNotFound},
		"another session": {"other", newest.ID, isNotFound},
	} {
		for _, how := range []journal.Relation{journal.RelationContinue, journal.RelationRetry} {
			if _, err := resume(t, j, c.session, c.after, how); !c.want(err) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
	for _, a := range []journal.Admission{
		{Session: "s", Relation: journal.RelationRetry},
		{Session: "s", After: newest.ID},
		{Session: "s", After: newest.ID, Relation: "repeat"},
		{Session: "s", Relation: "repeat"},
		{Session: "s", After: "\x00", Relation: journal.RelationRetry},
	} {
		var invalid *journal.InvalidError
		if _, _, err := j.Admit(t.Context(), a); !errors.As(err, &invalid) {
			t.Errorf("%q %q: %v, want an InvalidError", a.After, a.Relation, err)
		}
	}
	turns, err := j.Turns(t.Context(), journal.TurnFilter{})
	must(t, err)
	for _, turn := range turns {
		if turn.Hidden || len(turns) != 3 {
			t.Errorf("%d turns, with %+v", len(turns), turn)
		}
	}
}

func isUsage(err error) bool    { return fault.CodeOf(err) == fault.Usage && fault.HintOf(err) != "" }
func isNotFound(err error) bool { return errors.Is(err, journal.ErrNotFound) }

// TestResumeOnce checks that two surfaces cannot both go on from one turn, and
// that a repeated request is the same turn.
func TestResumeOnce(t *testing.T) {
	t.Parallel()
	j := open(t)
	old := interrupted(t, j, "s")
	again := func() (journal.Turn, bool, error) {
		return j.Admit(t.Context(), journal.Admission{ExternalID: "k", Session: "s", After: old.ID, Relation: journal.RelationRetry})
	}
	first, repeated, err := again()
	if err != nil || repeated {
		t.Fatal(repeated, err)
	}
	second, repeated, err := again()
	if err != nil || !repeated || second.ID != first.ID {
		t.Errorf("%s again is %s, repeated %v, %v", first.ID, second.ID, repeated, err)
	}
	if _, err := resume(t, j, "s", old.ID, journal.RelationContinue); !isUsage(err) {
		t.Errorf("another surface: %v", err)
	}
}

// TestResumeBehindAnother checks that a turn that waits keeps what it is to the
// earlier one.
func TestResumeBehindAnother(t *testing.T) {
	t.Parallel()
	j := open(t)
	running, dropped := admit(t, j, "s"), admit(t, j, "s")
	must(t, finish(t.Context(), j, dropped.ID, journal.Cancelled))
	queued, err := resume(t, j, "s", dropped.ID, journal.RelationRetry)
	must(t, err, finish(t.Context(), j, running.ID, journal.Complete))
	next, ok, err := j.Next(t.Context(), running.SessionID)
	if err != nil || !ok || next.ID != queued.ID || next.After != dropped.ID || next.Relation != journal.RelationRetry {
		t.Errorf("%+v, %v, %v", next, ok, err)
	}
}

func discard(t *testing.T, j *journal.Journal, turn string) error {
	t.Helper()
	return j.Write(t.Context(), journal.StepDiscard, func(tx *journal.Tx) error { return tx.DiscardPartial(turn) })
}

// TestDiscard checks GDR-2: /discard drops the partial answer alone. What the
// tools did and what was shown stay in the journal (SNK-1).
func TestDiscard(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	must(t, appendEvents(t.Context(), j, turn.ID, texts(1, attempt(t, j, turn.ID), "partial")))
	must(t, addCalls(t.Context(), j, turn.ID, 1, "I write.", "write_file"), startCalls(t.Context(), j, callID(turn.ID, 1, 1)),
		endCall(t.Context(), j, done(callID(turn.ID, 1, 1), "written")))
	if err := discard(t, j, turn.ID); !isUsage(err) {
		t.Errorf("discarded from a turn that runs: %v", err)
	}
	must(t, j.Write(t.Context(), journal.StepFinish, func(tx *journal.Tx) error {
		_, err := tx.AddMessage(journal.Message{
			Turn: turn.ID, Role: abi.RoleAssistant, Marker: "m", Parts: []abi.Part{{Type: abi.PartText, Text: "partial"}},
		})
		return errors.Join(err, tx.FinishTurn(journal.Finish{Turn: turn.ID, State: journal.Interrupted, Marker: "m"}))
	}))
	for range 2 { // a second time changes nothing
		must(t, discard(t, j, turn.ID))
		checkTranscript(t, j, turn.SessionID, "user: question", "assistant: I write.", "tool: written")
		got, err := j.Turn(t.Context(), turn.ID)
		must(t, err)
		if !got.Discarded || got.Hidden || got.Marker != "m" || !got.Visible {
			t.Errorf("%+v", got)
		}
	}
	events, err := j.Events(t.Context(), turn.ID, 0, 0)
	if err != nil || len(events) != 1 {
		t.Errorf("events %+v, %v", events, err)
	}
}

// TestDiscardNothingWhole checks that what the provider finished before the turn
// was interrupted, such as an answer that it paused, stays.
func TestDiscardNothingWhole(t *testing.T) {
	t.Parallel()
	var turn journal.Turn
	j := crashed(t, func(j *journal.Journal) {
		turn = admit(t, j, "s")
		must(t, j.Write(t.Context(), journal.StepSettle, func(tx *journal.Tx) error {
			_, err := tx.AddMessage(journal.Message{Turn: turn.ID, Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartText, Text: "paused"}}})
			return err
		}))
	})
	must(t, discard(t, j, turn.ID))
	checkTranscript(t, j, turn.SessionID, "user: question", "assistant: paused")
}

// TestDiscardRefused checks that a whole answer cannot be discarded.
func TestDiscardRefused(t *testing.T) {
	t.Parallel()
	j := open(t)
	must(t, plainTurn(t.Context(), j, "s", ""))
	turns, err := j.Turns(t.Context(), journal.TurnFilter{})
	must(t, err)
	if err := discard(t, j, turns[0].ID); !isUsage(err) {
		t.Errorf("%v", err)
	}
	checkTranscript(t, j, turns[0].SessionID, "user: What is the total?", "assistant: The total is 4.")
	if err := discard(t, j, "t_none"); !isNotFound(err) {
		t.Errorf("%v", err)
	}
}
