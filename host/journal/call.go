package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/zchost/zchost/abi"
)

// CallState is where a tool call stands. docs/state-machine.md draws the
// machine; a test holds the drawing and the table below together.
type CallState string

// The states of a call. All but CallRequested and CallRunning are ends.
const (
	// CallRequested is what the model asked for; it has not run.
	CallRequested CallState = "requested"
	// CallRunning runs, or ran when the host died.
	CallRunning CallState = "running"
	// CallDone has a result, which may be an error that the tool reports.
	CallDone CallState = "done"
	// CallRefused never ran: it was invalid, denied, or beyond a limit.
	CallRefused CallState = "refused"
	// CallCancelled was stopped before it had a result: what it did until
	// then is not known.
	CallCancelled CallState = "cancelled"
	// CallUnknown ran when the host died, or broke off: whether it took effect
	// is unknown.
	CallUnknown CallState = "unknown"
)

// CallTransition is one way of a call from a state to another.
type CallTransition struct {
	// Name says what happens.
	Name string
	// From and To are the states before and after.
	From, To CallState
}

// CallTransitions returns the whole machine. A call begins as CallRequested, or
// as CallRefused when the host can tell at once that it cannot run.
func CallTransitions() []CallTransition {
	return []CallTransition{
		{"start", CallRequested, CallRunning},
		{"refuse", CallRequested, CallRefused},
		{"finish", CallRunning, CallDone},
		{"cancel", CallRunning, CallCancelled},
		{"lose", CallRunning, CallUnknown},
	}
}

func (s CallState) canBecome(to CallState) bool {
	for _, t := range CallTransitions() {
		if t.From == s && t.To == to {
			return true
		}
	}
	return false
}

// Ended reports whether s is an end.
func (s CallState) Ended() bool { return s != CallRequested && s != CallRunning }

// ToolCall is one call of a tool by the model.
type ToolCall struct {
	// ID is the host's own id of the call, unique for ever (C026).
	ID string
	// Turn is the turn's id; Iteration and N are its place there, from 1.
	Turn         string
	Iteration, N int
	// Name and Arguments are what the model gave; Arguments is a JSON object.
	Name, Arguments string
	// Effect is the tool's, Source where the tool comes from; both are empty
	// if there is no such tool.
	Effect abi.Effect
	Source string
	// State is where it stands; Reason says in a word or two why it did not
	// run or has no result.
	State  CallState
	Reason string
	// Result is what the model is told; IsError says that it tells a failure.
	Result  string
	IsError bool
	// Requested, Started and Ended are when it was stored, began to run and
	// ended; Started and Ended are zero until then.
	Requested, Started, Ended time.Time
}

// AddCalls stores the calls of one iteration, as CallRequested or CallRefused,
// before any of them runs. The turn must be running: ErrNotRunning if not.
func (tx *Tx) AddCalls(calls []ToolCall) error {
	for i := range calls {
		c := &calls[i]
		if c.State != CallRequested && c.State != CallRefused {
			return fmt.Errorf("add call %s as %q: a call begins as requested or refused", c.ID, c.State)
		}
		var ended driver.Value
		if c.State.Ended() {
			ended = tx.now.UnixMilli()
		}
		rows, _, err := tx.exec("add tool call", `
			INSERT INTO tool_calls (id, turn, iteration, n, name, arguments, effect, source, state, result, is_error,
				reason, requested, ended)
			SELECT ?2, id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14 FROM turns
			WHERE id = ?1 AND state = 'running' AND boot = ?15`,
			c.Turn, c.ID, int64(c.Iteration), int64(c.N), c.Name, c.Arguments, string(c.Effect), c.Source, string(c.State),
			c.Result, boolean(c.IsError), c.Reason, tx.now.UnixMilli(), ended, tx.boot)
		if err != nil {
			return err
		}
		if rows == 0 {
			return fmt.Errorf("add call %s: %w", c.ID, ErrNotRunning)
		}
	}
	return nil
}

// StartCalls notes that calls are about to run. Only a call that was requested,
// of a turn that this host runs, may, and only with the approval that was asked
// for, if one was: ErrNotRunning else.
func (tx *Tx) StartCalls(ids ...string) error {
	for _, id := range ids {
		if err := tx.moveCall(ToolCall{ID: id, State: CallRunning}); err != nil {
			return err
		}
	}
	return nil
}

// EndCall stores how a call ended: c's ID, State, Result, IsError and Reason.
// It is fenced like StartCalls: a result that comes late is refused (C100).
func (tx *Tx) EndCall(c ToolCall) error {
	if !c.State.Ended() {
		return fmt.Errorf("end call %s as %q: that is no end", c.ID, c.State)
	}
	return tx.moveCall(c)
}

func (tx *Tx) moveCall(c ToolCall) error {
	var row [2]driver.Value
	ok, err := tx.row("find tool call", row[:], `
		SELECT c.state, EXISTS (SELECT 1 FROM approvals WHERE call = c.id AND state <> 'approved')
		FROM tool_calls c JOIN turns t ON t.id = c.turn
		WHERE c.id = ?1 AND t.state = 'running' AND t.boot = ?2`, c.ID, tx.boot)
	if err != nil {
		return err
	}
	from := CallState(text(row[0]))
	if !ok || !from.canBecome(c.State) {
		return fmt.Errorf("call %s from %q to %q: %w", c.ID, from, c.State, ErrNotRunning)
	}
	if c.State == CallRunning && integer(row[1]) != 0 {
		return fmt.Errorf("start call %s without its approval: %w", c.ID, ErrNotRunning)
	}
	now := tx.now.UnixMilli()
	if c.State == CallRunning {
		_, _, err = tx.exec("start tool call", "UPDATE tool_calls SET state = ?2, started = ?3 WHERE id = ?1", c.ID, string(c.State), now)
		return err
	}
	_, _, err = tx.exec("end tool call", `
		UPDATE tool_calls SET state = ?2, result = ?3, is_error = ?4, reason = ?5, ended = max(coalesce(started, requested), ?6)
		WHERE id = ?1`,
		c.ID, string(c.State), c.Result, boolean(c.IsError), c.Reason, now)
	return err
}

// Calls returns the tool calls of a turn, in order.
func (r *Reader) Calls(ctx context.Context, turn string) ([]ToolCall, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT id, turn, iteration, n, name, arguments, effect, source, state, result, is_error, reason,
			requested, coalesce(started, 0), coalesce(ended, 0)
		FROM tool_calls WHERE turn = ?1 ORDER BY iteration, n`, turn)
	return collect("tool calls of "+turn, rows, err, func(scan func(...any) error) (ToolCall, error) {
		var c ToolCall
		var requested, started, ended int64
		err := scan(&c.ID, &c.Turn, &c.Iteration, &c.N, &c.Name, &c.Arguments, &c.Effect, &c.Source, &c.State,
			&c.Result, &c.IsError, &c.Reason, &requested, &started, &ended)
		c.Requested, c.Started, c.Ended = milli(requested), milli(started), milli(ended)
		return c, err
	})
}
