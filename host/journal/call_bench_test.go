package journal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// TestToolTurnSyncs bounds how often a turn waits for the disk: admission, one
// for each request, one for the start of calls, the end.
func TestToolTurnSyncs(t *testing.T) {
	t.Parallel()
	j := open(t)
	before := j.Stats()
	must(t, toolTurn(t.Context(), j, "s", 2))
	// Three requests, two rounds of calls, admission and end.
	if got := j.Stats().Syncs - before.Syncs; got != 7 {
		t.Errorf("waited %d times for the disk, want 7", got)
	}
}

// toolTurn does all the journal work of a turn that calls two tools in each of
// so many rounds, and then answers.
func toolTurn(ctx context.Context, j *journal.Journal, session string, rounds int) error {
	turn, _, err := j.Admit(ctx, journal.Admission{Session: session, Text: "question"})
	if err != nil {
		return err
	}
	request := func(iteration int) (a journal.Attempt, err error) {
		a = journal.Attempt{Turn: turn.ID, Iteration: iteration, Number: 1, Provider: "p", Model: "m"}
		err = j.Write(ctx, journal.StepAttempt, func(tx *journal.Tx) error {
			a.ID, err = tx.InsertAttempt(a)
			return err
		})
		a.Outcome = journal.OutcomeComplete
		return a, err
	}
	for i := 1; i <= rounds; i++ {
		a, err := request(i)
		if err != nil {
			return err
		}
		if err := toolRound(ctx, j, a); err != nil {
			return err
		}
	}
	a, err := request(rounds + 1)
	if err != nil {
		return err
	}
	return j.Write(ctx, journal.StepFinish, func(tx *journal.Tx) error {
		_, err := tx.AddMessage(journal.Message{Turn: turn.ID, Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartText, Text: "answer"}}})
		return errors.Join(tx.SettleAttempt(a), err, tx.FinishTurn(journal.Finish{Turn: turn.ID, State: journal.Complete}))
	})
}

// toolRound stores an answer with two calls, their start, and their results.
func toolRound(ctx context.Context, j *journal.Journal, a journal.Attempt) error {
	m, calls := calling(a.Turn, a.Iteration, "", "read", "read")
	err := j.Write(ctx, journal.StepCalls, func(tx *journal.Tx) error {
		_, err := tx.AddMessage(m)
		return errors.Join(tx.SettleAttempt(a), err, tx.AddCalls(calls))
	})
	if err != nil {
		return err
	}
	if err := startCalls(ctx, j, calls[0].ID, calls[1].ID); err != nil {
		return err
	}
	return j.Write(ctx, journal.StepCallEnd, func(tx *journal.Tx) error {
		for _, c := range calls {
			if err := tx.EndCall(done(c.ID, "result")); err != nil {
				return err
			}
		}
		_, err := tx.CloseCalls(a.Turn, journal.CloseLive)
		return err
	})
}

// BenchmarkToolTurn is the journal's part of a turn of three iterations with
// two calls each.
func BenchmarkToolTurn(b *testing.B) {
	j := open(b)
	for i := 0; b.Loop(); i++ {
		if err := toolTurn(b.Context(), j, fmt.Sprint(i%100), 3); err != nil {
			b.Fatal(err)
		}
	}
}
