package host

import (
	"context"
	"fmt"
	"time"

	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/cost"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
)

// till says what a request costs (CST-3) and whether another one may be sent
// (CST-5).
type till struct {
	rates    cost.Rates
	budgets  cost.Budgets
	currency string
	journal  *journal.Journal // set before the first turn
}

func newTill(c config.Config) *till {
	return &till{rates: c.Rates(), budgets: c.Budgets(), currency: c.Currency()}
}

// price fills in what an attempt cost; without a rate it stays unpriced.
func (t *till) price(a *journal.Attempt) {
	if p, ok := t.rates.Price(a.Provider, a.Model, a.Usage); ok {
		n := int64(p)
		a.Price, a.Currency = &n, t.currency
	}
}

// budget compares what was spent with what may be. Requests that are under way
// count when they are settled, so several turns at once may pass a limit by
// what each is spending.
func (t *till) budget(ctx context.Context, turn string) (warning string, err error) {
	if !t.budgets.Any() {
		return "", nil
	}
	spent, err := t.spent(ctx, turn)
	if err != nil {
		return "", err
	}
	v := t.budgets.Check(spent)
	switch {
	case !v.Allow:
		return "", &reliability.BudgetError{Budget: v.Which, Spent: v.Spent.In(t.currency), Limit: v.Limit.In(t.currency)}
	case v.Warn:
		return fmt.Sprintf("%s of the budget %s = %s are spent", v.Spent.In(t.currency), v.Which, v.Limit.In(t.currency)), nil
	}
	return "", nil
}

func (t *till) spent(ctx context.Context, turn string) (cost.Spending, error) {
	now := time.Now()
	var s cost.Spending
	for _, q := range []struct {
		to    *cost.Amount
		asked bool
		query journal.SpentQuery
	}{
		{&s.Turn, t.budgets.PerTurn != nil, journal.SpentQuery{Turn: turn}},
		{&s.Day, t.budgets.PerDay != nil, journal.SpentQuery{Since: cost.DayStart(now, time.Local)}},
		{&s.Month, t.budgets.PerMonth != nil, journal.SpentQuery{Since: cost.MonthStart(now, time.Local)}},
	} {
		if !q.asked {
			continue
		}
		q.query.Currency = t.currency
		sum, err := t.journal.Spent(ctx, q.query)
		if err != nil {
			return s, fmt.Errorf("sum what was spent: %w", err)
		}
		*q.to = cost.Amount(sum.Price)
	}
	return s, nil
}
