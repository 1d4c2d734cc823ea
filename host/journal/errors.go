package journal

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/zchost/zchost/host/fault"
)

// Errors that callers decide by.
var (
	// ErrNotRunning says that the turn is not this host's to go on with: it
	// has ended, or waits, or another start of the host owned it. Nothing was
	// written.
	ErrNotRunning = errors.New("the turn is not running")
	// ErrNotFound says that there is no such turn, attempt or session.
	ErrNotFound = errors.New("not in the journal")
	// ErrSettled says that the attempt was settled before.
	ErrSettled = errors.New("the attempt is settled already")
	// ErrGap says that events are not numbered on from the last one (SNK-1).
	ErrGap = errors.New("the events do not follow the last one")
	// ErrClosed says that the journal is closed.
	ErrClosed = errors.New("the journal is closed")
)

// InvalidError says that a field of an Admission cannot be stored.
type InvalidError struct {
	// Field is the field's name, Reason what is wrong with its value.
	Field, Reason string
}

// Error tells field and reason.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s %s", e.Field, e.Reason)
}

// resultCode returns SQLite's primary result code; 0 if err is not SQLite's.
func resultCode(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// writeFault tells a person why the journal cannot be written, and what helps.
func writeFault(err error) error {
	switch resultCode(err) {
	case sqlite3.SQLITE_FULL:
		return fault.Wrap(err, fault.Unavailable, "the disk is full: the journal cannot be written",
			"free some space; the host goes on by itself when there is room")
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fault.Wrap(err, fault.Unavailable, "another process holds the journal locked",
			"close whatever else has journal.db open for writing, such as a database browser or a backup")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_AUTH:
		return fault.Wrap(err, fault.Unavailable, "the journal cannot be written: it is read-only",
			"make the home directory and the files in it writable for the user that runs zchost")
	case sqlite3.SQLITE_IOERR:
		return fault.Wrap(err, fault.Unavailable, "the disk reports an error: the journal cannot be written",
			"look at the disk and its free space and quota; the host goes on by itself when writing works again")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Wrap(err, fault.Journal, "the journal is damaged", damagedHint)
	case sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_TOOBIG:
		return fault.Wrap(err, fault.Unavailable, "the journal cannot be written: out of memory", "")
	}
	return fault.Wrap(err, fault.Journal, "the journal cannot be written", "")
}

// openFault tells a person why the journal cannot be opened, and what helps.
func openFault(err error) error {
	switch resultCode(err) {
	case 0:
		var f *fault.Error
		if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return fault.Wrap(err, fault.Home, "the journal cannot be opened", "")
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fault.Wrap(err, fault.Journal, "the journal is damaged", damagedHint)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return fault.Wrap(err, fault.Home, "the journal cannot be opened",
			"make the home directory and the files in it readable and writable for the user that runs zchost")
	}
	return writeFault(err)
}

const damagedHint = "nothing in it was changed: stop whatever uses it, move journal.db, journal.db-wal and journal.db-shm " +
	"aside together and restore a backup, or start with a new journal; " +
	"`sqlite3 journal.db .recover` reads what is left of the old one"
