package journal_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

const restart = "turn-interrupted-by-restart"

// crashed leaves a journal as a host does that dies: its turns unfinished and
// its boot open.
func crashed(t *testing.T, work func(*journal.Journal)) *journal.Journal {
	t.Helper()
	path := newPath(t)
	j := openAt(t, path)
	work(j)
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return openAt(t, path)
}

// TestSettleAtStart checks what a start does with the work of an earlier boot:
// nothing accepted is lost, what was shown stays with its marker (MRK-2,
// MRK-4), attempts in flight stay unknown (CST-1), every turn has an end.
func TestSettleAtStart(t *testing.T) {
	t.Parallel()
	turns := make(map[string]journal.Turn)
	var shown int64
	j := crashed(t, func(j *journal.Journal) {
		for _, name := range []string{"shown", "thought", "nothing", "ended"} {
			turns[name] = admit(t, j, name)
		}
		turns["queued"] = admit(t, j, "shown")
		shown = attempt(t, j, turns["shown"].ID)
		if err := appendEvents(t.Context(), j, turns["shown"].ID, texts(1, shown, "The total ", "is")); err != nil {
			t.Fatal(err)
		}
		thought := texts(1, attempt(t, j, turns["thought"].ID), "hm")
		thought[0].Type = abi.EventReasoning
		if err := appendEvents(t.Context(), j, turns["thought"].ID, thought); err != nil {
			t.Fatal(err)
		}
		if err := finish(t.Context(), j, turns["ended"].ID, journal.Complete); err != nil {
			t.Fatal(err)
		}
	})
	for name, want := range map[string]journal.Turn{
		"shown":   {State: journal.Interrupted, Marker: restart, Candidate: "p/m", Visible: true, Events: 3},
		"thought": {State: journal.Interrupted, Marker: restart, Visible: true, Events: 2},
		"nothing": {State: journal.Interrupted, Marker: restart, Events: 1},
		"queued":  {State: journal.Interrupted, Marker: restart, Events: 1},
		"ended":   {State: journal.Complete},
	} {
		got, err := j.Turn(t.Context(), turns[name].ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.Ended.IsZero() || got.Text != "question" {
			t.Errorf("%s: %+v", name, got)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(journal.Turn{},
			"ID", "SessionID", "Session", "Seq", "Text", "Created", "Started", "Ended")); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	attempts, err := j.Attempts(t.Context(), turns["shown"].ID)
	if err != nil || attempts[0].Outcome != journal.OutcomeUnknown || !attempts[0].Ended.IsZero() || !attempts[0].Visible {
		t.Errorf("attempt in flight: %+v, %v", attempts, err)
	}
	events, err := j.Events(t.Context(), turns["shown"].ID, 2, 0)
	if err != nil || len(events) != 1 || events[0].Type != journal.EventTurnEnded ||
		string(events[0].Data) != `{"state":"interrupted","marker":"`+restart+`","candidate":"p/m"}` {
		t.Errorf("last event: %+v, %v", events, err)
	}
	checkTranscript(t, j, turns["shown"].SessionID,
		"user: question", "assistant: The total is ("+restart+")", "user: question")
	checkTranscript(t, j, turns["thought"].SessionID, "user: question")
	if again := admit(t, j, "shown"); again.State != journal.Running || again.Seq != 3 {
		t.Errorf("the session is not free: %+v", again)
	}
}

func checkTranscript(t *testing.T, j *journal.Journal, session int64, want ...string) {
	t.Helper()
	messages, err := j.Messages(t.Context(), session, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range messages {
		line := fmt.Sprintf("%s: %s", m.Role, m.Parts[0].Text)
		if m.Marker != "" {
			line += " (" + m.Marker + ")"
		}
		got = append(got, line)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestBoots checks BOT-1: each start is a row, closed on a clean exit.
func TestBoots(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	for n := range 3 {
		j := openAt(t, path)
		boots, err := j.Boots(t.Context())
		if err != nil || len(boots) != n+1 || boots[0].ID != j.Boot() || !boots[0].Ended.IsZero() || boots[0].Version != "test" {
			t.Fatalf("start %d: %+v, %v", n, boots, err)
		}
		for _, b := range boots[1:] {
			if b.Ended.IsZero() {
				t.Errorf("not closed: %+v", b)
			}
		}
		if err := j.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMessagesInOrderOfTurns checks that a message that waited comes after the
// answer to the one before it.
func TestMessagesInOrderOfTurns(t *testing.T) {
	t.Parallel()
	j := open(t)
	first := admit(t, j, "s")
	admit(t, j, "s")
	if err := j.Write(t.Context(), journal.StepFinish, func(tx *journal.Tx) error {
		_, err := tx.AddMessage(journal.Message{
			Turn: first.ID, Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartText, Text: "answer"}},
		})
		if err != nil {
			return err
		}
		return tx.FinishTurn(journal.Finish{Turn: first.ID, State: journal.Complete, Marker: "m"})
	}); err != nil {
		t.Fatal(err)
	}
	checkTranscript(t, j, first.SessionID, "user: question", "assistant: answer", "user: question")
	second, ok, err := j.Next(t.Context(), first.SessionID)
	if err != nil || !ok || second.State != journal.Running || second.Started.IsZero() {
		t.Fatal(second, ok, err)
	}
	past, err := j.Past(t.Context(), second, 0)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]journal.Past{{
		Seq: 1, Marker: "m",
		Messages: []journal.PastMessage{
			{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: "question"}}},
			{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartText, Text: "answer"}}},
		},
	}}, past); d != "" {
		t.Error(d)
	}
}

// TestTurnsFilter checks the lists that people look at.
func TestTurnsFilter(t *testing.T) {
	t.Parallel()
	j := open(t)
	a1, b1, a2 := admit(t, j, "a"), admit(t, j, "b"), admit(t, j, "a")
	for name, c := range map[string]struct {
		filter journal.TurnFilter
		want   []string
	}{
		"session": {journal.TurnFilter{Session: a1.SessionID}, []string{a1.ID, a2.ID}},
		"state":   {journal.TurnFilter{State: journal.Running}, []string{a1.ID, b1.ID}},
		"before":  {journal.TurnFilter{Before: a1.ID, Session: a1.SessionID}, nil},
		"limit":   {journal.TurnFilter{Session: b1.SessionID, Limit: 1}, []string{b1.ID}},
	} {
		turns, err := j.Turns(t.Context(), c.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, turn := range turns {
			got = append(got, turn.ID)
		}
		if d := cmp.Diff(c.want, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); d != "" && name != "before" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	if _, err := j.Turn(t.Context(), "t_none"); err == nil {
		t.Error("found a turn that is none")
	}
}

// BenchmarkStartAfterCrash settles 1000 unfinished turns (REC-9: under a
// second).
func BenchmarkStartAfterCrash(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		path := newPath(b)
		j, err := journal.Open(b.Context(), path, journal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 1000 {
			turn := admit(b, j, fmt.Sprint(i))
			if err := appendEvents(b.Context(), j, turn.ID, texts(1, 1, make([]string, 50)...)); err != nil {
				b.Fatal(err)
			}
		}
		if err := j.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		j, err = journal.Open(b.Context(), path, journal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := j.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
