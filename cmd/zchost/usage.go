package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zchost/zchost/host/cost"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
)

// usageCmd adds up the ledger.
type usageCmd struct {
	By    string `help:"What to add up by (day, provider, model, session or turn)." enum:"day,provider,model,session,turn" default:"day"`
	Since string `help:"Only attempts from this day on, as 2006-01-02." placeholder:"DAY"`
	Until string `help:"Only attempts before this day." placeholder:"DAY"`
	JSON  bool   `name:"json" xor:"format" help:"Print JSON."`
	CSV   bool   `name:"csv" xor:"format" help:"Print CSV."`
}

// usageJSON is a row as `usage --json` prints it. A sum that is null is
// unknown, which is not zero.
type usageJSON struct {
	Key      string `json:"key"`
	Attempts int64  `json:"attempts"`
	// Unknown, Partial and Unpriced attempts are missing in sums: all, those
	// of input or output, and those of the prices. Estimated ones are in them.
	Unknown    int64  `json:"unknown"`
	Partial    int64  `json:"partial"`
	Estimated  int64  `json:"estimated"`
	Unpriced   int64  `json:"unpriced"`
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Reasoning  *int64 `json:"reasoning"`
	// Prices are exact decimal numbers, one for each currency.
	Prices []priceJSON `json:"prices"`
}

// priceJSON is an amount of money.
type priceJSON struct {
	Amount   string `json:"amount"`
	Currency string `json:"currency"`
}

func usageOf(u journal.UsageRow) usageJSON {
	row := usageJSON{
		Key: u.Key, Attempts: u.Attempts, Unknown: u.Unknown, Partial: u.Partial, Estimated: u.Estimated, Unpriced: u.Unpriced,
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		Prices: []priceJSON{},
	}
	for _, p := range u.Prices {
		row.Prices = append(row.Prices, priceJSON{cost.Amount(p.Amount).String(), p.Currency})
	}
	return row
}

// Run prints the sums.
func (c usageCmd) Run(ctx context.Context, a *app) error {
	q := journal.UsageQuery{By: journal.UsageBy(c.By)}
	for _, day := range []struct {
		flag, text string
		to         *time.Time
	}{{"--since", c.Since, &q.Since}, {"--until", c.Until, &q.Until}} {
		if day.text == "" {
			continue
		}
		t, err := time.ParseInLocation(time.DateOnly, day.text, time.Local)
		if err != nil {
			return fault.New(fault.Usage, fmt.Sprintf("%s: %q is not a day", day.flag, day.text), "write it as "+time.DateOnly)
		}
		*day.to = t
	}
	return a.withJournal(ctx, func() error { return c.print(a, nil) }, func(r *journal.Reader) error {
		rows, err := r.Usage(ctx, q)
		if err != nil {
			return err
		}
		if err := c.print(a, rows); err != nil || c.JSON || c.CSV {
			return err
		}
		return printBudgets(ctx, a, r, time.Now())
	})
}

// printBudgets says what is spent of the budgets (CST-5). A broken config has
// none.
func printBudgets(ctx context.Context, a *app, r *journal.Reader, now time.Time) error {
	cfg, err := a.loadConfig()
	if err != nil {
		return nil //nolint:nilerr // `config check` tells it; the ledger can be read all the same
	}
	for _, b := range []struct {
		name  string
		limit *cost.Amount
		since time.Time
	}{
		{cost.MaxPerDay, cfg.Budgets().PerDay, cost.DayStart(now, time.Local)},
		{cost.MaxPerMonth, cfg.Budgets().PerMonth, cost.MonthStart(now, time.Local)},
	} {
		if b.limit == nil {
			continue
		}
		spent, err := r.Spent(ctx, journal.SpentQuery{Since: b.since, Currency: cfg.Currency()})
		if err != nil {
			return err
		}
		if err := a.screen.Note(fmt.Sprintf("%s: %s of %s are spent", b.name, cost.Amount(spent.Price), b.limit.In(cfg.Currency()))); err != nil {
			return err
		}
	}
	return nil
}

func (c usageCmd) print(a *app, rows []journal.UsageRow) error {
	switch {
	case c.JSON:
		list := make([]usageJSON, len(rows))
		for i, u := range rows {
			list[i] = usageOf(u)
		}
		return a.printJSON(list)
	case c.CSV:
		return c.printCSV(a, rows)
	case len(rows) == 0:
		return a.screen.Note("there is no usage")
	}
	return c.printTable(a, rows)
}

// printCSV prints a row for each key, and for each further currency a row with
// the price alone: a column holds one currency's amounts only if there is one.
func (c usageCmd) printCSV(a *app, rows []journal.UsageRow) error {
	w := csv.NewWriter(a.screen.Out)
	if err := w.Write([]string{
		c.By, "attempts", "unknown", "input", "output", "cache_read", "cache_write", "reasoning", "price", "currency", "unpriced",
	}); err != nil {
		return fmt.Errorf("write usage: %w", err)
	}
	for _, u := range rows {
		if err := w.WriteAll(csvRows(u)); err != nil {
			return fmt.Errorf("write usage: %w", err)
		}
	}
	w.Flush()
	return w.Error()
}

// csvRows are the rows of a sum; all but the first hold one more price.
func csvRows(u journal.UsageRow) [][]string {
	list := [][]string{append([]string{inert(u.Key)}, cells(u, "")...)}
	for i, p := range u.Prices {
		if i > 0 {
			list = append(list, append([]string{inert(u.Key)}, make([]string, 7)...))
		}
		list[i] = append(list[i], cost.Amount(p.Amount).String(), p.Currency)
	}
	if len(u.Prices) == 0 {
		list[0] = append(list[0], "", "")
	}
	list[0] = append(list[0], strconv.FormatInt(u.Unpriced, 10))
	for i := range list[1:] {
		list[i+1] = append(list[i+1], "")
	}
	return list
}

// inert keeps a spreadsheet from taking a session's key for a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func (c usageCmd) printTable(a *app, rows []journal.UsageRow) error {
	table := terminal.NewTable(strings.ToUpper(c.By), ">ATTEMPTS", ">UNKNOWN", ">INPUT", ">OUTPUT", ">CACHE READ", ">CACHE WRITE", ">REASONING", ">PRICE", ">UNPRICED")
	var lacks lacking
	for _, u := range rows {
		row := append([]string{terminal.Shorten(u.Key, 40)}, cells(u, "-")...)
		table.Add(append(row, prices(u.Prices), strconv.FormatInt(u.Unpriced, 10))...)
		lacks.add(u)
	}
	if err := table.Write(a.screen); err != nil {
		return err
	}
	for _, note := range lacks.notes() {
		if err := a.screen.Note(note); err != nil {
			return err
		}
	}
	return nil
}

// prices writes sums for a person.
func prices(list []journal.Price) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = cost.Amount(p.Amount).In(p.Currency)
	}
	return cmp.Or(strings.Join(texts, " + "), "-")
}

// lacking counts what the sums lack (CST-2, CST-3).
type lacking struct{ attempts, unknown, partial, estimated, unpriced int64 }

func (l *lacking) add(u journal.UsageRow) {
	l.attempts += u.Attempts
	l.unknown += u.Unknown
	l.partial += u.Partial
	l.estimated += u.Estimated
	l.unpriced += u.Unpriced
}

// notes says it below the sums.
func (l *lacking) notes() []string {
	var list []string
	for _, n := range []struct {
		count int64
		text  string
	}{
		{l.unknown, "the usage of %d of the %d attempts is unknown, and not in the sums"},
		{l.partial, "input or output of %d of the %d attempts is unknown, and not in the sums"},
		{l.estimated, "the usage of %d of the %d attempts is an estimate"},
		{l.unpriced, "%d of the %d attempts are unpriced, and not in the prices: their model has no rate in [cost.rates], or their usage is not known"},
	} {
		if n.count > 0 {
			list = append(list, fmt.Sprintf(n.text, n.count, l.attempts))
		}
	}
	return list
}

// cells are the numbers of a row; what is unknown is shown as given.
func cells(u journal.UsageRow, unknown string) []string {
	row := []string{strconv.FormatInt(u.Attempts, 10), strconv.FormatInt(u.Unknown, 10)}
	for _, n := range []*int64{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning} {
		if n == nil {
			row = append(row, unknown)
			continue
		}
		row = append(row, strconv.FormatInt(*n, 10))
	}
	return row
}
