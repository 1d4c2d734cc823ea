package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/fault"
)

// Reader reads the journal, beside a running host or without one. It takes no
// lock and changes nothing. Its methods may be used at the same time.
type Reader struct{ db *sql.DB }

// readerPragmas keep a reader from writing; its cache is small because SQLite
// shares pages with the operating system's cache.
const readerPragmas = "&_busy_timeout=10000&_query_only=1&_pragma=cache_size(-1024)"

// OpenReader opens the journal at path for reading. It works on a read-only
// home, too, as long as no host died there with unsaved work.
func OpenReader(ctx context.Context, path string) (*Reader, error) {
	there, err := exists(path)
	if err != nil {
		return nil, openFault(err)
	}
	if !there {
		return nil, fault.New(fault.NotFound, "there is no journal at "+path, "it is made by the first `zchost chat` or `zchost send`")
	}
	r, err := openReader(ctx, path, readerPragmas)
	if err == nil || !readOnly(path) {
		return r, err
	}
	// SQLite wants to make its shared memory beside the database. Where it
	// cannot, nobody else can write either, and the file alone is enough if
	// there is no log beside it.
	return openReader(ctx, path, readerPragmas+"&immutable=1")
}

func readOnly(path string) bool {
	wal, err := os.Stat(path + "-wal")
	return errors.Is(err, os.ErrNotExist) || (err == nil && wal.Size() == 0)
}

func openReader(ctx context.Context, path, pragmas string) (*Reader, error) {
	name, err := dsn(path, "ro", pragmas)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	db.SetMaxOpenConns(max(4, runtime.GOMAXPROCS(0)))
	db.SetMaxIdleConns(2)
	db.SetConnMaxIdleTime(time.Minute)
	if err := checkCurrent(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Reader{db}, nil
}

// checkCurrent refuses a schema that is not this version's.
func checkCurrent(ctx context.Context, db *sql.DB) error {
	version, err := checkSchema(ctx, db)
	if err != nil {
		return err
	}
	newest, err := newestMigration()
	if err != nil {
		return err
	}
	if version < newest {
		return fault.New(fault.Journal, fmt.Sprintf("the journal is from an older zchost: its schema is %d, not %d", version, newest),
			"start `zchost chat` once: it brings the journal up to date")
	}
	return nil
}

// Close closes the reader.
func (r *Reader) Close() error { return r.db.Close() }

const turnColumns = `t.id, t.session, s.key, t.agent, t.seq, t.state, t.marker, t.error_class, t.error_message,
	t.candidate, t.fallback, t.created, coalesce(t.started, 0), coalesce(t.ended, 0),
	coalesce((SELECT text FROM inbox WHERE turn = t.id ORDER BY id LIMIT 1), ''),
	coalesce((SELECT surface FROM inbox WHERE turn = t.id ORDER BY id LIMIT 1), ''),
	EXISTS (SELECT 1 FROM events WHERE turn = t.id AND (type = 'provider_tool' OR (type IN ('text', 'reasoning') AND text <> ''))),
	coalesce((SELECT max(n) FROM events WHERE turn = t.id), 0), t.after, t.relation, t.hidden, t.discarded
	FROM turns t JOIN sessions s ON s.id = t.session`

func scanTurn(scan func(...any) error) (Turn, error) {
	var t Turn
	var created, started, ended int64
	err := scan(&t.ID, &t.SessionID, &t.Session, &t.Agent, &t.Seq, &t.State, &t.Marker, &t.Error.Class, &t.Error.Message,
		&t.Candidate, &t.Fallback, &created, &started, &ended, &t.Text, &t.Surface, &t.Visible, &t.Events,
		&t.After, &t.Relation, &t.Hidden, &t.Discarded)
	t.Created, t.Started, t.Ended = milli(created), milli(started), milli(ended)
	return t, err
}

// Turn returns the turn with that id; ErrNotFound if there is none.
func (r *Reader) Turn(ctx context.Context, id string) (Turn, error) {
	t, err := scanTurn(r.db.QueryRowContext(ctx, "SELECT "+turnColumns+" WHERE t.id = ?1", id).Scan)
	if err != nil {
		return Turn{}, readError("turn "+id, err)
	}
	return t, nil
}

// TurnFilter chooses turns. Zero fields do not restrict.
type TurnFilter struct {
	// Session is a session's number.
	Session int64
	// State is the state that they are in.
	State State
	// Before is the id of a turn: only earlier ones are given.
	Before string
	// Limit is the most turns; default and most 1000.
	Limit int
}

// Turns returns turns, the newest first.
func (r *Reader) Turns(ctx context.Context, f TurnFilter) ([]Turn, error) {
	rows, err := r.db.QueryContext(ctx, "SELECT "+turnColumns+`
		WHERE (?1 = 0 OR t.session = ?1) AND (?2 = '' OR t.state = ?2) AND (?3 = '' OR t.id < ?3)
		ORDER BY t.id DESC LIMIT ?4`, f.Session, string(f.State), f.Before, atMost(f.Limit, 1000))
	return collect("turns", rows, err, scanTurn)
}

// Events returns the events of a turn after a number, at most limit (default
// and most 1000).
func (r *Reader) Events(ctx context.Context, turn string, after int64, limit int) ([]Event, error) {
	rows, err := r.db.QueryContext(ctx,
		"SELECT n, attempt, at, type, text, data FROM events WHERE turn = ?1 AND n > ?2 ORDER BY n LIMIT ?3",
		turn, after, atMost(limit, 1000))
	return collect("events of "+turn, rows, err, func(scan func(...any) error) (Event, error) {
		var e Event
		var at int64
		var data string
		err := scan(&e.N, &e.Attempt, &at, &e.Type, &e.Text, &data)
		e.At = milli(at)
		if data != "" {
			e.Data = abi.Raw(data)
		}
		return e, err
	})
}

// Attempts returns the requests to models of a turn, in order.
func (r *Reader) Attempts(ctx context.Context, turn string) ([]Attempt, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT id, turn, iteration, number, profile, provider, model, served, fingerprint, streaming, key_label,
			started, coalesce(ended, 0), outcome, status, code, message, request_id, wait,
			input, output, cache_read, cache_write, reasoning, usage_source, warning, price, currency,
			id IN (SELECT attempt FROM events WHERE turn = ?1 AND (type = 'provider_tool' OR (type IN ('text', 'reasoning') AND text <> '')))
		FROM attempts WHERE turn = ?1 ORDER BY id`, turn)
	return collect("attempts of "+turn, rows, err, func(scan func(...any) error) (Attempt, error) {
		var a Attempt
		var started, ended, wait int64
		err := scan(&a.ID, &a.Turn, &a.Iteration, &a.Number, &a.Profile, &a.Provider, &a.Model, &a.Served,
			&a.Fingerprint, &a.Streaming, &a.KeyLabel, &started, &ended, &a.Outcome, &a.Status, &a.Code, &a.Message,
			&a.RequestID, &wait, &a.Usage.Input, &a.Usage.Output, &a.Usage.CacheRead, &a.Usage.CacheWrite,
			&a.Usage.Reasoning, &a.UsageSource, &a.Warning, &a.Price, &a.Currency, &a.Visible)
		a.Started, a.Ended, a.Wait = milli(started), milli(ended), time.Duration(wait)*time.Millisecond
		return a, err
	})
}

const messageColumns = "m.id, m.session, m.turn, m.role, m.parts, m.marker, m.candidate, m.created, (SELECT fallback FROM turns WHERE id = m.turn) FROM messages m"

func scanMessage(scan func(...any) error) (Message, error) {
	var m Message
	var parts string
	var created int64
	if err := scan(&m.ID, &m.Session, &m.Turn, &m.Role, &parts, &m.Marker, &m.Candidate, &created, &m.Fallback); err != nil {
		return m, err
	}
	m.Created = milli(created)
	var err error
	m.Parts, err = decodeParts(parts)
	return m, err
}

// Messages returns the last messages of a session in the order of the
// conversation, at most limit (default and most 100,000).
func (r *Reader) Messages(ctx context.Context, session int64, limit int) ([]Message, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT * FROM (SELECT m.seq, `+messageColumns+` WHERE m.session = ?1 ORDER BY m.seq DESC, m.id DESC LIMIT ?2)
		ORDER BY seq, id`, session, atMost(limit, 100_000))
	return collect("messages", rows, err, func(scan func(...any) error) (Message, error) {
		return scanMessage(func(dest ...any) error { return scan(append([]any{new(int64)}, dest...)...) })
	})
}

func scanSession(scan func(...any) error) (Session, error) {
	var s Session
	var created, updated int64
	err := scan(&s.ID, &s.Key, &s.Agent, &created, &updated, &s.Turns)
	s.Created, s.Updated = milli(created), milli(updated)
	return s, err
}

// Sessions returns the sessions, at most 10,000, the last used first.
func (r *Reader) Sessions(ctx context.Context) ([]Session, error) {
	rows, err := r.db.QueryContext(ctx,
		"SELECT id, key, agent, created, updated, turns FROM sessions ORDER BY updated DESC, id DESC LIMIT 10000")
	return collect("sessions", rows, err, scanSession)
}

// Session returns the session with that key; ErrNotFound if there is none.
func (r *Reader) Session(ctx context.Context, key string) (Session, error) {
	s, err := scanSession(r.db.QueryRowContext(ctx,
		"SELECT id, key, agent, created, updated, turns FROM sessions WHERE key = ?1", key).Scan)
	if err != nil {
		return Session{}, readError("session", err)
	}
	return s, nil
}

// collect scans all rows.
func collect[T any](what string, rows *sql.Rows, err error, scan func(func(...any) error) (T, error)) ([]T, error) {
	if err != nil {
		return nil, readError(what, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	var list []T
	for rows.Next() {
		item, err := scan(rows.Scan)
		if err != nil {
			return nil, readError(what, err)
		}
		list = append(list, item)
	}
	if err := rows.Err(); err != nil {
		return nil, readError(what, err)
	}
	return list, nil
}

func atMost(limit, most int) int {
	if limit <= 0 || limit > most {
		return most
	}
	return limit
}

func readError(what string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	switch resultCode(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		err = fault.Wrap(err, fault.Journal, "the journal is damaged", damagedHint)
	}
	return fmt.Errorf("read %s: %w", what, err)
}
