package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

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
	Key        string `json:"key"`
	Attempts   int64  `json:"attempts"`
	Unknown    int64  `json:"unknown"`
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
	Reasoning  *int64 `json:"reasoning"`
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
		return c.print(a, rows)
	})
}

func (c usageCmd) print(a *app, rows []journal.UsageRow) error {
	switch {
	case c.JSON:
		list := make([]usageJSON, len(rows))
		for i, u := range rows {
			list[i] = usageJSON{
				Key: u.Key, Attempts: u.Attempts, Unknown: u.Unknown,
				Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
			}
		}
		return a.printJSON(list)
	case c.CSV:
		return c.printCSV(a, rows)
	case len(rows) == 0:
		return a.screen.Note("there is no usage")
	}
	return c.printTable(a, rows)
}

func (c usageCmd) printCSV(a *app, rows []journal.UsageRow) error {
	w := csv.NewWriter(a.screen.Out)
	if err := w.Write([]string{c.By, "attempts", "unknown", "input", "output", "cache_read", "cache_write", "reasoning"}); err != nil {
		return fmt.Errorf("write usage: %w", err)
	}
	for _, u := range rows {
		if err := w.Write(append([]string{inert(u.Key)}, cells(u, "")...)); err != nil {
			return fmt.Errorf("write usage: %w", err)
		}
	}
	w.Flush()
	return w.Error()
}

// inert keeps a spreadsheet from taking a session's key for a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func (c usageCmd) printTable(a *app, rows []journal.UsageRow) error {
	table := terminal.NewTable(strings.ToUpper(c.By), ">ATTEMPTS", ">UNKNOWN", ">INPUT", ">OUTPUT", ">CACHE READ", ">CACHE WRITE", ">REASONING")
	unknown := int64(0)
	for _, u := range rows {
		table.Add(append([]string{terminal.Shorten(u.Key, 40)}, cells(u, "-")...)...)
		unknown += u.Unknown
	}
	if err := table.Write(a.screen); err != nil {
		return err
	}
	if unknown == 0 {
		return nil
	}
	return a.screen.Note(fmt.Sprintf("the usage of %d of the attempts is unknown, and not in the sums", unknown))
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
