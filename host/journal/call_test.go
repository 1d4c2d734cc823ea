package journal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// callID is the host's own id of a call.
func callID(turn string, iteration, n int) string { return fmt.Sprintf("%s.%d.%d", turn, iteration, n) }

// calling makes an answer that calls tools, and the rows of its calls.
func calling(turn string, iteration int, text string, names ...string) (journal.Message, []journal.ToolCall) {
	m := journal.Message{Turn: turn, Role: abi.RoleAssistant, Candidate: "p/m"}
	if text != "" {
		m.Parts = append(m.Parts, abi.Part{Type: abi.PartText, Text: text})
	}
	var calls []journal.ToolCall
	for i, name := range names {
		c := journal.ToolCall{
			ID: callID(turn, iteration, i+1), Turn: turn, Iteration: iteration, N: i + 1, Name: name,
			Arguments: fmt.Sprintf(`{"n":%d}`, i+1), Effect: abi.EffectWrite, Source: "core", State: journal.CallRequested,
		}
		calls = append(calls, c)
		m.Parts = append(m.Parts, abi.Part{Type: abi.PartToolCall, CallID: c.ID, Name: name, Arguments: c.Arguments})
	}
	return m, calls
}

// addCalls stores an answer with calls, as the turn's loop does.
func addCalls(ctx context.Context, j *journal.Journal, turn string, iteration int, text string, names ...string) error {
	m, calls := calling(turn, iteration, text, names...)
	return j.Write(ctx, journal.StepCalls, func(tx *journal.Tx) error {
		if _, err := tx.AddMessage(m); err != nil {
			return err
		}
		return tx.AddCalls(calls)
	})
}

func startCalls(ctx context.Context, j *journal.Journal, ids ...string) error {
	return j.Write(ctx, journal.StepCallStart, func(tx *journal.Tx) error { return tx.StartCalls(ids...) })
}

func endCall(ctx context.Context, j *journal.Journal, c journal.ToolCall) error {
	return j.Write(ctx, journal.StepCallEnd, func(tx *journal.Tx) error { return tx.EndCall(c) })
}

func closeCalls(ctx context.Context, j *journal.Journal, turn string) (parts []abi.Part, err error) {
	err = j.Write(ctx, journal.StepCallEnd, func(tx *journal.Tx) error {
		parts, err = tx.CloseCalls(turn, journal.CloseLive)
		return err
	})
	return parts, err
}

// must stops the test at an error.
func must(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// done is a call's result.
func done(id, result string) journal.ToolCall {
	return journal.ToolCall{ID: id, State: journal.CallDone, Result: result}
}

// TestCallIsStored checks that each step of a call is there when its write
// returns, and that the results become one message in the order of the calls.
func TestCallIsStored(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	_, want := calling(turn.ID, 1, "", "write_file", "no_such_tool")
	want[1].State, want[1].Result, want[1].IsError, want[1].Reason, want[1].Effect = journal.CallRefused, "There is no such tool.", true, "invalid", ""
	m, _ := calling(turn.ID, 1, "I will.", "write_file", "no_such_tool")
	must(t, j.Write(t.Context(), journal.StepCalls, func(tx *journal.Tx) error {
		_, err := tx.AddMessage(m)
		return errors.Join(err, tx.AddCalls(want))
	}))
	checkCalls(t, j, turn.ID, want...)
	stored, err := j.Calls(t.Context(), turn.ID)
	must(t, err)
	if stored[0].Requested.IsZero() || !stored[0].Started.IsZero() || !stored[0].Ended.IsZero() || stored[1].Ended.IsZero() {
		t.Errorf("times of a requested and a refused call: %+v", stored)
	}

	must(t, startCalls(t.Context(), j, want[0].ID))
	want[0].State = journal.CallRunning
	checkCalls(t, j, turn.ID, want...)

	must(t, endCall(t.Context(), j, journal.ToolCall{
		ID: want[0].ID, State: journal.CallDone, Result: "disk full", IsError: true, Reason: "unavailable",
	}))
	want[0].State, want[0].Result, want[0].IsError, want[0].Reason = journal.CallDone, "disk full", true, "unavailable"
	checkCalls(t, j, turn.ID, want...)
	stored, err = j.Calls(t.Context(), turn.ID)
	must(t, err)
	if c := stored[0]; c.Started.Before(c.Requested) || c.Ended.Before(c.Started) || time.Since(c.Ended) > time.Hour {
		t.Errorf("times of a call that ran: %+v", c)
	}

	parts, err := closeCalls(t.Context(), j, turn.ID)
	must(t, err)
	results := []abi.Part{
		{Type: abi.PartToolResult, CallID: want[0].ID, Name: "write_file", Text: "disk full", IsError: true},
		{Type: abi.PartToolResult, CallID: want[1].ID, Name: "no_such_tool", Text: "There is no such tool.", IsError: true},
	}
	if d := cmp.Diff(results, parts); d != "" {
		t.Error(d)
	}
	messages, err := j.Messages(t.Context(), turn.SessionID, 1)
	must(t, err)
	if m := messages[0]; m.Role != abi.RoleTool || !cmp.Equal(results, m.Parts) {
		t.Errorf("the stored message is %+v", m)
	}
	if parts, err = closeCalls(t.Context(), j, turn.ID); err != nil || parts != nil {
		t.Errorf("closed again: %+v, %v", parts, err)
	}
}

func checkCalls(t *testing.T, j *journal.Journal, turn string, want ...journal.ToolCall) {
	t.Helper()
	got, err := j.Calls(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(journal.ToolCall{}, "Requested", "Started", "Ended")); d != "" {
		t.Error(d)
	}
}

// TestCallsOfOneWrite checks that an answer, its calls and its attempt are one
// commit, and that calls that cannot be stored take the answer with them.
func TestCallsOfOneWrite(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	id := attempt(t, j, turn.ID)
	before := j.Stats()
	m, calls := calling(turn.ID, 1, "", "a", "b")
	store := func() error {
		return j.Write(t.Context(), journal.StepCalls, func(tx *journal.Tx) error {
			if err := tx.SettleAttempt(journal.Attempt{ID: id, Outcome: journal.OutcomeComplete}); err != nil {
				return err
			}
			if _, err := tx.AddMessage(m); err != nil {
				return err
			}
			return tx.AddCalls(calls)
		})
	}
	calls[1].N = 1
	if err := store(); err == nil {
		t.Fatal("stored two calls in one place")
	}
	checkCalls(t, j, turn.ID)
	checkTranscript(t, j, turn.SessionID, "user: question")
	calls[1].N, calls[1].State = 2, journal.CallDone
	if err := store(); err == nil {
		t.Fatal("stored a call that begins as done")
	}
	checkCalls(t, j, turn.ID)
	calls[1].State = journal.CallRequested
	must(t, store())
	checkCalls(t, j, turn.ID, calls...)
	if got := j.Stats(); got.Commits-before.Commits != 1 {
		t.Errorf("took %d commits, want 1", got.Commits-before.Commits)
	}
}

// TestCallIDs checks C026: calls are told apart by the host's own id. A
// provider's id may come again in each turn; the host's is refused the second
// time, and the first call stays as it is.
func TestCallIDs(t *testing.T) {
	t.Parallel()
	j := open(t)
	one, two := admit(t, j, "one"), admit(t, j, "two")
	for _, turn := range []journal.Turn{one, two} {
		must(t, addCalls(t.Context(), j, turn.ID, 1, "", "ls"))
		must(t, startCalls(t.Context(), j, callID(turn.ID, 1, 1)))
		must(t, endCall(t.Context(), j, done(callID(turn.ID, 1, 1), "of "+turn.Session)))
	}
	_, again := calling(two.ID, 2, "", "rm")
	again[0].ID = callID(one.ID, 1, 1)
	if err := j.Write(t.Context(), journal.StepCalls, func(tx *journal.Tx) error { return tx.AddCalls(again) }); err == nil {
		t.Error("an id was given twice")
	}
	for _, turn := range []journal.Turn{one, two} {
		_, want := calling(turn.ID, 1, "", "ls")
		want[0].State, want[0].Result = journal.CallDone, "of "+turn.Session
		checkCalls(t, j, turn.ID, want...)
	}
}

// TestCallFences checks C100: what comes after the turn has ended, or from a
// host whose turn another has taken over, is refused and changes nothing; the
// ledger still gets what was used.
func TestCallFences(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *journal.Journal, string){
		"the turn has ended": func(t *testing.T, j *journal.Journal, turn string) {
			must(t, finish(t.Context(), j, turn, journal.Cancelled))
		},
		"another boot has it": func(t *testing.T, j *journal.Journal, turn string) {
			must(t, j.Exec(t.Context(), "INSERT INTO boots (id, started, version, pid) VALUES (99, 0, '', 0)"),
				j.Exec(t.Context(), "UPDATE turns SET boot = 99 WHERE id = ?1", turn))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := open(t)
			turn := admit(t, j, "s")
			used := attempt(t, j, turn.ID)
			must(t, addCalls(t.Context(), j, turn.ID, 1, "", "running", "requested", "other"))
			must(t, startCalls(t.Context(), j, callID(turn.ID, 1, 1)))
			_, alone := calling(turn.ID, 9, "", "of no message") // nothing closes it
			must(t, j.Write(t.Context(), journal.StepCalls, func(tx *journal.Tx) error { return tx.AddCalls(alone) }))
			lose(t, j, turn.ID)
			calls, err := j.Calls(t.Context(), turn.ID)
			must(t, err)
			messages, err := j.Messages(t.Context(), turn.SessionID, 0)
			must(t, err)
			_, late := calling(turn.ID, 2, "", "late")
			for what, fn := range map[string]func(*journal.Tx) error{
				"alone": func(tx *journal.Tx) error { return tx.StartCalls(alone[0].ID) },
				"add":   func(tx *journal.Tx) error { return tx.AddCalls(late) },
				"start": func(tx *journal.Tx) error { return tx.StartCalls(callID(turn.ID, 1, 2)) },
				"end":   func(tx *journal.Tx) error { return tx.EndCall(done(callID(turn.ID, 1, 1), "late")) },
				"refuse": func(tx *journal.Tx) error {
					return tx.EndCall(journal.ToolCall{ID: callID(turn.ID, 1, 2), State: journal.CallRefused})
				},
				"ask":     func(tx *journal.Tx) error { return tx.AskApproval(journal.Approval{Call: callID(turn.ID, 1, 3)}) },
				"summary": func(tx *journal.Tx) error { return tx.AddSummary(journal.Summary{Turn: turn.ID}) },
				"message": func(tx *journal.Tx) error {
					_, err := tx.AddMessage(journal.Message{Turn: turn.ID, Role: abi.RoleTool})
					return err
				},
			} {
				if err := j.Write(t.Context(), journal.StepCallEnd, fn); !errors.Is(err, journal.ErrNotRunning) {
					t.Errorf("%s: %v, want ErrNotRunning", what, err)
				}
			}
			if parts, err := closeCalls(t.Context(), j, turn.ID); parts != nil || (err != nil && !errors.Is(err, journal.ErrNotRunning)) {
				t.Errorf("closed: %v, %v", parts, err)
			}
			checkCalls(t, j, turn.ID, calls...)
			after, err := j.Messages(t.Context(), turn.SessionID, 0)
			must(t, err)
			if d := cmp.Diff(messages, after); d != "" {
				t.Errorf("the transcript was changed:\n%s", d)
			}
			must(t, settle(t.Context(), j, journal.Attempt{ID: used, Outcome: journal.OutcomeCancelled, Usage: abi.Usage{Input: new(int64(7))}}))
		})
	}
}

// TestTurnEndsWithResults checks C096: whoever ends a turn, or adds the next
// message, a call in the transcript has its result right after it. A result
// that could not be stored is unknown and is never told as done.
func TestTurnEndsWithResults(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*journal.Tx, string) error{
		"end of turn": func(tx *journal.Tx, turn string) error {
			return tx.FinishTurn(journal.Finish{Turn: turn, State: journal.Failed})
		},
		"next answer": func(tx *journal.Tx, turn string) error {
			_, err := tx.AddMessage(journal.Message{Turn: turn, Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartText, Text: "x"}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := open(t)
			turn := admit(t, j, "s")
			must(t, addCalls(t.Context(), j, turn.ID, 1, "", "done", "running", "requested"))
			must(t, startCalls(t.Context(), j, callID(turn.ID, 1, 1), callID(turn.ID, 1, 2)))
			must(t, endCall(t.Context(), j, done(callID(turn.ID, 1, 1), "the result")))
			must(t, j.Write(t.Context(), journal.StepFinish, func(tx *journal.Tx) error { return end(tx, turn.ID) }))
			checkStates(t, j, turn.ID, journal.CallDone, journal.CallUnknown, journal.CallRefused)
			messages, err := j.Messages(t.Context(), turn.SessionID, 0)
			must(t, err)
			m := messages[2]
			if m.Role != abi.RoleTool || len(m.Parts) != 3 {
				t.Fatalf("after the calls comes %+v", m)
			}
			for i, p := range m.Parts {
				if p.CallID != callID(turn.ID, 1, i+1) || p.IsError != (i > 0) || (p.Text == "the result") != (i == 0) {
					t.Errorf("result %d: %+v", i+1, p)
				}
			}
		})
	}
}

func checkStates(t *testing.T, j *journal.Journal, turn string, want ...journal.CallState) {
	t.Helper()
	calls, err := j.Calls(t.Context(), turn)
	if err != nil {
		t.Fatal(err)
	}
	var got []journal.CallState
	for _, c := range calls {
		got = append(got, c.State)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
