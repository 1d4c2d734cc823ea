package journal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// UsageBy is what usage is summed by.
type UsageBy string

// What usage can be summed by.
const (
	ByDay      UsageBy = "day"
	ByProvider UsageBy = "provider"
	ByModel    UsageBy = "model"
	BySession  UsageBy = "session"
	ByTurn     UsageBy = "turn"
)

// UsageQuery says which usage is asked for.
type UsageQuery struct {
	// By is what to sum by.
	By UsageBy
	// Since and Until bound when an attempt started: not before Since, before
	// Until. Zero is no bound.
	Since, Until time.Time
	// Zone decides where a day begins; default time.Local.
	Zone *time.Location
}

// UsageRow sums the attempts of a day, a provider and so on.
type UsageRow struct {
	// Key is the day as 2006-01-02, the provider, "provider/model", the
	// session's key or the turn's id.
	Key string
	// Attempts counts the requests, Unknown those of them whose usage is not
	// known at all and so is missing in the sums. Partial counts those of which
	// either the input or the output is not known, Estimated those whose
	// numbers are the host's own estimate (CST-2).
	Attempts, Unknown, Partial, Estimated int64
	// The sums of what is known; nil if no attempt knows it (CST-2).
	Input, Output, CacheRead, CacheWrite, Reasoning *int64
	// Unpriced counts the requests without a price; they are missing in Prices
	// (CST-3).
	Unpriced int64
	// Prices are the sums of the prices, one for each currency, in the order of
	// their names; none if no attempt has a price.
	Prices []Price
}

// Price is an amount of money.
type Price struct {
	// Amount is in billionths of Currency.
	Amount   int64
	Currency string
}

// slot is the length of time by which the database sums for ByDay, in
// milliseconds: every zone's day begins at a multiple of it.
const slot = 15 * 60 * 1000

func (by UsageBy) column() (string, error) {
	switch by {
	case ByDay:
		return fmt.Sprintf("a.started / %d", slot), nil
	case ByProvider:
		return "a.provider", nil
	case ByModel:
		return "a.provider || '/' || a.model", nil
	case BySession:
		return "(SELECT s.key FROM turns t JOIN sessions s ON s.id = t.session WHERE t.id = a.turn)", nil
	case ByTurn:
		return "a.turn", nil
	}
	return "", fmt.Errorf("sum usage by %q: there is no such sum", by)
}

// Usage sums the ledger, sorted by key.
func (r *Reader) Usage(ctx context.Context, q UsageQuery) ([]UsageRow, error) {
	column, err := q.By.column()
	if err != nil {
		return nil, err
	}
	since, until := q.between()
	//nolint:gosec // column is one of the constants above
	rows, err := r.db.QueryContext(ctx, `
		SELECT `+column+` AS key, a.price IS NOT NULL AS priced, CASE WHEN a.price IS NULL THEN '' ELSE a.currency END AS money,
			count(*), sum(coalesce(a.input, a.output, a.cache_read, a.cache_write, a.reasoning) IS NULL),
			sum((a.input IS NULL OR a.output IS NULL)
				AND coalesce(a.input, a.output, a.cache_read, a.cache_write, a.reasoning) IS NOT NULL),
			sum(a.usage_source = 'estimated'),
			sum(a.input), sum(a.output), sum(a.cache_read), sum(a.cache_write), sum(a.reasoning), coalesce(sum(a.price), 0)
		FROM attempts a
		WHERE a.started >= ?1 AND a.started < ?2
		GROUP BY key, priced, money ORDER BY key, money`, since, until)
	zone := cmp.Or(q.Zone, time.Local)
	parts, err := collect("usage", rows, err, func(scan func(...any) error) (UsageRow, error) {
		if q.By != ByDay {
			var u UsageRow
			return u, scanUsage(scan, &u.Key, &u)
		}
		var u UsageRow
		var n int64
		err := scanUsage(scan, &n, &u)
		u.Key = time.UnixMilli(n * slot).In(zone).Format(time.DateOnly)
		return u, err
	})
	return merge(parts), err
}

// between gives the bounds as Unix milliseconds, the widest for none.
func (q *UsageQuery) between() (since, until int64) {
	since, until = 0, 1<<62
	if !q.Since.IsZero() {
		since = q.Since.UnixMilli()
	}
	if !q.Until.IsZero() {
		until = q.Until.UnixMilli()
	}
	return since, until
}

func scanUsage(scan func(...any) error, key any, u *UsageRow) error {
	var priced bool
	var p Price
	err := scan(key, &priced, &p.Currency, &u.Attempts, &u.Unknown, &u.Partial, &u.Estimated,
		&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &p.Amount)
	if priced {
		u.Prices = []Price{p}
	} else {
		u.Unpriced = u.Attempts
	}
	return err
}

// merge adds up rows of the same key.
func merge(parts []UsageRow) []UsageRow {
	slices.SortStableFunc(parts, func(a, b UsageRow) int { return cmp.Compare(a.Key, b.Key) })
	var sums []UsageRow
	for _, p := range parts {
		if n := len(sums); n > 0 && sums[n-1].Key == p.Key {
			sums[n-1].add(p)
			continue
		}
		sums = append(sums, p)
	}
	return sums
}

func (u *UsageRow) add(v UsageRow) {
	u.Attempts += v.Attempts
	u.Unknown += v.Unknown
	u.Partial += v.Partial
	u.Estimated += v.Estimated
	u.Unpriced += v.Unpriced
	for _, p := range v.Prices {
		u.addPrice(p)
	}
	for _, f := range []struct{ to, from **int64 }{
		{&u.Input, &v.Input},
		{&u.Output, &v.Output},
		{&u.CacheRead, &v.CacheRead},
		{&u.CacheWrite, &v.CacheWrite},
		{&u.Reasoning, &v.Reasoning},
	} {
		if *f.from == nil {
			continue
		}
		if *f.to == nil {
			*f.to = new(int64)
		}
		**f.to += **f.from
	}
}

func (u *UsageRow) addPrice(p Price) {
	i, known := slices.BinarySearchFunc(u.Prices, p, func(a, b Price) int { return cmp.Compare(a.Currency, b.Currency) })
	if known {
		u.Prices[i].Amount += p.Amount
		return
	}
	u.Prices = slices.Insert(u.Prices, i, p)
}
