package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// callsModel is what the journal should say about the calls of one turn.
type callsModel struct {
	turn      string
	iteration int
	state     map[string]journal.CallState
	order     []string // the ids of the last iteration, until it is closed
	asked     map[string]journal.ApprovalState
	ended     bool
}

// may says whether the table allows a call to go to a state now.
func (m *callsModel) may(id string, to journal.CallState) bool {
	if m.ended || (to == journal.CallRunning && m.asked[id] != "" && m.asked[id] != journal.ApprovalApproved) {
		return false
	}
	return slices.ContainsFunc(journal.CallTransitions(), func(t journal.CallTransition) bool {
		return t.From == m.state[id] && t.To == to
	})
}

// TestCallsModel does random things to the calls of a turn: the table alone
// decides what is possible, a call that never started is never done or unknown,
// and however the turn ends, each call has exactly one result in the
// transcript, after its answer and in order (C096).
func TestCallsModel(t *testing.T) {
	t.Parallel()
	j := open(t)
	ctx := t.Context()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		turn, _, err := j.Admit(ctx, journal.Admission{Session: fmt.Sprint(round)})
		if err != nil {
			t.Fatal(err)
		}
		m := &callsModel{
			turn: turn.ID, state: make(map[string]journal.CallState), asked: make(map[string]journal.ApprovalState),
		}
		t.Repeat(m.actions(ctx, j))
		if !m.ended {
			m.end(ctx, t, j)
		}
		m.check(ctx, t, j, turn.SessionID)
	})
}

func (m *callsModel) actions(ctx context.Context, j *journal.Journal) map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"answer": func(t *rapid.T) { m.answer(ctx, t, j) },
		"ask": func(t *rapid.T) {
			id := m.draw(t)
			err := ask(ctx, j, id)
			if allowed := !m.ended && m.state[id] == journal.CallRequested && m.asked[id] == ""; allowed != (err == nil) {
				t.Fatalf("asked about %s, which is %s, approval %q: %v", id, m.state[id], m.asked[id], err)
			}
			if err == nil {
				m.asked[id] = journal.ApprovalPending
			}
		},
		"decide": func(t *rapid.T) {
			id := m.draw(t)
			to := rapid.SampledFrom([]journal.ApprovalState{
				journal.ApprovalPending, journal.ApprovalApproved, journal.ApprovalDenied, journal.ApprovalExpired, journal.ApprovalCancelled,
			}).Draw(t, "approval")
			err := answer(ctx, j, id, to)
			if allowed := m.asked[id] == journal.ApprovalPending && to != journal.ApprovalPending; allowed != (err == nil) {
				t.Fatalf("approval of %s from %q to %q: %v", id, m.asked[id], to, err)
			}
			if err == nil {
				m.asked[id] = to
			}
		},
		"move": func(t *rapid.T) {
			id := m.draw(t)
			to := rapid.SampledFrom([]journal.CallState{
				journal.CallRequested, journal.CallRunning, journal.CallDone, journal.CallRefused, journal.CallCancelled, journal.CallUnknown,
			}).Draw(t, "state")
			m.move(ctx, t, j, id, to)
		},
		"close": func(t *rapid.T) {
			if m.ended {
				return
			}
			parts, err := closeCalls(ctx, j, m.turn)
			if err != nil || len(parts) != len(m.order) {
				t.Fatalf("%d results of %d calls, %v", len(parts), len(m.order), err)
			}
			m.closed()
		},
		"end": func(t *rapid.T) {
			if !m.ended {
				m.end(ctx, t, j)
			}
		},
	}
}

// draw takes one of the calls, or one that there is not.
func (m *callsModel) draw(t *rapid.T) string {
	ids := []string{"none"}
	for id := range m.state {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return rapid.SampledFrom(ids).Draw(t, "call")
}

func (m *callsModel) answer(ctx context.Context, t *rapid.T, j *journal.Journal) {
	names := make([]string, rapid.IntRange(1, 3).Draw(t, "calls"))
	for i := range names {
		names[i] = "tool"
	}
	err := addCalls(ctx, j, m.turn, m.iteration+1, "", names...)
	if (err == nil) == m.ended {
		t.Fatalf("stored an answer: %v, the turn has ended: %v", err, m.ended)
	}
	if err != nil {
		return
	}
	m.closed() // the next answer closes what is open
	m.iteration++
	for n := range names {
		id := callID(m.turn, m.iteration, n+1)
		m.order = append(m.order, id)
		m.state[id] = journal.CallRequested
	}
}

func (m *callsModel) move(ctx context.Context, t *rapid.T, j *journal.Journal, id string, to journal.CallState) {
	var err error
	if to == journal.CallRunning {
		err = startCalls(ctx, j, id)
	} else {
		err = endCall(ctx, j, journal.ToolCall{ID: id, State: to, Result: string(to)})
	}
	allowed := m.may(id, to)
	if allowed != (err == nil) || (err != nil && to.Ended() && !errors.Is(err, journal.ErrNotRunning)) {
		t.Fatalf("call %s from %q to %q: %v", id, m.state[id], to, err)
	}
	if allowed {
		m.state[id] = to
	}
}

func (m *callsModel) end(ctx context.Context, t *rapid.T, j *journal.Journal) {
	if err := finish(ctx, j, m.turn, journal.Cancelled); err != nil {
		t.Fatal(err)
	}
	m.closed()
	m.ended = true
	for id, s := range m.asked {
		if s == journal.ApprovalPending {
			m.asked[id] = journal.ApprovalCancelled
		}
	}
}

// closed is what closing does to the calls of the last iteration.
func (m *callsModel) closed() {
	for _, id := range m.order {
		switch m.state[id] {
		case journal.CallRequested:
			m.state[id] = journal.CallRefused
		case journal.CallRunning:
			m.state[id] = journal.CallUnknown
		case journal.CallDone, journal.CallRefused, journal.CallCancelled, journal.CallUnknown:
		}
	}
	m.order = nil
}

// check compares the journal with the model, and looks at the transcript.
func (m *callsModel) check(ctx context.Context, t *rapid.T, j *journal.Journal, session int64) {
	calls, err := j.Calls(ctx, m.turn)
	if err != nil || len(calls) != len(m.state) {
		t.Fatalf("%d calls of %d, %v", len(calls), len(m.state), err)
	}
	for _, c := range calls {
		if c.State != m.state[c.ID] {
			t.Fatalf("%s is %s, want %s", c.ID, c.State, m.state[c.ID])
		}
		if ran := c.State != journal.CallRefused; ran == c.Started.IsZero() {
			t.Fatalf("%s is %s and started at %v", c.ID, c.State, c.Started)
		}
	}
	approvals, err := j.Approvals(ctx, m.turn)
	if err != nil || len(approvals) != len(m.asked) {
		t.Fatalf("%d approvals of %d, %v", len(approvals), len(m.asked), err)
	}
	for _, a := range approvals {
		if a.State != m.asked[a.Call] {
			t.Fatalf("approval of %s is %s, want %s", a.Call, a.State, m.asked[a.Call])
		}
	}
	messages, err := j.Messages(ctx, session, 0)
	if err != nil {
		t.Fatal(err)
	}
	if problem := unpaired(messages); problem != "" {
		t.Fatal(problem)
	}
}

// unpaired says what a strict provider would refuse in a transcript; "" if
// nothing.
func unpaired(messages []journal.Message) string {
	var open []string
	for _, m := range messages {
		var called, answered []string
		for _, p := range m.Parts {
			switch p.Type { //nolint:exhaustive // the others do not matter here
			case abi.PartToolCall:
				called = append(called, p.CallID)
			case abi.PartToolResult:
				answered = append(answered, p.CallID)
			}
		}
		if !slices.Equal(open, answered) {
			return fmt.Sprintf("message %d of the %s answers %v, want %v", m.ID, m.Role, answered, open)
		}
		open = called
	}
	if len(open) > 0 {
		return fmt.Sprintf("no results for %v", open)
	}
	return ""
}
