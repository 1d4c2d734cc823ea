package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/zchost/zchost/host/fault"
)

// check looks at an existing database without changing it (BOT-3): that it is
// whole, that it is a journal, and that this version knows its schema.
func check(ctx context.Context, path string) error {
	there, err := exists(path)
	if err != nil || !there {
		return err
	}
	name, err := dsn(path, "ro", "&_busy_timeout="+busyTimeout)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return fmt.Errorf("check journal: %w", err)
	}
	return errors.Join(checkOpen(ctx, db), db.Close())
}

func checkOpen(ctx context.Context, db *sql.DB) error {
	if err := checkSchema(ctx, db); err != nil {
		return err
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return openFault(err)
	}
	if verdict != "ok" {
		return fault.Wrap(errors.New(verdict), fault.Journal, "the journal is damaged", damagedHint)
	}
	return nil
}

// checkSchema refuses a database that is none of ours or newer than we are.
func checkSchema(ctx context.Context, db *sql.DB) error {
	var id, version int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return openFault(err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return openFault(err)
	}
	switch newest, err := newestMigration(); {
	case err != nil:
		return err
	case id != applicationID:
		return fault.New(fault.Journal, "the database is not a journal of zchost",
			"it may be damaged or another program's; move it aside or name another home")
	case version > newest:
		return fault.New(fault.Journal,
			fmt.Sprintf("the journal is from a newer zchost: its schema is %d, this version knows %d", version, newest),
			"use that version or a newer one; nothing was changed")
	}
	return nil
}
