package journal

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// Bounds of the write-ahead log, in pages of 4 KiB, and how they are kept.
const (
	// copyPages is how many pages of the log are copied into the database in
	// one go; at most about so long does the log get.
	copyPages = 4000
	// maxPages is the length at which readers are waited for, so that the log
	// can start again from its beginning. It gets there only if after every
	// copy some reader was using it.
	maxPages = 8000
	// lookEvery is how many commits lie between two looks at the length.
	lookEvery = 16
	// restartWait is how long readers are waited for then.
	restartWait = 200 * time.Millisecond
)

// checkpoint keeps the write-ahead log short. SQLite would do it in the middle
// of a commit, and a full disk would then fail a commit that has succeeded; so
// it is done here, after the writers have their results.
func (w *writer) checkpoint() error {
	if w.sinceLook++; w.sinceLook < lookEvery {
		return nil
	}
	w.sinceLook = 0
	length, copied, err := w.checkpointMode("NOOP")
	switch {
	case err != nil:
		return err
	case length >= w.maxPages:
		return w.restartLog()
	case length-copied >= w.copyPages:
		_, _, err = w.checkpointMode("PASSIVE")
	}
	return err
}

// restartLog waits a moment for readers to let go of the log, then empties it.
func (w *writer) restartLog() error {
	if err := w.setBusy(restartWait); err != nil {
		return err
	}
	_, _, err := w.checkpointMode("TRUNCATE")
	if resultCode(err) == sqlite3.SQLITE_BUSY {
		err = nil // the next look tries again
	}
	return errors.Join(err, w.setBusy(w.busy))
}

func (w *writer) setBusy(wait time.Duration) error {
	return w.conn.script(fmt.Sprintf("PRAGMA busy_timeout=%d", wait.Milliseconds()))
}

// checkpointMode returns the pages in the log and how many of them are copied.
func (w *writer) checkpointMode(mode string) (length, copied int64, err error) {
	var row [3]driver.Value
	if _, err := w.conn.row(row[:], "PRAGMA wal_checkpoint("+mode+")"); err != nil {
		return 0, 0, err
	}
	return integer(row[1]), integer(row[2]), nil
}
