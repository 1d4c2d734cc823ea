package journal

import (
	"context"
	"database/sql/driver"
	"fmt"
)

// FinishTurn ends a turn. It is fenced: the turn must be this host's, and its
// state one that may become f.State; else ErrNotRunning, so that what comes
// late is not written over what came after (C100). Calls and questions that
// are still open are closed with it: a turn never ends with a call that has no
// result (C096).
func (tx *Tx) FinishTurn(f Finish) error {
	var row [2]driver.Value
	ok, err := tx.row("find turn", row[:], "SELECT state, boot FROM turns WHERE id = ?1", f.Turn)
	if err != nil {
		return err
	}
	state := State(text(row[0]))
	if !ok || integer(row[1]) != tx.boot || !f.State.Ended() || !state.canBecome(f.State) {
		return fmt.Errorf("turn %s from %q to %q: %w", f.Turn, state, f.State, ErrNotRunning)
	}
	if state == Running {
		if _, err := tx.CloseCalls(f.Turn, CloseLive); err != nil {
			return err
		}
		if err := tx.cancelApprovals(f.Turn); err != nil {
			return err
		}
	}
	_, _, err = tx.exec("finish turn", `
		UPDATE turns SET state = ?2, ended = max(created, ?3), marker = ?4, error_class = ?5, error_message = ?6,
			candidate = ?7, fallback = ?8
		WHERE id = ?1`,
		f.Turn, string(f.State), tx.now.UnixMilli(), f.Marker, string(f.Error.Class), f.Error.Message, f.Candidate,
		boolean(f.Fallback))
	return err
}

// Next starts the oldest queued turn of a session that has no running one. ok
// is false if there is nothing to start.
func (j *Journal) Next(ctx context.Context, session int64) (turn Turn, ok bool, err error) {
	err = j.Write(ctx, StepNext, func(tx *Tx) error {
		turn, ok, err = tx.next(session)
		return err
	})
	return turn, ok && err == nil, err
}

func (tx *Tx) next(session int64) (t Turn, ok bool, err error) {
	var row [9]driver.Value
	ok, err = tx.row("find next turn", row[:], `
		SELECT t.id, s.key, t.agent, t.seq, t.created, i.text, i.surface, t.after, t.relation
		FROM turns t JOIN sessions s ON s.id = t.session JOIN inbox i ON i.turn = t.id
		WHERE t.session = ?1 AND t.state = 'queued' AND t.boot = ?2
		AND NOT EXISTS (SELECT 1 FROM turns WHERE session = ?1 AND state = 'running')
		ORDER BY t.seq, i.id LIMIT 1`, session, tx.boot)
	if err != nil || !ok {
		return Turn{}, false, err
	}
	t = Turn{
		ID: text(row[0]), SessionID: session, Session: text(row[1]), Agent: text(row[2]), Seq: integer(row[3]),
		State: Running, Created: milli(integer(row[4])), Text: text(row[5]), Surface: text(row[6]),
		After: text(row[7]), Relation: Relation(text(row[8])),
	}
	started := max(integer(row[4]), tx.now.UnixMilli())
	t.Started = milli(started)
	_, _, err = tx.exec("start turn", "UPDATE turns SET state = 'running', started = ?2 WHERE id = ?1", t.ID, started)
	return t, err == nil, err
}
