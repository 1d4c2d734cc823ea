package cost

import "time"

// The names of the budgets, as the config has them.
const (
	MaxPerTurn  = "max_per_turn"
	MaxPerDay   = "max_per_day"
	MaxPerMonth = "max_per_month"
)

// Budgets are the most that may be spent. Nil is no limit; a limit of zero
// allows nothing.
type Budgets struct {
	PerTurn, PerDay, PerMonth *Amount
}

// Spending is what has been spent so far: of priced requests alone, so it is
// too low if there are unpriced ones.
type Spending struct {
	Turn, Day, Month Amount
}

// Verdict is what the budgets say about one more request (CST-5).
type Verdict struct {
	// Allow says that the request may be sent. Warn says that 80 % of a budget
	// are spent.
	Allow, Warn bool
	// Which is the budget that refuses or warns, Spent and Limit are its
	// amounts; empty if none does.
	Which        string
	Spent, Limit Amount
}

// Any reports whether there is a limit at all.
func (b Budgets) Any() bool { return b.PerTurn != nil || b.PerDay != nil || b.PerMonth != nil }

// Check says whether another request may be sent. A budget that refuses comes
// before one that warns; of several, the one for the shorter time is named.
func (b Budgets) Check(s Spending) Verdict {
	v := Verdict{Allow: true}
	for _, one := range []struct {
		name  string
		limit *Amount
		spent Amount
	}{
		{MaxPerTurn, b.PerTurn, s.Turn},
		{MaxPerDay, b.PerDay, s.Day},
		{MaxPerMonth, b.PerMonth, s.Month},
	} {
		if one.limit == nil {
			continue
		}
		limit := *one.limit
		switch {
		case one.spent >= limit:
			return Verdict{Which: one.name, Spent: one.spent, Limit: limit}
		case !v.Warn && one.spent >= limit-limit/5: // 80 %, rounded up
			v = Verdict{Allow: true, Warn: true, Which: one.name, Spent: one.spent, Limit: limit}
		}
	}
	return v
}

// DayStart returns when the day of now began in a time zone.
func DayStart(now time.Time, zone *time.Location) time.Time {
	year, month, day := now.In(zone).Date()
	return firstOf(year, month, day, zone)
}

// MonthStart returns when the month of now began in a time zone.
func MonthStart(now time.Time, zone *time.Location) time.Time {
	year, month, _ := now.In(zone).Date()
	return firstOf(year, month, 1, zone)
}

// firstOf returns the first moment of a day. Where the clocks are put forward
// at midnight, there is no 0:00, and time.Date gives the hour before it.
func firstOf(year int, month time.Month, day int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if t.Day() != day {
		_, end := t.ZoneBounds()
		return end
	}
	return t
}
