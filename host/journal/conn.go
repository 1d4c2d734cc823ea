package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"modernc.org/sqlite"
)

// conn is one connection to the database with its prepared statements. It
// talks to the driver directly: database/sql costs a microsecond or two a
// statement, which for the one writer is a third of its work. One goroutine at
// a time may use it.
type conn struct {
	driver driver.Conn
	stmts  map[string]driver.Stmt
	args   []driver.NamedValue
}

// dsn names the database file at path for the driver. mode is "rwc", "rw" or
// "ro".
func dsn(path, mode, more string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find database: %w", err)
	}
	return "file:" + (&url.URL{Path: abs}).EscapedPath() + "?mode=" + mode + more, nil
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
	return &conn{driver: c, stmts: make(map[string]driver.Stmt)}, nil
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
	e, ok := c.driver.(driver.ExecerContext)
	if !ok {
		return errors.New("the driver cannot run scripts")
	}
	_, err := e.ExecContext(context.Background(), sql, nil)
	return err
}

// prepared returns the statement for sql, prepared once.
func (c *conn) prepared(sql string) (driver.Stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	s, err := c.driver.Prepare(sql)
	if err != nil {
		return nil, err
	}
	c.stmts[sql] = s
	return s, nil
}

func (c *conn) named(args []driver.Value) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// exec runs a prepared statement. The arguments are int64, string or nil.
func (c *conn) exec(sql string, args ...driver.Value) (driver.Result, error) {
	return c.execNamed(sql, c.named(args))
}

func (c *conn) execNamed(sql string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.prepared(sql)
	if err != nil {
		return nil, err
	}
	e, ok := s.(driver.StmtExecContext)
	if !ok {
		return nil, errors.New("the driver cannot run statements")
	}
	// No context: the busy handler bounds the wait for a lock, and a write
	// that has begun is not left half-done because its caller went away.
	return e.ExecContext(context.Background(), args)
}

// row runs a prepared query and reads its first row into dest. ok is false if
// there is none.
func (c *conn) row(dest []driver.Value, sql string, args ...driver.Value) (ok bool, err error) {
	s, err := c.prepared(sql)
	if err != nil {
		return false, err
	}
	q, isQuery := s.(driver.StmtQueryContext)
	if !isQuery {
		return false, errors.New("the driver cannot run queries")
	}
	rows, err := q.QueryContext(context.Background(), c.named(args))
	if err != nil {
		return false, err
	}
	err = rows.Next(dest)
	ok = err == nil
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return ok, errors.Join(err, rows.Close())
}

// number runs a query for one number; none counts as 0.
func (c *conn) number(sql string, args ...driver.Value) (int64, error) {
	var dest [1]driver.Value
	if _, err := c.row(dest[:], sql, args...); err != nil {
		return 0, err
	}
	n, _ := dest[0].(int64)
	return n, nil
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
