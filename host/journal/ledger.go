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
	// known at all and so is missing in the sums.
	Attempts, Unknown int64
	// The sums of what is known; nil if no attempt knows it (CST-2).
	Input, Output, CacheRead, CacheWrite, Reasoning *int64
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
	//nolint:gosec // column is one of the constants above
	rows, err := r.db.QueryContext(ctx, `
		SELECT `+column+` AS key, count(*),
			sum(coalesce(a.input, a.output, a.cache_read, a.cache_write, a.reasoning) IS NULL),
			sum(a.input), sum(a.output), sum(a.cache_read), sum(a.cache_write), sum(a.reasoning)
		FROM attempts a
		WHERE (?1 IS NULL OR a.started >= ?1) AND (?2 IS NULL OR a.started < ?2)
		GROUP BY key ORDER BY key`, bound(q.Since), bound(q.Until))
	if q.By != ByDay {
		return collect("usage", rows, err, func(scan func(...any) error) (UsageRow, error) {
			var u UsageRow
			return u, scanUsage(scan, &u.Key, &u)
		})
	}
	zone := cmp.Or(q.Zone, time.Local)
	slots, err := collect("usage", rows, err, func(scan func(...any) error) (UsageRow, error) {
		var u UsageRow
		var n int64
		err := scanUsage(scan, &n, &u)
		u.Key = time.UnixMilli(n * slot).In(zone).Format(time.DateOnly)
		return u, err
	})
	return mergeDays(slots), err
}

func scanUsage(scan func(...any) error, key any, u *UsageRow) error {
	return scan(key, &u.Attempts, &u.Unknown, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning)
}

// mergeDays adds up neighbours with the same day.
func mergeDays(slots []UsageRow) []UsageRow {
	var days []UsageRow
	for _, s := range slots {
		if n := len(days); n > 0 && days[n-1].Key == s.Key {
			days[n-1].add(s)
			continue
		}
		days = append(days, s)
	}
	slices.SortStableFunc(days, func(a, b UsageRow) int { return cmp.Compare(a.Key, b.Key) })
	return days
}

func (u *UsageRow) add(v UsageRow) {
	u.Attempts += v.Attempts
	u.Unknown += v.Unknown
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

func bound(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}
