package journal

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Exec runs SQL on the connection that writes, outside of the rules of Tx.
func (j *Journal) Exec(ctx context.Context, sql string, args ...any) error {
	return j.Write(ctx, StepDeltas, func(tx *Tx) error {
		values := make([]driver.Value, len(args))
		for i, a := range args {
			values[i] = a
		}
		_, _, err := tx.exec("run", sql, values...)
		return err
	})
}

// Pragma runs a PRAGMA on the connection that writes.
func (j *Journal) Pragma(ctx context.Context, pragma string) error {
	return j.Write(ctx, StepDeltas, func(tx *Tx) error { return tx.conn.script("PRAGMA " + pragma) })
}

// Statements are all statements that the writer has used so far.
func (j *Journal) Statements(ctx context.Context) ([]string, error) {
	var list []string
	err := j.Write(ctx, StepDeltas, func(tx *Tx) error {
		list = list[:0]
		for sql := range tx.conn.stmts {
			list = append(list, sql)
		}
		slices.Sort(list)
		return nil
	})
	return list, err
}

// Plan tells how SQLite runs a statement.
func (j *Journal) Plan(ctx context.Context, sql string) ([]string, error) {
	var list []string
	err := j.Write(ctx, StepDeltas, func(tx *Tx) error {
		list = list[:0]
		var row [4]driver.Value
		s, err := tx.conn.prepare("EXPLAIN QUERY PLAN " + sql)
		if err != nil {
			return err
		}
		defer s.Close()
		args := make([]driver.Value, 256)
		rows, err := s.Query(args)
		if err != nil {
			return err
		}
		for err = rows.Next(row[:]); err == nil; err = rows.Next(row[:]) {
			list = append(list, text(row[3]))
		}
		return rows.Close()
	})
	return list, err
}

// HoldWriteLock takes the database's write lock, says so, and gives it free
// when the input ends.
func HoldWriteLock(path string) error {
	name, err := dsn(path, "rw", busyPragma(time.Second))
	if err != nil {
		return err
	}
	c, err := connect(name)
	if err != nil {
		return err
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := c.script("COMMIT"); err != nil {
		return err
	}
	return c.close()
}

// SmallSize is up to which size a database is always read at start.
const SmallSize = smallSize

// Waiting is how many writes wait for the writer.
func (j *Journal) Waiting() int { return len(j.writer.queue) }

// DB is the reader's pool of connections.
func (r *Reader) DB() *sql.DB { return r.db }

// BoundLog sets the bounds of the write-ahead log, in pages.
func (j *Journal) BoundLog(ctx context.Context, copyAt, restartAt int64) error {
	return j.Write(ctx, StepDeltas, func(*Tx) error {
		j.writer.copyPages, j.writer.maxPages = copyAt, restartAt
		return nil
	})
}

// Synchronous is the connection's PRAGMA synchronous: 1 is NORMAL, 2 is FULL.
func (tx *Tx) Synchronous() (int64, error) {
	var row [1]driver.Value
	s, err := tx.conn.prepare("PRAGMA synchronous")
	if err != nil {
		return 0, err
	}
	rows, err := s.Query(nil)
	if err != nil {
		return 0, err
	}
	if err := rows.Next(row[:]); err != nil {
		return 0, err
	}
	return integer(row[0]), errors.Join(rows.Close(), s.Close())
}

// Path is where the journal is.
func (j *Journal) Path() string { return j.path }

// CreateOld makes a journal with the first so many migrations.
func CreateOld(path string, version int, script string) error {
	c, err := connectWriter(path, "rwc", time.Second)
	if err != nil {
		return err
	}
	err = c.script(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA journal_mode=WAL", applicationID))
	files, listErr := fs.Glob(migrations, "migrations/*.sql")
	err = errors.Join(err, listErr)
	for _, file := range files[:version] {
		text, readErr := migrations.ReadFile(file)
		err = errors.Join(err, readErr, c.script(string(text)))
	}
	return errors.Join(err, c.script(fmt.Sprintf("PRAGMA user_version=%d", version)), c.script(script), c.close())
}

// AlterOld changes a journal that no host has open.
func AlterOld(path, script string) error {
	c, err := connectWriter(path, "rw", time.Second)
	if err != nil {
		return err
	}
	return errors.Join(c.script(script), c.close())
}

// The statements of Spent.
const (
	SpentSince  = spentSince
	SpentOfTurn = spentOfTurn
)
