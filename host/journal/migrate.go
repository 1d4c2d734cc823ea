package journal

import (
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"modernc.org/sqlite"

	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/fault"
)

// migrations are the changes of the schema, in order. One that was released is
// never edited: what is to change is changed by a further one.
//
//go:embed migrations/*.sql
var migrations embed.FS

const (
	// applicationID marks a database as ours; it is "zcho".
	applicationID = 0x7a63686f
	// writerPragmas set up the connection that writes. Recursive triggers let
	// the triggers see the deletion in INSERT OR REPLACE. A checkpoint is done
	// by the writer itself.
	writerPragmas = "&_foreign_keys=1&_pragma=recursive_triggers(1)" +
		"&_synchronous=FULL&_pragma=wal_autocheckpoint(0)&_pragma=journal_size_limit(67108864)&_pragma=cache_size(-4096)"
)

// openWriter opens the connection that writes and brings the schema up to date.
// A new database is made beside its place and moved there when it is whole, so
// that an empty file is always a damaged one.
func openWriter(path string, busy time.Duration) (*conn, error) {
	there, err := exists(path)
	if err != nil {
		return nil, err
	}
	if !there {
		if err := create(path, busy); err != nil {
			return nil, err
		}
	}
	c, err := connectWriter(path, "rw", busy)
	if err != nil {
		return nil, err
	}
	// It is so already, unless somebody has changed it with another tool.
	if err := c.script("PRAGMA journal_mode=WAL"); err != nil {
		return nil, errors.Join(openFault(err), c.close())
	}
	if err := migrate(c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func connectWriter(path, mode string, busy time.Duration) (*conn, error) {
	// fdatasync is as durable as the driver's default, fsync, which waits for
	// the file's time stamps as well; it is twice as fast on ext4. Where there
	// is none, the default stays.
	if _, err := sqlite.Fdatasync(true); err != nil && !errors.Is(err, sqlite.ErrFdatasyncUnavailable) {
		return nil, fmt.Errorf("choose fdatasync: %w", err)
	}
	name, err := dsn(path, mode, busyPragma(busy)+writerPragmas)
	if err != nil {
		return nil, err
	}
	c, err := connect(name)
	if err != nil {
		return nil, openFault(err)
	}
	return c, nil
}

func create(path string, busy time.Duration) error {
	// SQLite would take such a log for the new database's and damage it.
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return fault.New(fault.Journal, "the journal is missing, but not its write-ahead log "+path+"-wal",
			"put journal.db back where it was, or move the log aside as well")
	}
	draft := path + ".new"
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(draft + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return openFault(err)
		}
	}
	c, err := connectWriter(draft, "rwc", busy)
	if err != nil {
		return err
	}
	err = c.script(fmt.Sprintf("PRAGMA application_id=%d; PRAGMA journal_mode=WAL", applicationID))
	if err == nil {
		err = migrate(c)
	}
	if err := errors.Join(err, c.close()); err != nil {
		return openFault(err)
	}
	if err := os.Chmod(draft, 0o600); err != nil {
		return openFault(err)
	}
	if err := os.Rename(draft, path); err != nil {
		return openFault(err)
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // which has no such thing
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // the home is the operator's
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

func newestMigration() (int, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return 0, fmt.Errorf("list migrations: %w", err)
	}
	return len(files), nil
}

// migrate applies the migrations that the database lacks, in one transaction.
func migrate(c *conn) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return fmt.Errorf("list migrations: %w", err)
	}
	var row [1]driver.Value
	if _, err := c.row(row[:], "PRAGMA user_version"); err != nil {
		return openFault(err)
	}
	have := int(integer(row[0]))
	if have >= len(files) {
		return nil
	}
	if err := c.script("BEGIN IMMEDIATE"); err != nil {
		return openFault(err)
	}
	for i, file := range files[have:] {
		script, err := migrations.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read migration: %w", err)
		}
		if err := c.script(string(script) + fmt.Sprintf(";PRAGMA user_version=%d", have+i+1)); err != nil {
			return openFault(fmt.Errorf("apply %s: %w", file, errors.Join(err, c.script("ROLLBACK"))))
		}
	}
	failpoint.Hit(StepMigrate.before())
	if err := c.script("COMMIT"); err != nil {
		return openFault(err)
	}
	failpoint.Hit(StepMigrate.after())
	return nil
}
