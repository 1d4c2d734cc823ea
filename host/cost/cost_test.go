package cost_test

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/cost"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]cost.Amount{
		"0":           0,
		"3":           3 * cost.One,
		"3.00":        3 * cost.One,
		"0.075":       75_000_000,
		".5":          cost.One / 2,
		"007":         7 * cost.One,
		"0.000000001": 1,
		"1000000000":  1_000_000_000 * cost.One,
		"1.234567891": 1_234_567_891,
	} {
		if got, err := cost.Parse(text); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", ".", "1.", "-1", "+1", "1e3", "1_000", "1,5", "1.2.3", " 1", "1 ", "0x1", "٣", "NaN", "inf",
		"0.0000000001", "1000000001", "99999999999999999999",
	} {
		var wrong *cost.AmountError
		if got, err := cost.Parse(text); !errors.As(err, &wrong) {
			t.Errorf("%q: %d, %v, want an AmountError", text, got, err)
		}
	}
}

func TestAmountString(t *testing.T) {
	t.Parallel()
	for a, want := range map[cost.Amount]string{
		0:                      "0.00",
		1:                      "0.000000001",
		300:                    "0.0000003",
		cost.One / 2:           "0.50",
		2_345_000_000:          "2.345",
		12 * cost.One:          "12.00",
		-cost.One - 1:          "-1.000000001",
		cost.Amount(1<<63 - 1): "9223372036.854775807",
		math.MinInt64:          "-9223372036.854775808",
	} {
		if got := a.String(); got != want {
			t.Errorf("%d is %q, want %q", int64(a), got, want)
		}
	}
	if got := cost.One.In("USD"); got != "1.00 USD" {
		t.Errorf("%q", got)
	}
}

// What is written is what is read.
func TestAmountRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := cost.Amount(rapid.Int64Range(0, 1_000_000_000*int64(cost.One)).Draw(t, "amount"))
		got, err := cost.Parse(a.String())
		if err != nil || got != a {
			t.Fatalf("%d is written %q and read %d, %v", int64(a), a, got, err)
		}
	})
}

func amount(t testing.TB, text string) *cost.Amount {
	t.Helper()
	if text == "" {
		return nil
	}
	a, err := cost.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

func rate(t testing.TB, input, output, read, write, reasoning string) cost.Rate {
	t.Helper()
	return cost.Rate{
		Input: amount(t, input), Output: amount(t, output), CacheRead: amount(t, read), CacheWrite: amount(t, write),
		Reasoning: amount(t, reasoning),
	}
}

func n(v int64) *int64 { return &v }

// CST-3: cached tokens are part of the input and reasoning is part of the
// output; each has its own rate. CST-2: unknown is never zero.
func TestPrice(t *testing.T) {
	t.Parallel()
	full := rate(t, "3", "15", "0.30", "3.75", "20")
	plain := rate(t, "3", "15", "", "", "")
	for name, c := range map[string]struct {
		rate  cost.Rate
		usage abi.Usage
		want  string // "" is unpriced
	}{
		"input and output":          {full, abi.Usage{Input: n(1000), Output: n(100)}, "0.0045"},
		"a million each":            {full, abi.Usage{Input: n(1e6), Output: n(1e6)}, "18"},
		"cached input":              {full, abi.Usage{Input: n(1000), Output: n(0), CacheRead: n(600), CacheWrite: n(300)}, "0.001605"},
		"all of it cached":          {full, abi.Usage{Input: n(1000), Output: n(0), CacheRead: n(1000)}, "0.0003"},
		"reasoning":                 {full, abi.Usage{Input: n(0), Output: n(1000), Reasoning: n(400)}, "0.017"},
		"cached at the input rate":  {plain, abi.Usage{Input: n(1000), Output: n(0), CacheRead: n(600), CacheWrite: n(300)}, "0.003"},
		"reasoning at output rate":  {plain, abi.Usage{Input: n(0), Output: n(1000), Reasoning: n(400)}, "0.015"},
		"nothing used":              {full, abi.Usage{Input: n(0), Output: n(0)}, "0"},
		"nothing used, no rate":     {cost.Rate{}, abi.Usage{Input: n(0), Output: n(0)}, "0"},
		"free":                      {rate(t, "0", "0", "", "", ""), abi.Usage{Input: n(5000), Output: n(5000)}, "0"},
		"half a billionth":          {rate(t, "0.0005", "0", "", "", ""), abi.Usage{Input: n(1), Output: n(0)}, "0.000000001"},
		"less than half of one":     {rate(t, "0.000499999", "0", "", "", ""), abi.Usage{Input: n(1), Output: n(0)}, "0"},
		"rounded once, at the end":  {rate(t, "0.0003", "0.0003", "", "", ""), abi.Usage{Input: n(1), Output: n(1)}, "0.000000001"},
		"unknown usage":             {full, abi.Usage{}, ""},
		"unknown output":            {full, abi.Usage{Input: n(1000)}, ""},
		"unknown input":             {full, abi.Usage{Output: n(1000)}, ""},
		"no input rate":             {rate(t, "", "15", "", "", ""), abi.Usage{Input: n(1), Output: n(1)}, ""},
		"no input rate but cached":  {rate(t, "", "15", "0.3", "", ""), abi.Usage{Input: n(1000), Output: n(0), CacheRead: n(1000)}, "0.0003"},
		"no output rate":            {rate(t, "3", "", "", "", ""), abi.Usage{Input: n(1), Output: n(1)}, ""},
		"no output rate, no output": {rate(t, "3", "", "", "", ""), abi.Usage{Input: n(1000), Output: n(0)}, "0.003"},
		"more cached than input":    {full, abi.Usage{Input: n(10), Output: n(0), CacheRead: n(11)}, ""},
		"more reasoning than out":   {full, abi.Usage{Input: n(0), Output: n(10), Reasoning: n(11)}, ""},
		"negative":                  {full, abi.Usage{Input: n(-1), Output: n(1)}, ""},
		"negative cache":            {full, abi.Usage{Input: n(1), Output: n(1), CacheRead: n(-5)}, ""},
		"more money than there is":  {rate(t, "1000000000", "1", "", "", ""), abi.Usage{Input: n(1 << 62), Output: n(0)}, ""},
		"numbers at their ends":     {full, abi.Usage{Input: n(math.MinInt64), Output: n(1), CacheRead: n(math.MaxInt64)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := c.rate.Price(c.usage)
			if ok != (c.want != "") {
				t.Fatalf("priced: %v (%s), want %q", ok, got, c.want)
			}
			if ok && got != *amount(t, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// Splitting tokens off at the same rate changes nothing, and the price is that
// of an exact fraction.
func TestPriceIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tokens := rapid.Int64Range(0, 10_000_000)
		in, out := tokens.Draw(t, "input"), tokens.Draw(t, "output")
		perIn := cost.Amount(rapid.Int64Range(0, 1000*int64(cost.One)).Draw(t, "input rate"))
		perOut := cost.Amount(rapid.Int64Range(0, 1000*int64(cost.One)).Draw(t, "output rate"))
		r := cost.Rate{Input: &perIn, Output: &perOut}
		got, ok := r.Price(abi.Usage{Input: &in, Output: &out})
		read := rapid.Int64Range(0, in).Draw(t, "cached")
		thought := rapid.Int64Range(0, out).Draw(t, "reasoning")
		split, splitOK := r.Price(abi.Usage{Input: &in, Output: &out, CacheRead: &read, Reasoning: &thought})
		if !ok || !splitOK || got != split {
			t.Fatalf("%v %v whole, %v %v split", got, ok, split, splitOK)
		}
		exact := new(big.Rat).SetInt64(in)
		exact.Mul(exact, new(big.Rat).SetInt64(int64(perIn)))
		exact.Add(exact, new(big.Rat).Mul(new(big.Rat).SetInt64(out), new(big.Rat).SetInt64(int64(perOut))))
		exact.Quo(exact, new(big.Rat).SetInt64(1_000_000))
		off := new(big.Rat).Sub(exact, new(big.Rat).SetInt64(int64(got)))
		if off.Cmp(big.NewRat(1, 2)) >= 0 || off.Cmp(big.NewRat(-1, 2)) < 0 {
			t.Fatalf("%d is %s off", int64(got), off.FloatString(3))
		}
	})
}

func TestRates(t *testing.T) {
	t.Parallel()
	rates := cost.Rates{"home/org/model": rate(t, "1", "2", "", "", "")}
	u := abi.Usage{Input: n(1_000_000), Output: n(1_000_000)}
	if got, ok := rates.Price("home", "org/model", u); !ok || got != 3*cost.One {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := rates.Price("home", "other", u); ok {
		t.Error("a model without a rate has a price")
	}
}

// CST-5: a warning at 80 %, a refusal at 100 %.
func TestBudgets(t *testing.T) {
	t.Parallel()
	limits := cost.Budgets{PerTurn: amount(t, "1"), PerDay: amount(t, "10"), PerMonth: amount(t, "100")}
	spent := func(turn, day, month string) cost.Spending {
		return cost.Spending{Turn: *amount(t, turn), Day: *amount(t, day), Month: *amount(t, month)}
	}
	for name, c := range map[string]struct {
		budgets cost.Budgets
		spent   cost.Spending
		want    cost.Verdict
	}{
		"no budgets": {cost.Budgets{}, spent("1000000", "1000000", "1000000"), cost.Verdict{Allow: true}},
		"little":     {limits, spent("0.1", "1", "10"), cost.Verdict{Allow: true}},
		"just under 80 %": {limits, spent("0.799999999", "7.999999999", "79.999999999"),
			cost.Verdict{Allow: true}},
		"80 % of a day": {limits, spent("0.1", "8", "10"),
			cost.Verdict{Allow: true, Warn: true, Which: cost.MaxPerDay, Spent: 8 * cost.One, Limit: 10 * cost.One}},
		"just under the limit": {limits, spent("0.999999999", "1", "10"),
			cost.Verdict{Allow: true, Warn: true, Which: cost.MaxPerTurn, Spent: cost.One - 1, Limit: cost.One}},
		"a turn's limit": {limits, spent("1", "1", "10"), cost.Verdict{Which: cost.MaxPerTurn, Spent: cost.One, Limit: cost.One}},
		"a month's limit, a day's warning": {limits, spent("0", "9", "100"),
			cost.Verdict{Which: cost.MaxPerMonth, Spent: 100 * cost.One, Limit: 100 * cost.One}},
		"all limits": {limits, spent("2", "20", "200"), cost.Verdict{Which: cost.MaxPerTurn, Spent: 2 * cost.One, Limit: cost.One}},
		"a limit of nothing": {cost.Budgets{PerDay: amount(t, "0")}, cost.Spending{},
			cost.Verdict{Which: cost.MaxPerDay}},
		"the smallest limit": {cost.Budgets{PerDay: amount(t, "0.000000001")}, cost.Spending{}, cost.Verdict{Allow: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, c.budgets.Check(c.spent)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if (cost.Budgets{}).Any() || !(cost.Budgets{PerMonth: amount(t, "1")}).Any() {
		t.Error("Any is wrong")
	}
}

// Days and months are those of the person's time zone, also where clocks are
// put forward or back.
func TestPeriods(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, now, day, month string }{
		{"UTC", "2026-03-15T12:00:00Z", "2026-03-15T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"UTC", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"Asia/Jakarta", "2026-03-31T17:30:00Z", "2026-03-31T17:00:00Z", "2026-03-31T17:00:00Z"},
		{"America/New_York", "2026-03-08T20:00:00Z", "2026-03-08T05:00:00Z", "2026-03-01T05:00:00Z"},
		{"Europe/Berlin", "2026-10-25T22:59:59Z", "2026-10-24T22:00:00Z", "2026-09-30T22:00:00Z"},
		// The clocks of Cairo were put forward at midnight: the day began at 1:00.
		{"Africa/Cairo", "2026-04-24T10:00:00Z", "2026-04-23T22:00:00Z", "2026-03-31T22:00:00Z"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Skip("no time zones:", err)
		}
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		if got := cost.DayStart(now, zone).UTC().Format(time.RFC3339); got != c.day {
			t.Errorf("the day of %s in %s began at %s, want %s", c.now, c.zone, got, c.day)
		}
		if got := cost.MonthStart(now, zone).UTC().Format(time.RFC3339); got != c.month {
			t.Errorf("the month of %s in %s began at %s, want %s", c.now, c.zone, got, c.month)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "0.5", ".000000001", "1e9", "-0", "1.", "1000000000.000000000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := cost.Parse(text)
		if err != nil {
			return
		}
		again, err := cost.Parse(a.String())
		if err != nil || again != a || a < 0 {
			t.Fatalf("%q is %d, and %q is %d, %v", text, int64(a), a.String(), int64(again), err)
		}
	})
}
