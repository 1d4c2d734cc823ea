package journal_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/host/journal"
)

func ask(ctx context.Context, j *journal.Journal, call string) error {
	return j.Write(ctx, journal.StepApproval, func(tx *journal.Tx) error {
		return tx.AskApproval(journal.Approval{Call: call, Expires: time.Now().Add(time.Minute)})
	})
}

func answer(ctx context.Context, j *journal.Journal, call string, s journal.ApprovalState) error {
	return j.Write(ctx, journal.StepApproval, func(tx *journal.Tx) error { return tx.AnswerApproval(call, s, "ada") })
}

func checkAnswered(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, journal.ErrAnswered) {
		t.Errorf("%v, want ErrAnswered", err)
	}
}

// TestApproval checks that a question is stored before it is asked, is answered
// once, and that nothing but a yes lets its call start.
func TestApproval(t *testing.T) {
	t.Parallel()
	for _, state := range []journal.ApprovalState{
		journal.ApprovalPending, journal.ApprovalApproved, journal.ApprovalDenied, journal.ApprovalExpired, journal.ApprovalCancelled,
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			j := open(t)
			turn := admit(t, j, "s")
			call := callID(turn.ID, 1, 1)
			must(t, addCalls(t.Context(), j, turn.ID, 1, "", "write_file"))
			if err := answer(t.Context(), j, call, journal.ApprovalApproved); !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("answered what nobody asked: %v", err)
			}
			must(t, ask(t.Context(), j, call))
			if err := ask(t.Context(), j, call); err == nil {
				t.Error("asked twice about one call")
			}
			want := journal.Approval{Call: call, Turn: turn.ID, State: state}
			if state != journal.ApprovalPending {
				must(t, answer(t.Context(), j, call, state))
				checkAnswered(t, answer(t.Context(), j, call, journal.ApprovalApproved))
				want.By = "ada"
			}
			approvals, err := j.Approvals(t.Context(), turn.ID)
			must(t, err)
			if d := cmp.Diff([]journal.Approval{want}, approvals, cmpopts.IgnoreFields(journal.Approval{}, "Asked", "Expires", "Answered")); d != "" {
				t.Error(d)
			}
			if a := approvals[0]; a.Answered.IsZero() != (state == journal.ApprovalPending) || !a.Expires.After(a.Asked) {
				t.Errorf("times %+v", a)
			}
			err = startCalls(t.Context(), j, call)
			if state == journal.ApprovalApproved {
				must(t, err)
				return
			}
			if !errors.Is(err, journal.ErrNotRunning) {
				t.Errorf("a call started with an approval that is %s: %v", state, err)
			}
			checkStates(t, j, turn.ID, journal.CallRequested)
		})
	}
}

// TestAnswersRace checks that of answers from several surfaces at the same
// time, exactly one counts.
func TestAnswersRace(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	call := callID(turn.ID, 1, 1)
	must(t, addCalls(t.Context(), j, turn.ID, 1, "", "write_file"), ask(t.Context(), j, call))
	results := make(chan error)
	for i := range 16 {
		state := []journal.ApprovalState{journal.ApprovalApproved, journal.ApprovalDenied}[i%2]
		go func() { results <- answer(t.Context(), j, call, state) }()
	}
	counted := 0
	for range 16 {
		if err := <-results; err == nil {
			counted++
		} else {
			checkAnswered(t, err)
		}
	}
	if counted != 1 {
		t.Errorf("%d answers counted", counted)
	}
}

// TestApprovalNeedsACall checks that a question is about a call that was
// requested and has not begun.
func TestApprovalNeedsACall(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	must(t, addCalls(t.Context(), j, turn.ID, 1, "", "a"), startCalls(t.Context(), j, callID(turn.ID, 1, 1)))
	for _, call := range []string{"none", callID(turn.ID, 1, 1)} {
		if err := ask(t.Context(), j, call); !errors.Is(err, journal.ErrNotRunning) {
			t.Errorf("asked about %s: %v", call, err)
		}
	}
}

// TestApprovalEndsWithItsTurn checks that a question does not outlive its turn.
func TestApprovalEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	call := callID(turn.ID, 1, 1)
	must(t, addCalls(t.Context(), j, turn.ID, 1, "", "a"), ask(t.Context(), j, call), finish(t.Context(), j, turn.ID, journal.Cancelled))
	checkAnswered(t, answer(t.Context(), j, call, journal.ApprovalApproved))
	approvals, err := j.Approvals(t.Context(), turn.ID)
	must(t, err)
	if approvals[0].State != journal.ApprovalCancelled || approvals[0].Answered.IsZero() {
		t.Errorf("%+v", approvals)
	}
	checkStates(t, j, turn.ID, journal.CallRefused)
}
