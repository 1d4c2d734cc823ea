package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/zchost/zchost/host/fault"
)

// smallSize is up to which size, in bytes, a database is always read whole at
// start: that takes some 10 ms. Reading takes 3 ms a MiB.
const smallSize = 4 << 20

// Check reads the whole journal at path and says what is wrong with it, as a
// fault. It changes nothing, needs no lock, and finds nothing wrong with a
// journal that is not there yet.
func Check(ctx context.Context, path string) error {
	return check(ctx, path, stamp{}, 10*time.Second)
}

// check looks at an existing database without changing it (BOT-3): that it is
// whole, that it is a journal, and that this version knows its schema. A large
// one that nobody has touched since it was closed cleanly is not read again.
func check(ctx context.Context, path string, sound stamp, busy time.Duration) error {
	there, err := exists(path)
	if err != nil || !there {
		return err
	}
	now, err := stampOf(path)
	if err != nil {
		return openFault(err)
	}
	name, err := dsn(path, "ro", busyPragma(busy))
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return fmt.Errorf("check journal: %w", err)
	}
	_, err = checkSchema(ctx, db)
	if err == nil && (now != sound || now.Size <= smallSize) {
		err = quickCheck(ctx, db)
	}
	return errors.Join(err, db.Close())
}

func quickCheck(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return openFault(err)
	}
	if verdict != "ok" {
		return fault.Wrap(errors.New(verdict), fault.Journal, "the journal is damaged", damagedHint)
	}
	return nil
}

// checkSchema refuses a database that is none of ours or newer than we are, and
// returns the number of its last migration.
func checkSchema(ctx context.Context, db *sql.DB) (version int, err error) {
	var id int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return 0, openFault(err)
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, openFault(err)
	}
	newest, err := newestMigration()
	switch {
	case err != nil:
		return 0, err
	case id != applicationID:
		return 0, fault.New(fault.Journal, "the database is not a journal of zchost",
			"it may be damaged or another program's; move it aside or name another home")
	case version > newest:
		return 0, fault.New(fault.Journal,
			fmt.Sprintf("the journal is from a newer zchost: its schema is %d, this version knows %d", version, newest),
			"use that version or a newer one; nothing was changed")
	}
	return version, nil
}
