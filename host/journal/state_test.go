package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/host/journal"
)

// arrow is one transition of any machine.
type arrow struct{ name, from, to string }

// TestDrawing holds docs/state-machine.md and the tables of transitions
// together.
func TestDrawing(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/state-machine.md")
	if err != nil {
		t.Fatal(err)
	}
	var turn, call, approval []arrow
	for _, tr := range journal.Transitions() {
		turn = append(turn, arrow{tr.Name, string(tr.From), string(tr.To)})
	}
	for _, tr := range journal.CallTransitions() {
		call = append(call, arrow{tr.Name, string(tr.From), string(tr.To)})
	}
	for _, tr := range journal.ApprovalTransitions() {
		approval = append(approval, arrow{tr.Name, string(tr.From), string(tr.To)})
	}
	checkDrawing(t, page, "Turn", turn, func(s string) bool { return journal.State(s).Ended() })
	checkDrawing(t, page, "Tool call", call, func(s string) bool { return journal.CallState(s).Ended() })
	checkDrawing(t, page, "Approval", approval, func(s string) bool { return journal.ApprovalState(s).Ended() })
}

// checkDrawing compares the drawing under a heading with a table, in which
// ended tells which states are ends: nothing leads out of those.
func checkDrawing(t *testing.T, page []byte, heading string, table []arrow, ended func(string) bool) {
	t.Helper()
	section := regexp.MustCompile("(?s)## " + heading + "\n.*?```mermaid\n(.*?)```").FindSubmatch(page)
	if section == nil {
		t.Errorf("docs/state-machine.md has no drawing under %q", heading)
		return
	}
	var drawn, coded []string
	for _, m := range regexp.MustCompile(`(?m)^\s+(\w+) --> (\w+): (\w+)$`).FindAllSubmatch(section[1], -1) {
		drawn = append(drawn, fmt.Sprintf("%s: %s -> %s", m[3], m[1], m[2]))
	}
	states := make(map[string]bool)
	for _, a := range table {
		coded = append(coded, fmt.Sprintf("%s: %s -> %s", a.name, a.from, a.to))
		states[a.from], states[a.to] = ended(a.from), ended(a.to)
		if ended(a.from) {
			t.Errorf("%s: %s is an end and leads to %s", heading, a.from, a.to)
		}
	}
	slices.Sort(drawn)
	slices.Sort(coded)
	if d := cmp.Diff(coded, drawn); d != "" {
		t.Errorf("%s: the drawing is not the table (-table +drawing):\n%s", heading, d)
	}
	for state, ended := range states {
		drawn := regexp.MustCompile(`(?m)^\s+` + state + ` --> \[\*\]$`).Match(section[1])
		if drawn != ended {
			t.Errorf("%s: %s: drawn as an end %v, is one %v", heading, state, drawn, ended)
		}
	}
}

// model is what the journal should say about its turns.
type model struct {
	sessions map[string][]string // turn ids in order of admission
	state    map[string]journal.State
}

func (m *model) first(session string, state journal.State) string {
	for _, id := range m.sessions[session] {
		if m.state[id] == state {
			return id
		}
	}
	return ""
}

// TestTurnsModel does random things to the turns of a few sessions: ADM-4
// (never two running turns of a session, in order of admission, none lost) and
// the fence of C100 (an end is reached once, by an allowed transition).
func TestTurnsModel(t *testing.T) {
	t.Parallel()
	j := open(t)
	ctx := t.Context()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		m := model{sessions: make(map[string][]string), state: make(map[string]journal.State)}
		session := rapid.Map(rapid.IntRange(0, 2), func(i int) string { return fmt.Sprintf("%d-%d", round, i) })
		t.Repeat(map[string]func(*rapid.T){
			"admit": func(t *rapid.T) {
				s := session.Draw(t, "session")
				turn, _, err := j.Admit(ctx, journal.Admission{Session: s})
				if err != nil {
					t.Fatal(err)
				}
				want := journal.Running
				if m.first(s, journal.Running)+m.first(s, journal.Queued) != "" {
					want = journal.Queued
				}
				if turn.State != want || turn.Seq != int64(len(m.sessions[s])+1) {
					t.Fatalf("admitted as %s number %d, want %s number %d", turn.State, turn.Seq, want, len(m.sessions[s])+1)
				}
				m.sessions[s] = append(m.sessions[s], turn.ID)
				m.state[turn.ID] = turn.State
			},
			"next": func(t *rapid.T) {
				s := session.Draw(t, "session")
				want := m.first(s, journal.Queued)
				if m.first(s, journal.Running) != "" {
					want = ""
				}
				stored, err := j.Session(ctx, s)
				if errors.Is(err, journal.ErrNotFound) {
					return
				}
				turn, ok, err := j.Next(ctx, stored.ID)
				if err != nil || ok != (want != "") || turn.ID != want {
					t.Fatalf("started %q (%v, %v), want %q", turn.ID, ok, err, want)
				}
				if ok {
					m.state[want] = journal.Running
				}
			},
			"finish": func(t *rapid.T) {
				ids := m.sessions[session.Draw(t, "session")]
				if len(ids) == 0 {
					return
				}
				id := rapid.SampledFrom(ids).Draw(t, "turn")
				to := rapid.SampledFrom([]journal.State{
					journal.Queued, journal.Running, journal.Complete, journal.Incomplete,
					journal.Interrupted, journal.Cancelled, journal.Failed,
				}).Draw(t, "state")
				allowed := slices.ContainsFunc(journal.Transitions(), func(tr journal.Transition) bool {
					return tr.From == m.state[id] && tr.To == to && to.Ended()
				})
				err := finish(ctx, j, id, to)
				if allowed != (err == nil) || (err != nil && !errors.Is(err, journal.ErrNotRunning)) {
					t.Fatalf("from %s to %s: %v", m.state[id], to, err)
				}
				if allowed {
					m.state[id] = to
				}
			},
		})
		m.check(ctx, t, j)
	})
}

// check compares what the journal says with the model.
func (m *model) check(ctx context.Context, t *rapid.T, j *journal.Journal) {
	for s, ids := range m.sessions {
		stored, err := j.Session(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		turns, err := j.Turns(ctx, journal.TurnFilter{Session: stored.ID})
		if err != nil || len(turns) != len(ids) {
			t.Fatalf("%d turns of %d, %v", len(turns), len(ids), err)
		}
		for _, turn := range turns {
			if turn.State != m.state[turn.ID] {
				t.Fatalf("turn %s is %s, want %s", turn.ID, turn.State, m.state[turn.ID])
			}
		}
	}
}

func finish(ctx context.Context, j *journal.Journal, id string, to journal.State) error {
	return j.Write(ctx, journal.StepFinish, func(tx *journal.Tx) error {
		return tx.FinishTurn(journal.Finish{Turn: id, State: to})
	})
}
