package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// conn is one connection to the database with its prepared statements. It
// talks to the driver directly: database/sql costs a microsecond or two a
// statement, which for the one writer is a third of its work. One goroutine at
// a time may use it.
type conn struct {
	driver driver.Conn
	stmts  map[string]statement
	args   []driver.Value // reused for long lists
}

// statement is a prepared statement of the driver. It takes no context: the
// busy handler bounds the wait for a lock, and a write that has begun is not
// left half-done because its caller went away.
type statement interface {
	Exec(args []driver.Value) (driver.Result, error)
	Query(args []driver.Value) (driver.Rows, error)
	Close() error
}

// dsn names the database file at path for the driver. mode is "rwc", "rw" or
// "ro".
func dsn(path, mode, more string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find database: %w", err)
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/… on Windows
	}
	return "file://" + (&url.URL{Path: slashed}).EscapedPath() + "?mode=" + mode + more, nil
}

// busyPragma makes a connection wait for a lock that another has.
func busyPragma(wait time.Duration) string {
	return fmt.Sprintf("&_busy_timeout=%d", wait.Milliseconds())
}

// connect opens a connection.
func connect(name string) (*conn, error) {
	connector, err := sqlite.NewConnector(name)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	c, err := connector.Connect(context.Background())
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return &conn{driver: c, stmts: make(map[string]statement)}, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.driver.Close())...)
}

// script runs statements that are not worth keeping prepared.
func (c *conn) script(sql string) error {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	_, err = s.Exec(nil)
	return errors.Join(err, s.Close())
}

func (c *conn) prepare(sql string) (statement, error) {
	s, err := c.driver.Prepare(sql)
	if err != nil {
		return nil, err
	}
	st, ok := s.(statement)
	if !ok {
		return nil, errors.Join(errors.New("the driver's statements are not as expected"), s.Close())
	}
	return st, nil
}

// prepared returns the statement for sql, prepared once.
func (c *conn) prepared(sql string) (statement, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	s, err := c.prepare(sql)
	if err == nil {
		c.stmts[sql] = s
	}
	return s, err
}

// exec runs a prepared statement. The arguments are int64, string,
// []byte or nil.
func (c *conn) exec(sql string, args ...driver.Value) (driver.Result, error) {
	s, err := c.prepared(sql)
	if err != nil {
		return nil, err
	}
	return s.Exec(args)
}

// row runs a prepared query and reads its first row into dest. ok is false if
// there is none.
func (c *conn) row(dest []driver.Value, sql string, args ...driver.Value) (ok bool, err error) {
	err = c.each(dest, sql, args, func() bool {
		ok = true
		return false
	})
	return ok && err == nil, err
}

// each runs a prepared query, reads each row into dest and calls fn, until fn
// returns false.
func (c *conn) each(dest []driver.Value, sql string, args []driver.Value, fn func() bool) error {
	s, err := c.prepared(sql)
	if err != nil {
		return err
	}
	rows, err := s.Query(args)
	if err != nil {
		return err
	}
	for err = rows.Next(dest); err == nil; err = rows.Next(dest) {
		if !fn() {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}

// orNull gives NULL for an unknown number.
func orNull(n *int64) driver.Value {
	if n == nil {
		return nil
	}
	return *n
}

func text(v driver.Value) string {
	s, _ := v.(string)
	return s
}

func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}
