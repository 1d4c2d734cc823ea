package journal

import (
	"context"

	"github.com/zchost/zchost/abi"
)

// Past is an earlier turn as the model gets to see it.
type Past struct {
	// User and Assistant are the parts of the two messages; Assistant is empty
	// if the turn kept none (MRK-2).
	User, Assistant []abi.Part
	// Marker is the marker that the turn ended with; may be empty.
	Marker string
}

// Past returns the ended turns of t's session before t, the oldest first, at
// most the last limit (default and most 50,000). Turns that wait behind t are
// not among them, whenever their messages came.
func (r *Reader) Past(ctx context.Context, t Turn, limit int) ([]Past, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT user, assistant, marker FROM (
			SELECT t.seq, t.marker,
				coalesce((SELECT parts FROM messages WHERE turn = t.id AND role = 'user' ORDER BY id LIMIT 1), '[]') AS user,
				coalesce((SELECT parts FROM messages WHERE turn = t.id AND role = 'assistant' ORDER BY id DESC LIMIT 1), '[]') AS assistant
			FROM turns t WHERE t.session = ?1 AND t.seq < ?2 ORDER BY t.seq DESC LIMIT ?3)
		ORDER BY seq`, t.SessionID, t.Seq, atMost(limit, 50_000))
	return collect("history", rows, err, func(scan func(...any) error) (p Past, err error) {
		var user, assistant string
		if err := scan(&user, &assistant, &p.Marker); err != nil {
			return p, err
		}
		if p.User, err = decodeParts(user); err != nil {
			return p, err
		}
		p.Assistant, err = decodeParts(assistant)
		return p, err
	})
}
