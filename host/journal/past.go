package journal

import (
	"context"
	"strings"

	"github.com/zchost/zchost/abi"
)

// PastMessage is one message of an earlier turn.
type PastMessage struct {
	// Role is who it is from.
	Role abi.Role
	// Parts are its contents.
	Parts []abi.Part
	// Provider is the name of the provider that gave it; empty for what a
	// person or a tool said.
	Provider string
}

// Past is an earlier turn as the model gets to see it.
type Past struct {
	// Seq is the turn's place in its session.
	Seq int64
	// Messages are the person's message, the answers, and the results of
	// tools, in order; the last answer may be missing (MRK-2).
	Messages []PastMessage
	// Marker is the marker that the turn ended with; may be empty.
	Marker string
}

// Past returns the ended turns of t's session before t, the oldest first, at
// most the last limit (default and most 50,000): without those that were asked
// again, and without those that a summary stands for. Turns that wait behind t
// are not among them, whenever their messages came.
func (r *Reader) Past(ctx context.Context, t Turn, limit int) ([]Past, error) {
	rows, err := r.db.QueryContext(ctx, `
		WITH past AS (
			SELECT id, seq, marker FROM turns
			WHERE session = ?1 AND seq < ?2 AND hidden = 0
			AND seq > coalesce((SELECT max(upto) FROM summaries WHERE session = ?1 AND upto < ?2), 0)
			ORDER BY seq DESC LIMIT ?3)
		SELECT p.seq, p.marker, coalesce(m.role, ''), coalesce(m.parts, '[]'), coalesce(m.candidate, '')
		FROM past p LEFT JOIN messages m ON m.turn = p.id ORDER BY p.seq, m.id`, t.SessionID, t.Seq, atMost(limit, 50_000))
	type line struct {
		seq    int64
		marker string
		PastMessage
	}
	lines, err := collect("history", rows, err, func(scan func(...any) error) (l line, err error) {
		var parts, candidate string
		if err := scan(&l.seq, &l.marker, &l.Role, &parts, &candidate); err != nil {
			return l, err
		}
		l.Provider, _, _ = strings.Cut(candidate, "/")
		l.Parts, err = decodeParts(parts)
		return l, err
	})
	var all []Past
	for _, l := range lines {
		if n := len(all); n == 0 || all[n-1].Seq != l.seq {
			all = append(all, Past{Seq: l.seq, Marker: l.marker})
		}
		if l.Role != "" {
			p := &all[len(all)-1]
			p.Messages = append(p.Messages, l.PastMessage)
		}
	}
	return all, err
}
