package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// ErrAnswered says that a question has its answer already.
var ErrAnswered = errors.New("it was answered already")

// ApprovalState is where a question about a call stands. All but
// ApprovalPending are ends.
type ApprovalState string

// The states of an approval.
const (
	// ApprovalPending waits for a person.
	ApprovalPending ApprovalState = "pending"
	// ApprovalApproved and ApprovalDenied are a person's word.
	ApprovalApproved ApprovalState = "approved"
	ApprovalDenied   ApprovalState = "denied"
	// ApprovalExpired was not answered in time.
	ApprovalExpired ApprovalState = "expired"
	// ApprovalCancelled was not answered before the turn ended.
	ApprovalCancelled ApprovalState = "cancelled"
)

// ApprovalTransition is one way of an approval from a state to another.
type ApprovalTransition struct {
	// Name says what happens.
	Name string
	// From and To are the states before and after.
	From, To ApprovalState
}

// ApprovalTransitions returns the whole machine. An approval begins as
// ApprovalPending.
func ApprovalTransitions() []ApprovalTransition {
	return []ApprovalTransition{
		{"approve", ApprovalPending, ApprovalApproved},
		{"deny", ApprovalPending, ApprovalDenied},
		{"expire", ApprovalPending, ApprovalExpired},
		{"cancel", ApprovalPending, ApprovalCancelled},
	}
}

func (s ApprovalState) canBecome(to ApprovalState) bool {
	for _, t := range ApprovalTransitions() {
		if t.From == s && t.To == to {
			return true
		}
	}
	return false
}

// Ended reports whether s is an end.
func (s ApprovalState) Ended() bool { return s != ApprovalPending }

// Approval is a question to a person whether a call may run.
type Approval struct {
	// Call is the call's id, Turn the turn's.
	Call, Turn string
	// State is where it stands.
	State ApprovalState
	// Asked, Expires and Answered are when it was asked, when it stops to be
	// asked, and when it ended; Answered is zero until then.
	Asked, Expires, Answered time.Time
	// By is who answered; may be empty.
	By string
}

// AskApproval stores a question, as pending, before anybody is asked. It is
// about a call that was requested, of a turn that this host runs:
// ErrNotRunning else. A call is asked about once.
func (tx *Tx) AskApproval(a Approval) error {
	rows, _, err := tx.exec("ask for approval", `
		INSERT INTO approvals (call, turn, state, asked, expires)
		SELECT c.id, c.turn, 'pending', ?2, ?3 FROM tool_calls c JOIN turns t ON t.id = c.turn
		WHERE c.id = ?1 AND c.state = 'requested' AND t.state = 'running' AND t.boot = ?4`,
		a.Call, tx.now.UnixMilli(), a.Expires.UnixMilli(), tx.boot)
	if err == nil && rows == 0 {
		err = fmt.Errorf("ask about call %s: %w", a.Call, ErrNotRunning)
	}
	return err
}

// AnswerApproval ends a question. Only the first answer counts: ErrAnswered
// for another, ErrNotFound if nothing was asked.
func (tx *Tx) AnswerApproval(call string, s ApprovalState, by string) error {
	var row [1]driver.Value
	ok, err := tx.row("find approval", row[:], "SELECT state FROM approvals WHERE call = ?1", call)
	from := ApprovalState(text(row[0]))
	switch {
	case err != nil:
		return err
	case !ApprovalPending.canBecome(s):
		return fmt.Errorf("answer approval of call %s as %q: that is no answer", call, s)
	case !ok:
		return fmt.Errorf("answer approval of call %s: %w", call, ErrNotFound)
	case !from.canBecome(s):
		return fmt.Errorf("answer approval of call %s, which is %s: %w", call, from, ErrAnswered)
	}
	_, _, err = tx.exec("answer approval",
		"UPDATE approvals SET state = ?2, answered = max(asked, ?3), by = ?4 WHERE call = ?1",
		call, string(s), tx.now.UnixMilli(), by)
	return err
}

// cancelApprovals ends the questions of a turn that ends.
func (tx *Tx) cancelApprovals(turn string) error {
	_, _, err := tx.exec("cancel approvals",
		"UPDATE approvals SET state = 'cancelled', answered = max(asked, ?2) WHERE turn = ?1 AND state = 'pending'",
		turn, tx.now.UnixMilli())
	return err
}

// Approvals returns the questions of a turn, in the order in which they were
// asked.
func (r *Reader) Approvals(ctx context.Context, turn string) ([]Approval, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT call, turn, state, asked, expires, coalesce(answered, 0), by
		FROM approvals WHERE turn = ?1 ORDER BY asked, call`, turn)
	return collect("approvals of "+turn, rows, err, func(scan func(...any) error) (Approval, error) {
		var a Approval
		var asked, expires, answered int64
		err := scan(&a.Call, &a.Turn, &a.State, &asked, &expires, &answered, &a.By)
		a.Asked, a.Expires, a.Answered = milli(asked), milli(expires), milli(answered)
		return a, err
	})
}
