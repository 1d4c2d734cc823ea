package journal

import (
	"context"
	"time"
)

// SpentQuery says of which attempts the price is asked for. Zero fields do not
// restrict.
type SpentQuery struct {
	// Turn is a turn's id.
	Turn string
	// Since is when an attempt started at the earliest.
	Since time.Time
	// Currency is the currency that is summed.
	Currency string
}

// Spent sums prices.
type Spent struct {
	// Price is the sum, in billionths of the currency.
	Price int64
	// Attempts counts the requests, Unpriced those of them without a price in
	// this currency: they are missing in the sum.
	Attempts, Unpriced int64
}

// Spent sums what attempts cost (CST-3).
func (r *Reader) Spent(ctx context.Context, q SpentQuery) (Spent, error) {
	var s Spent
	err := r.db.QueryRowContext(ctx, `
		SELECT coalesce(sum(CASE WHEN currency = ?3 THEN price END), 0), count(*),
			coalesce(sum(price IS NULL OR currency <> ?3), 0)
		FROM attempts
		WHERE (?1 = '' OR turn = ?1) AND (?2 IS NULL OR started >= ?2)`,
		q.Turn, bound(q.Since), q.Currency).Scan(&s.Price, &s.Attempts, &s.Unpriced)
	if err != nil {
		return Spent{}, readError("prices", err)
	}
	return s, nil
}
