package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Summary stands for a session's turns up to one in what the model is shown.
// The turns themselves stay in the journal.
type Summary struct {
	// Session is the session's number.
	Session int64
	// Upto is the Seq of the last turn that it stands for.
	Upto int64
	// Turn is the id of the turn in which it was made.
	Turn string
	// Text is the summary.
	Text string
	// Created is when it was stored.
	Created time.Time
}

// AddSummary stores a summary; its session is the turn's. It is of turns before
// s.Turn, which this host runs: ErrNotRunning else.
func (tx *Tx) AddSummary(s Summary) error {
	rows, _, err := tx.exec("add summary", `
		INSERT INTO summaries (session, upto, turn, text, created)
		SELECT session, ?2, id, ?3, ?4 FROM turns WHERE id = ?1 AND seq > ?2 AND state = 'running' AND boot = ?5`,
		s.Turn, s.Upto, s.Text, tx.now.UnixMilli(), tx.boot)
	if err == nil && rows == 0 {
		err = fmt.Errorf("add summary of the turns before %s: %w", s.Turn, ErrNotRunning)
	}
	return err
}

// Summary returns the newest summary of turns before t; ok is false if there is
// none.
func (r *Reader) Summary(ctx context.Context, t Turn) (s Summary, ok bool, err error) {
	var created int64
	err = r.db.QueryRowContext(ctx, `
		SELECT session, upto, turn, text, created FROM summaries
		WHERE session = ?1 AND upto < ?2 ORDER BY upto DESC, id DESC LIMIT 1`, t.SessionID, t.Seq).
		Scan(&s.Session, &s.Upto, &s.Turn, &s.Text, &created)
	if errors.Is(err, sql.ErrNoRows) {
		return Summary{}, false, nil
	}
	if err != nil {
		return Summary{}, false, readError("summary", err)
	}
	s.Created = milli(created)
	return s, true, nil
}
