package journal_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

func attempt(tb testing.TB, j *journal.Journal, turn string) (id int64) {
	tb.Helper()
	err := j.Write(tb.Context(), journal.StepAttempt, func(tx *journal.Tx) (err error) {
		id, err = tx.InsertAttempt(journal.Attempt{Turn: turn, Iteration: 1, Number: 1, Provider: "p", Model: "m"})
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

func settle(ctx context.Context, j *journal.Journal, a journal.Attempt) error {
	return j.Write(ctx, journal.StepSettle, func(tx *journal.Tx) error { return tx.SettleAttempt(a) })
}

// TestAttempt checks CST-1 and CST-2: the row is there before the request, is
// unknown until settled, once, and what is unknown is never zero.
func TestAttempt(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	start := time.UnixMilli(1_700_000_000_000)
	want := journal.Attempt{
		Turn: turn.ID, Iteration: 1, Number: 2, Profile: "main", Provider: "openai", Model: "m", Fingerprint: "f",
		Streaming: true, KeyLabel: "env:KEY", Started: start, Wait: 1500 * time.Millisecond,
	}
	if err := j.Write(t.Context(), journal.StepAttempt, func(tx *journal.Tx) (err error) {
		want.ID, err = tx.InsertAttempt(want)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want.Outcome, want.UsageSource = journal.OutcomeUnknown, journal.UsageUnknown
	checkAttempts(t, j, want)

	want.Served, want.Ended, want.Outcome, want.Status = "m-2", start.Add(time.Second), string(abi.FailureServer), 502
	want.Code, want.Message, want.RequestID, want.Warning = "c", "no free slot", "req_1", "w"
	want.Usage, want.UsageSource = abi.Usage{Input: new(int64(31)), Output: new(int64(0))}, journal.UsageReported
	if err := settle(t.Context(), j, want); err != nil {
		t.Fatal(err)
	}
	checkAttempts(t, j, want)

	if err := settle(t.Context(), j, want); !errors.Is(err, journal.ErrSettled) {
		t.Errorf("settled again: %v", err)
	}
	if err := settle(t.Context(), j, journal.Attempt{ID: 99}); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("settled nothing: %v", err)
	}
	if err := appendEvents(t.Context(), j, turn.ID, texts(1, want.ID, "hi")); err != nil {
		t.Fatal(err)
	}
	want.Visible = true
	checkAttempts(t, j, want)
}

func checkAttempts(t *testing.T, j *journal.Journal, want ...journal.Attempt) {
	t.Helper()
	got, err := j.Attempts(t.Context(), want[0].Turn)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSettleKeepsTimeInOrder checks C102: a clock that was set back does not
// make an attempt or a turn end before it began.
func TestSettleKeepsTimeInOrder(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	id := attempt(t, j, turn.ID)
	if err := settle(t.Context(), j, journal.Attempt{ID: id, Ended: time.Now().Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	got, err := j.Attempts(t.Context(), turn.ID)
	if err != nil || got[0].Ended.Before(got[0].Started) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := j.Exec(t.Context(), "UPDATE turns SET created = created + 3600000, started = started + 3600000"); err != nil {
		t.Fatal(err)
	}
	if err := finish(t.Context(), j, turn.ID, journal.Complete); err != nil {
		t.Fatal(err)
	}
	stored, err := j.Turn(t.Context(), turn.ID)
	if err != nil || stored.Ended.Before(stored.Started) {
		t.Errorf("%+v, %v", stored, err)
	}
}

// TestUsage checks the sums: unknown usage is counted and never zero (CST-2),
// and a day is a day of the zone that was asked for.
func TestUsage(t *testing.T) {
	t.Parallel()
	j := open(t)
	midnight := time.Date(2024, 3, 10, 0, 0, 0, 0, time.UTC)
	turns := []journal.Turn{admit(t, j, "one"), admit(t, j, "two")}
	for i, a := range []journal.Attempt{
		{Turn: turns[0].ID, Provider: "p", Model: "m", Started: midnight.Add(-time.Hour), Usage: abi.Usage{Input: new(int64(10)), Output: new(int64(1))}},
		{Turn: turns[0].ID, Provider: "p", Model: "n", Started: midnight.Add(time.Hour), Usage: abi.Usage{Input: new(int64(5))}},
		{Turn: turns[1].ID, Provider: "q", Model: "m", Started: midnight.Add(2 * time.Hour)},
	} {
		if err := j.Write(t.Context(), journal.StepAttempt, func(tx *journal.Tx) error {
			id, err := tx.InsertAttempt(a)
			if err != nil {
				return err
			}
			a.ID = id
			return tx.SettleAttempt(a)
		}); err != nil {
			t.Fatal(i, err)
		}
	}
	n := func(v int64) *int64 { return &v }
	west := time.FixedZone("west", -90*60)
	for name, c := range map[string]struct {
		query journal.UsageQuery
		want  []journal.UsageRow
	}{
		"day": {journal.UsageQuery{By: journal.ByDay, Zone: time.UTC}, []journal.UsageRow{
			{Key: "2024-03-09", Attempts: 1, Input: n(10), Output: n(1), Unpriced: 1},
			{Key: "2024-03-10", Attempts: 2, Unknown: 1, Partial: 1, Input: n(5), Unpriced: 2},
		}},
		"day in the west": {journal.UsageQuery{By: journal.ByDay, Zone: west}, []journal.UsageRow{
			{Key: "2024-03-09", Attempts: 2, Partial: 1, Input: n(15), Output: n(1), Unpriced: 2},
			{Key: "2024-03-10", Attempts: 1, Unknown: 1, Unpriced: 1},
		}},
		"provider": {journal.UsageQuery{By: journal.ByProvider}, []journal.UsageRow{
			{Key: "p", Attempts: 2, Partial: 1, Input: n(15), Output: n(1), Unpriced: 2},
			{Key: "q", Attempts: 1, Unknown: 1, Unpriced: 1},
		}},
		"model since": {journal.UsageQuery{By: journal.ByModel, Since: midnight}, []journal.UsageRow{
			{Key: "p/n", Attempts: 1, Partial: 1, Input: n(5), Unpriced: 1},
			{Key: "q/m", Attempts: 1, Unknown: 1, Unpriced: 1},
		}},
		"session until": {journal.UsageQuery{By: journal.BySession, Until: midnight.Add(time.Hour)}, []journal.UsageRow{
			{Key: "one", Attempts: 1, Input: n(10), Output: n(1), Unpriced: 1},
		}},
		"turn": {journal.UsageQuery{By: journal.ByTurn, Since: midnight.Add(2 * time.Hour)}, []journal.UsageRow{
			{Key: turns[1].ID, Attempts: 1, Unknown: 1, Unpriced: 1},
		}},
	} {
		got, err := j.Usage(t.Context(), c.query)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	if _, err := j.Usage(t.Context(), journal.UsageQuery{By: "moon"}); err == nil {
		t.Error("summed by the moon")
	}
}

// ledger stores settled attempts.
func ledger(t *testing.T, j *journal.Journal, list ...journal.Attempt) {
	t.Helper()
	for _, a := range list {
		must(t, j.Write(t.Context(), journal.StepAttempt, func(tx *journal.Tx) error {
			id, err := tx.InsertAttempt(a)
			if err != nil {
				return err
			}
			a.ID = id
			return tx.SettleAttempt(a)
		}))
	}
}

// TestPrices checks CST-3: a price is stored with the attempt, once, and the
// sums say how many attempts they lack. Currencies are never mixed.
func TestPrices(t *testing.T) {
	t.Parallel()
	j := open(t)
	noon := time.Date(2024, 3, 10, 12, 0, 0, 0, time.UTC)
	one, two := admit(t, j, "one"), admit(t, j, "two")
	all := abi.Usage{Input: new(int64(10)), Output: new(int64(1))}
	at := func(turn journal.Turn, when time.Time, model, currency string, price *int64) journal.Attempt {
		return journal.Attempt{Turn: turn.ID, Provider: "p", Model: model, Started: when, Usage: all, Price: price, Currency: currency}
	}
	ledger(t, j,
		at(one, noon, "m", "USD", new(int64(5_000_000_000_000_000))),
		at(one, noon.Add(time.Minute), "m", "USD", new(int64(1))),
		at(one, noon.Add(time.Hour), "m", "EUR", new(int64(7))),
		at(one, noon.Add(2*time.Hour), "m", "", nil),
		at(two, noon.Add(24*time.Hour), "n", "USD", new(int64(0))),
		journal.Attempt{Turn: two.ID, Provider: "p", Model: "n", Started: noon.Add(25 * time.Hour), UsageSource: journal.UsageEstimated,
			Usage: abi.Usage{Input: new(int64(4))}})
	must(t, j.Write(t.Context(), journal.StepAttempt, func(tx *journal.Tx) error { // one that is on its way
		_, err := tx.InsertAttempt(journal.Attempt{Turn: two.ID, Provider: "p", Model: "n", Started: noon.Add(26 * time.Hour)})
		return err
	}))
	n := func(v int64) *int64 { return &v }
	dear := []journal.Price{{Amount: 7, Currency: "EUR"}, {Amount: 5_000_000_000_000_001, Currency: "USD"}}
	free := []journal.Price{{Amount: 0, Currency: "USD"}}
	first := journal.UsageRow{Attempts: 4, Input: n(40), Output: n(4), Unpriced: 1, Prices: dear}
	second := journal.UsageRow{Attempts: 3, Unknown: 1, Partial: 1, Estimated: 1, Input: n(14), Output: n(1), Unpriced: 2, Prices: free}
	keyed := func(u journal.UsageRow, key string) journal.UsageRow { u.Key = key; return u }
	for name, c := range map[string]struct {
		query journal.UsageQuery
		want  []journal.UsageRow
	}{
		"day":     {journal.UsageQuery{By: journal.ByDay, Zone: time.UTC}, []journal.UsageRow{keyed(first, "2024-03-10"), keyed(second, "2024-03-11")}},
		"model":   {journal.UsageQuery{By: journal.ByModel}, []journal.UsageRow{keyed(first, "p/m"), keyed(second, "p/n")}},
		"session": {journal.UsageQuery{By: journal.BySession}, []journal.UsageRow{keyed(first, "one"), keyed(second, "two")}},
		"turn":    {journal.UsageQuery{By: journal.ByTurn}, []journal.UsageRow{keyed(first, one.ID), keyed(second, two.ID)}},
		"provider": {journal.UsageQuery{By: journal.ByProvider}, []journal.UsageRow{{
			Key: "p", Attempts: 7, Unknown: 1, Partial: 1, Estimated: 1, Input: n(54), Output: n(5), Unpriced: 3, Prices: dear,
		}}},
	} {
		got, err := j.Usage(t.Context(), c.query)
		must(t, err)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	for name, c := range map[string]struct {
		query journal.SpentQuery
		want  journal.Spent
	}{
		"all":      {journal.SpentQuery{Currency: "USD"}, journal.Spent{Price: 5_000_000_000_000_001, Attempts: 7, Unpriced: 4}},
		"turn":     {journal.SpentQuery{Turn: one.ID, Currency: "USD"}, journal.Spent{Price: 5_000_000_000_000_001, Attempts: 4, Unpriced: 2}},
		"since":    {journal.SpentQuery{Since: noon.Add(time.Minute), Currency: "EUR"}, journal.Spent{Price: 7, Attempts: 6, Unpriced: 5}},
		"both":     {journal.SpentQuery{Turn: one.ID, Since: noon.Add(time.Minute), Currency: "USD"}, journal.Spent{Price: 1, Attempts: 3, Unpriced: 2}},
		"free":     {journal.SpentQuery{Turn: two.ID, Currency: "USD"}, journal.Spent{Attempts: 3, Unpriced: 2}},
		"nothing":  {journal.SpentQuery{Since: noon.Add(240 * time.Hour), Currency: "USD"}, journal.Spent{}},
		"no turn":  {journal.SpentQuery{Turn: "t_none", Currency: "USD"}, journal.Spent{}},
		"no money": {journal.SpentQuery{Currency: "JPY"}, journal.Spent{Attempts: 7, Unpriced: 7}},
	} {
		got, err := j.Spent(t.Context(), c.query)
		must(t, err)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// TestNeverRepriced checks CST-3: a price stays as it was recorded.
func TestNeverRepriced(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	id := attempt(t, j, turn.ID)
	must(t, settle(t.Context(), j, journal.Attempt{ID: id, Price: new(int64(3)), Currency: "USD"}))
	if err := settle(t.Context(), j, journal.Attempt{ID: id, Price: new(int64(4)), Currency: "EUR"}); !errors.Is(err, journal.ErrSettled) {
		t.Errorf("%v", err)
	}
	got, err := j.Attempts(t.Context(), turn.ID)
	must(t, err)
	if a := got[0]; *a.Price != 3 || a.Currency != "USD" {
		t.Errorf("%d %s", *a.Price, a.Currency)
	}
}

// TestSpentReadsAnIndex checks that the sum that is asked for before each
// request does not read the ledger.
func TestSpentReadsAnIndex(t *testing.T) {
	t.Parallel()
	j := open(t)
	plan, err := j.Plan(t.Context(), journal.SpentSince)
	must(t, err)
	if len(plan) != 1 || plan[0] != "SEARCH attempts USING COVERING INDEX attempts_started (started>?)" {
		t.Errorf("since: %v", plan)
	}
	plan, err = j.Plan(t.Context(), journal.SpentOfTurn)
	must(t, err)
	if len(plan) != 1 || plan[0] != "SEARCH attempts USING INDEX attempts_turn (turn=?)" {
		t.Errorf("of a turn: %v", plan)
	}
}

// BenchmarkSpent sums the prices of a month with a hundred thousand requests.
func BenchmarkSpent(b *testing.B) {
	j := open(b)
	turn := admit(b, j, "s")
	must(b, j.Exec(b.Context(), `
		WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
		INSERT INTO attempts (turn, iteration, number, profile, provider, model, fingerprint, streaming, key_label, started, wait, price, currency)
		SELECT ?1, 1, i, '', 'p', 'm', '', 1, '', 1700000000000 + i, 0, 1000, 'USD' FROM n`, turn.ID))
	for b.Loop() {
		if s, err := j.Spent(b.Context(), journal.SpentQuery{Since: time.UnixMilli(1_700_000_000_000), Currency: "USD"}); err != nil || s.Price != 100_000_000 {
			b.Fatal(s, err)
		}
	}
}
