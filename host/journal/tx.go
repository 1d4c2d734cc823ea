package journal

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/zchost/zchost/abi"
)

// Tx is one write in progress. It is valid inside the function given to Write.
//
// That function may be run again, when another write of its group failed or
// the database was busy: apart from using the Tx, it may only set variables
// that it sets each time.
type Tx struct {
	conn *conn
	boot int64
	now  time.Time
	// wrote says that the current write has changed something, broken that
	// the database failed.
	wrote  bool
	broken error
}

// exec changes rows and returns how many, and the number of the last new one.
func (tx *Tx) exec(what, sql string, args ...driver.Value) (rows, id int64, err error) {
	res, err := tx.conn.exec(sql, args...)
	if err != nil {
		return 0, 0, tx.failed(what, err)
	}
	if rows, err = res.RowsAffected(); err != nil {
		return 0, 0, tx.failed(what, err)
	}
	if id, err = res.LastInsertId(); err != nil {
		return 0, 0, tx.failed(what, err)
	}
	tx.wrote = tx.wrote || rows > 0
	return rows, id, nil
}

func (tx *Tx) row(what string, dest []driver.Value, sql string, args ...driver.Value) (bool, error) {
	ok, err := tx.conn.row(dest, sql, args...)
	if err != nil {
		return false, tx.failed(what, err)
	}
	return ok, nil
}

// failed tells a refused statement, which is the caller's error, from a
// database that does not work.
func (tx *Tx) failed(what string, err error) error {
	err = fmt.Errorf("%s: %w", what, err)
	if resultCode(err) != sqlite3.SQLITE_CONSTRAINT {
		tx.broken = err
	}
	return err
}

// AppendEvents adds events to a turn of this host that has not ended:
// ErrNotRunning if it has. They must be numbered on from the turn's last event:
// ErrGap if not.
func (tx *Tx) AppendEvents(turn string, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	var row [3]driver.Value
	ok, err := tx.row("find turn", row[:],
		"SELECT state, boot, (SELECT max(n) FROM events WHERE turn = ?1) FROM turns WHERE id = ?1", turn)
	if err != nil {
		return err
	}
	if !ok || State(text(row[0])).Ended() || integer(row[1]) != tx.boot {
		return fmt.Errorf("append events to %s: %w", turn, ErrNotRunning)
	}
	return tx.insertEvents(turn, integer(row[2]), events)
}

// insertRows are the sizes of the multi-row inserts, largest first.
const insertRows = 32

func (tx *Tx) insertEvents(turn string, last int64, events []Event) error {
	for i := range events {
		if events[i].N != last+int64(i)+1 {
			return fmt.Errorf("append event %d to %s after event %d: %w", events[i].N, turn, last+int64(i), ErrGap)
		}
	}
	for len(events) > 0 {
		rows := 1
		for rows*2 <= min(len(events), insertRows) {
			rows *= 2
		}
		args := tx.conn.args[:0]
		for i := range events[:rows] {
			e := &events[i]
			args = append(args, turn, e.N, e.Attempt, tx.at(e.At), string(e.Type), e.Text, string(e.Data))
		}
		tx.conn.args = args
		if _, _, err := tx.exec("append events", insertEventsSQL(rows), args...); err != nil {
			return err
		}
		events = events[rows:]
	}
	return nil
}

func insertEventsSQL(rows int) string {
	return "INSERT INTO events (turn, n, attempt, at, type, text, data) VALUES (?,?,?,?,?,?,?)" +
		strings.Repeat(",(?,?,?,?,?,?,?)", rows-1)
}

// InsertAttempt adds a request to a model to the ledger, with outcome unknown,
// and returns its number. The turn must be one that this host is running:
// ErrNotRunning if not, and then the request may not be sent.
func (tx *Tx) InsertAttempt(a Attempt) (int64, error) {
	rows, id, err := tx.exec("insert attempt", `
		INSERT INTO attempts (turn, iteration, number, profile, provider, model, fingerprint, streaming,
			key_label, started, wait)
		SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 FROM turns
		WHERE id = ?1 AND state = 'running' AND boot = ?12`,
		a.Turn, int64(a.Iteration), int64(a.Number), a.Profile, a.Provider, a.Model, a.Fingerprint,
		boolean(a.Streaming), a.KeyLabel, tx.at(a.Started), a.Wait.Milliseconds(), tx.boot)
	if err != nil {
		return 0, err
	}
	if rows == 0 {
		return 0, fmt.Errorf("insert attempt of %s: %w", a.Turn, ErrNotRunning)
	}
	return id, nil
}

// SettleAttempt stores how the attempt a.ID went. That is possible once, and
// also when its turn has ended meanwhile: the ledger keeps what was used.
func (tx *Tx) SettleAttempt(a Attempt) error {
	source := a.UsageSource
	if source == "" {
		source = UsageUnknown
	}
	rows, _, err := tx.exec("settle attempt", `
		UPDATE attempts SET served = ?2, ended = max(started, ?3), outcome = ?4, status = ?5, code = ?6, message = ?7,
			request_id = ?8, input = ?9, output = ?10, cache_read = ?11, cache_write = ?12, reasoning = ?13,
			usage_source = ?14, warning = ?15, price = ?16, currency = ?17
		WHERE id = ?1 AND ended IS NULL`,
		a.ID, a.Served, tx.at(a.Ended), a.Outcome, int64(a.Status), a.Code, a.Message, a.RequestID,
		orNull(a.Usage.Input), orNull(a.Usage.Output), orNull(a.Usage.CacheRead), orNull(a.Usage.CacheWrite),
		orNull(a.Usage.Reasoning), string(source), a.Warning, orNull(a.Price), a.Currency)
	if err != nil || rows == 1 {
		return err
	}
	known, err := tx.row("find attempt", make([]driver.Value, 1), "SELECT 1 FROM attempts WHERE id = ?1", a.ID)
	switch {
	case err != nil:
		return err
	case known:
		return fmt.Errorf("settle attempt %d: %w", a.ID, ErrSettled)
	}
	return fmt.Errorf("settle attempt %d: %w", a.ID, ErrNotFound)
}

// AddMessage adds a message to the transcript, in its turn's place, and
// returns its number. The turn must be one that this host is running, so it is
// called before FinishTurn. If the message before it has calls without results,
// they are closed first: nothing may come between a call and its result.
func (tx *Tx) AddMessage(m Message) (int64, error) {
	if m.Role != abi.RoleTool {
		if _, err := tx.CloseCalls(m.Turn, CloseLive); err != nil {
			return 0, err
		}
	}
	parts, err := encodeParts(m.Parts)
	if err != nil {
		return 0, err
	}
	rows, id, err := tx.exec("add message", `
		INSERT INTO messages (session, seq, turn, role, parts, marker, candidate, created)
		SELECT session, seq, id, ?2, ?3, ?4, ?5, ?6 FROM turns WHERE id = ?1 AND state = 'running' AND boot = ?7`,
		m.Turn, string(m.Role), parts, m.Marker, m.Candidate, tx.at(m.Created), tx.boot)
	if err != nil {
		return 0, err
	}
	if rows == 0 {
		return 0, fmt.Errorf("add message to %s: %w", m.Turn, ErrNotRunning)
	}
	return id, nil
}

// at gives t in Unix milliseconds; the time of the write if t is zero.
func (tx *Tx) at(t time.Time) int64 {
	if t.IsZero() {
		t = tx.now
	}
	return t.UnixMilli()
}

func boolean(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
