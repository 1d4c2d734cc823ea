package journal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

func admit(tb testing.TB, j *journal.Journal, session string) journal.Turn {
	tb.Helper()
	turn, _, err := j.Admit(tb.Context(), journal.Admission{Session: session, Text: "question"})
	if err != nil {
		tb.Fatal(err)
	}
	return turn
}

// texts makes text events numbered from first.
func texts(first, attempt int64, list ...string) []journal.Event {
	events := make([]journal.Event, len(list))
	for i, s := range list {
		events[i] = journal.Event{
			N: first + int64(i), Attempt: attempt, At: time.UnixMilli(1_700_000_000_000), Type: abi.EventText, Text: s,
		}
	}
	return events
}

func appendEvents(ctx context.Context, j *journal.Journal, turn string, events []journal.Event) error {
	return j.Write(ctx, journal.StepDeltas, func(tx *journal.Tx) error { return tx.AppendEvents(turn, events) })
}

// TestEventsNeverChange checks SNK-1: the database refuses to change or delete
// an event, and lets it go only with its turn.
func TestEventsNeverChange(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	want := texts(1, 1, "a", "b", "c")
	if err := appendEvents(t.Context(), j, turn.ID, want); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		"UPDATE events SET text = 'x' WHERE n = 2",
		"UPDATE events SET n = n + 10",
		"DELETE FROM events WHERE n = 3",
		"DELETE FROM events",
		"INSERT OR REPLACE INTO events SELECT turn, n, attempt, at, type, 'x', data FROM events WHERE n = 2",
		"INSERT INTO events SELECT turn, n, attempt, at, type, 'x', data FROM events WHERE n = 2" +
			" ON CONFLICT DO UPDATE SET text = 'x'",
		"INSERT INTO events VALUES ('t_none', 1, 0, 0, 'text', '', '')",
	} {
		if err := j.Exec(t.Context(), sql); err == nil {
			t.Errorf("%s: allowed", sql)
		}
	}
	got, err := j.Events(t.Context(), turn.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if err := j.Health(); err != nil {
		t.Errorf("a refused statement counts as a broken journal: %v", err)
	}
	// Retention deletes whole turns.
	if err := j.Exec(t.Context(), "DELETE FROM turns WHERE id = ?1", turn.ID); err != nil {
		t.Fatal(err)
	}
	if got, err := j.Events(t.Context(), turn.ID, 0, 0); err != nil || len(got) != 0 {
		t.Errorf("left %v, %v", got, err)
	}
	for _, table := range []string{"inbox", "claims", "messages", "attempts"} {
		if err := j.Exec(t.Context(), "INSERT INTO boots SELECT NULL, 0, 0, 0, 0 FROM "+table+" WHERE turn = ?1", turn.ID); err != nil {
			t.Fatal(err)
		}
	}
	if boots, err := j.Boots(t.Context()); err != nil || len(boots) != 1 {
		t.Errorf("the turn left rows behind: %d, %v", len(boots)-1, err)
	}
}

// TestEventsHaveNoGaps checks SNK-1 where the numbers come in.
func TestEventsHaveNoGaps(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	for name, events := range map[string][]journal.Event{
		"begins at 0": texts(0, 1, "a"),
		"begins at 2": texts(2, 1, "a"),
		"gap inside":  append(texts(1, 1, "a"), texts(3, 1, "b")...),
		"twice":       append(texts(1, 1, "a"), texts(1, 1, "b")...),
	} {
		if err := appendEvents(t.Context(), j, turn.ID, events); !errors.Is(err, journal.ErrGap) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := appendEvents(t.Context(), j, turn.ID, texts(1, 1, "a", "b")); err != nil {
		t.Fatal(err)
	}
	if err := appendEvents(t.Context(), j, turn.ID, texts(2, 1, "b")); !errors.Is(err, journal.ErrGap) {
		t.Errorf("number 2 again: %v", err)
	}
	if got, err := j.Events(t.Context(), turn.ID, 0, 0); err != nil || len(got) != 2 {
		t.Errorf("stored %v, %v", got, err)
	}
}

// TestEventsKeepTheirBytes checks that text and data come back as they were,
// in groups of every size.
func TestEventsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	j := open(t)
	next := int64(1)
	turn := admit(t, j, "s")
	var all []journal.Event
	for size := 1; size <= 70; size += 3 {
		events := texts(next, 3, make([]string, size)...)
		for i := range events {
			events[i].Text = strings.Repeat("漢🚲\x00\n", i)
			if i%2 == 1 {
				events[i].Data = abi.Raw(`{"signature":"\u0000"}`)
			}
		}
		if err := appendEvents(t.Context(), j, turn.ID, events); err != nil {
			t.Fatal(err)
		}
		all = append(all, events...)
		next += int64(size)
	}
	var got []journal.Event
	for after := int64(0); ; after = got[len(got)-1].N {
		page, err := j.Events(t.Context(), turn.ID, after, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
	}
	if d := cmp.Diff(all, got); d != "" {
		t.Error(d)
	}
}

// TestLateWrites checks C100: what comes after the end of a turn is refused,
// but the ledger still gets what was used.
func TestLateWrites(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	a := attempt(t, j, turn.ID)
	if err := finish(t.Context(), j, turn.ID, journal.Cancelled); err != nil {
		t.Fatal(err)
	}
	for name, late := range map[string]func(*journal.Tx) error{
		"event": func(tx *journal.Tx) error { return tx.AppendEvents(turn.ID, texts(1, a, "late")) },
		"message": func(tx *journal.Tx) error {
			_, err := tx.AddMessage(journal.Message{Turn: turn.ID, Role: abi.RoleAssistant})
			return err
		},
		"attempt": func(tx *journal.Tx) error {
			_, err := tx.InsertAttempt(journal.Attempt{Turn: turn.ID})
			return err
		},
		"finish": func(tx *journal.Tx) error {
			return tx.FinishTurn(journal.Finish{Turn: turn.ID, State: journal.Complete})
		},
	} {
		if err := j.Write(t.Context(), journal.StepDeltas, late); !errors.Is(err, journal.ErrNotRunning) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := settle(t.Context(), j, journal.Attempt{ID: a, Outcome: journal.OutcomeCancelled, Usage: abi.Usage{Output: new(int64(7))}}); err != nil {
		t.Errorf("settle: %v", err)
	}
	got, err := j.Turn(t.Context(), turn.ID)
	if err != nil || got.State != journal.Cancelled || got.Visible || got.Events != 0 {
		t.Errorf("turn is %+v, %v", got, err)
	}
}

// TestEventJSON checks the form in which surfaces pass events on.
func TestEventJSON(t *testing.T) {
	t.Parallel()
	e := journal.Event{
		N: 3, Attempt: 2, At: time.UnixMilli(1_700_000_000_123), Type: abi.EventUsage, Data: abi.Raw(`{"usage":{"input":1}}`),
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"n":3,"attempt":2,"at":1700000000123,"type":"usage","data":{"usage":{"input":1}}}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
	var back journal.Event
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e, back); d != "" {
		t.Error(d)
	}
}

// FuzzEventJSON checks that what is read as an event is written as the same.
func FuzzEventJSON(f *testing.F) {
	for _, s := range []string{"", "{}", "null", `{"n":1,"at":1,"type":"text","text":"x"}`, `{"n":2,"data":{"a":[1]}}`, `{"at":1e99}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e, back journal.Event
		if json.Unmarshal(data, &e) != nil {
			return
		}
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(back)
		if err != nil || string(again) != string(b) {
			t.Errorf("%s, then %s, %v", b, again, err)
		}
	})
}
