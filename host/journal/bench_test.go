package journal_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// open opens a new journal in a directory of the test.
func open(tb testing.TB) *journal.Journal {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "journal.db"))
}

func openAt(tb testing.TB, path string) *journal.Journal {
	tb.Helper()
	j, err := journal.Open(tb.Context(), path, journal.Options{Version: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := j.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return j
}

// plainTurn does all the journal work of a turn with a short answer.
func plainTurn(ctx context.Context, j *journal.Journal, session, id string) error {
	turn, _, err := j.Admit(ctx, journal.Admission{
		Account: "bench", ExternalID: id, Session: session, Agent: "main", Surface: "cli", Text: "What is the total?",
		Plugins: []string{"demo@1.0.0#1a2b3c4d"},
	})
	if err != nil {
		return err
	}
	a := journal.Attempt{Turn: turn.ID, Iteration: 1, Number: 1, Profile: "demo", Provider: "demo", Model: "demo", Streaming: true}
	if err := j.Write(ctx, journal.StepAttempt, func(tx *journal.Tx) (err error) {
		a.ID, err = tx.InsertAttempt(a)
		return err
	}); err != nil {
		return err
	}
	event := func(n int64, typ abi.EventType, text string) journal.Event {
		return journal.Event{N: n, Attempt: a.ID, Type: typ, Text: text}
	}
	if err := j.Write(ctx, journal.StepFirstVisible, func(tx *journal.Tx) error {
		return tx.AppendEvents(turn.ID, []journal.Event{
			event(1, journal.EventTurnStarted, ""), event(2, journal.EventAttemptStarted, ""), event(3, abi.EventText, "The total "),
		})
	}); err != nil {
		return err
	}
	return j.Write(ctx, journal.StepFinish, func(tx *journal.Tx) error {
		if err := tx.AppendEvents(turn.ID, []journal.Event{
			event(4, abi.EventText, "is "), event(5, abi.EventText, "4."), event(6, abi.EventUsage, ""),
			event(7, abi.EventFinish, ""), event(8, journal.EventTurnEnded, ""),
		}); err != nil {
			return err
		}
		a.Outcome = journal.OutcomeComplete
		if err := tx.SettleAttempt(a); err != nil {
			return err
		}
		if _, err := tx.AddMessage(journal.Message{
			Turn: turn.ID, Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartText, Text: "The total is 4."}},
		}); err != nil {
			return err
		}
		return tx.FinishTurn(journal.Finish{Turn: turn.ID, State: journal.Complete, Candidate: "demo/demo"})
	})
}

// BenchmarkTurns does the journal work of whole durable turns, in 64 sessions
// at once and in one.
func BenchmarkTurns(b *testing.B) {
	for _, sessions := range []int{1, 64} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			j := open(b)
			before := j.Stats()
			var next atomic.Int64
			b.ResetTimer()
			var all sync.WaitGroup
			for s := range sessions {
				all.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						if err := plainTurn(b.Context(), j, fmt.Sprintf("s%d", s), fmt.Sprint(n)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.StopTimer()
			after := j.Stats()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
			b.ReportMetric(float64(after.Syncs-before.Syncs)/float64(b.N), "syncs/turn")
			b.ReportMetric(float64(after.Writes-before.Writes)/float64(after.Commits-before.Commits), "writes/commit")
		})
	}
}

// BenchmarkEvents appends events of 64 turns, as the sinks of 64 streams do it
// together.
func BenchmarkEvents(b *testing.B) {
	for _, group := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("group=%d", group), func(b *testing.B) {
			j := open(b)
			const turns = 64
			var ids [turns]string
			var last [turns]int64
			for i := range ids {
				turn, _, err := j.Admit(b.Context(), journal.Admission{Session: fmt.Sprint(i)})
				if err != nil {
					b.Fatal(err)
				}
				ids[i] = turn.ID
			}
			events := make([]journal.Event, group)
			rows := 0
			b.ReportAllocs()
			b.ResetTimer()
			for rows < b.N {
				err := j.Write(b.Context(), journal.StepDeltas, func(tx *journal.Tx) error {
					for i, id := range ids {
						for k := range events {
							last[i]++
							events[k] = journal.Event{N: last[i], Attempt: 1, Type: abi.EventText, Text: " some text"}
						}
						if err := tx.AppendEvents(id, events); err != nil {
							return err
						}
						rows += group
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkOpen opens and closes a small journal: what every start pays.
func BenchmarkOpen(b *testing.B) {
	path := newPath(b)
	for _, n := range []int{0, 1} { // the first makes it
		j, err := journal.Open(b.Context(), path, journal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 100 * n {
			if err := plainTurn(b.Context(), j, "s", fmt.Sprint(i)); err != nil {
				b.Fatal(err)
			}
		}
		if err := j.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		j, err := journal.Open(b.Context(), path, journal.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := j.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
