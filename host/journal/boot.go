package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Boot is one start of the host.
type Boot struct {
	// ID is its number.
	ID int64
	// Started and Ended are when; Ended is zero if it did not end cleanly or
	// still runs.
	Started, Ended time.Time
	// Version is the host's version, PID the process.
	Version string
	PID     int64
}

// Boots returns the last starts, at most 1000, the newest first.
func (r *Reader) Boots(ctx context.Context) ([]Boot, error) {
	rows, err := r.db.QueryContext(ctx,
		"SELECT id, started, coalesce(ended, 0), version, pid FROM boots ORDER BY id DESC LIMIT 1000")
	return collect("boots", rows, err, func(scan func(...any) error) (Boot, error) {
		var b Boot
		var started, ended int64
		err := scan(&b.ID, &started, &ended, &b.Version, &b.PID)
		b.Started, b.Ended = milli(started), milli(ended)
		return b, err
	})
}

// Claim returns a turn's recovery claim; ErrNotFound if there is none.
func (r *Reader) Claim(ctx context.Context, turn string) (Claim, error) {
	var c Claim
	var plugins string
	err := r.db.QueryRowContext(ctx, `
		SELECT turn, boot, inbox, requester, conversation, thread, delivery_mode, delivery_id, plugins
		FROM claims WHERE turn = ?1`, turn).
		Scan(&c.Turn, &c.Boot, &c.Inbox, &c.Requester, &c.Conversation, &c.Thread, &c.DeliveryMode, &c.DeliveryID, &plugins)
	if err != nil {
		return Claim{}, readError("claim of "+turn, err)
	}
	if err := json.Unmarshal([]byte(plugins), &c.Plugins); err != nil {
		return Claim{}, fmt.Errorf("read claim of %s: %w", turn, err)
	}
	return c, nil
}
