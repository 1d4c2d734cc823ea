package journal_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// TestRecoverCalls checks C096 and the promise about unknown effects: after a
// crash with two of three parallel calls done, and others in every state, each
// call has one result, in the order of the calls. Results that were stored are
// kept; a call that ran is unknown; one that did not run is told so.
func TestRecoverCalls(t *testing.T) {
	t.Parallel()
	var turn journal.Turn
	names := []string{"done", "failed", "running", "requested", "denied", "cancelled"}
	j := crashed(t, func(j *journal.Journal) {
		turn = admit(t, j, "s")
		must(t, addCalls(t.Context(), j, turn.ID, 1, "Let me see.", names...))
		id := func(n int) string { return callID(turn.ID, 1, n) }
		must(t, startCalls(t.Context(), j, id(1), id(2), id(3), id(6)))
		must(t,
			endCall(t.Context(), j, done(id(1), "written")),
			endCall(t.Context(), j, journal.ToolCall{ID: id(2), State: journal.CallDone, Result: "no such file", IsError: true}),
			endCall(t.Context(), j, journal.ToolCall{ID: id(5), State: journal.CallRefused, Result: "Not allowed.", IsError: true, Reason: "denied"}),
			endCall(t.Context(), j, journal.ToolCall{ID: id(6), State: journal.CallCancelled, Result: "Stopped.", IsError: true}))
	})
	checkStates(t, j, turn.ID, journal.CallDone, journal.CallDone, journal.CallUnknown, journal.CallRefused, journal.CallRefused, journal.CallCancelled)

	const unknown = "The host stopped while this tool ran. Whether it took effect is unknown. " +
		"Do not assume that it did or that it did not: look first."
	result := func(n int, text string, isError bool) abi.Part {
		return abi.Part{Type: abi.PartToolResult, CallID: callID(turn.ID, 1, n), Name: names[n-1], Text: text, IsError: isError}
	}
	m, _ := calling(turn.ID, 1, "Let me see.", names...)
	want := []journal.Past{{Seq: 1, Marker: restart, Messages: []journal.PastMessage{
		{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: "question"}}},
		{Role: abi.RoleAssistant, Parts: m.Parts, Provider: "p"},
		{Role: abi.RoleTool, Parts: []abi.Part{
			result(1, "written", false), result(2, "no such file", true), result(3, unknown, true),
			result(4, "Not run: the host stopped before this call began.", true),
			result(5, "Not allowed.", true), result(6, "Stopped.", true),
		}},
	}}}
	next := admit(t, j, "s")
	past, err := j.Past(t.Context(), next, 0)
	must(t, err)
	if d := cmp.Diff(want, past); d != "" {
		t.Errorf("the history after the restart:\n%s", d)
	}
	checkEnds(t, j, turn.ID, journal.CallUnknown, journal.CallRefused)

	// A further start changes nothing.
	calls, err := j.Calls(t.Context(), turn.ID)
	must(t, err, finish(t.Context(), j, next.ID, journal.Complete))
	path := j.Path()
	must(t, j.Close(t.Context()))
	j = openAt(t, path)
	again, err := j.Calls(t.Context(), turn.ID)
	must(t, err)
	if d := cmp.Diff(calls, again); d != "" {
		t.Error(d)
	}
	if past, err = j.Past(t.Context(), next, 0); err != nil || !cmp.Equal(want, past) {
		t.Errorf("the history after a further start: %+v, %v", past, err)
	}
}

// checkEnds checks that a reader of the events gets an end of each call that
// recovery closed, and then that of the turn.
func checkEnds(t *testing.T, j *journal.Journal, turn string, want ...journal.CallState) {
	t.Helper()
	events, err := j.Events(t.Context(), turn, 0, 0)
	must(t, err)
	var got []journal.CallState
	for _, e := range events {
		if e.Type != journal.EventToolEnded {
			continue
		}
		var data struct {
			Call, Name string
			State      journal.CallState
			Error      bool `json:"is_error"`
		}
		must(t, json.Unmarshal(e.Data, &data))
		if data.Call == "" || data.Name == "" || !data.Error {
			t.Errorf("event %s", e.Data)
		}
		got = append(got, data.State)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(events); n == 0 || events[n-1].Type != journal.EventTurnEnded || events[n-1].N != int64(n) {
		t.Errorf("the events end with %+v", events)
	}
}

// TestRecoverLaterIteration checks that only what belongs to no stored message
// becomes the partial answer, with the right candidate (MRK-2, CST-4).
func TestRecoverLaterIteration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first, second string   // the candidates' providers
		shown         []string // what the second iteration showed
		want          []string
		candidate     string
		fallback      bool
	}{
		"partial text":               {"p", "p", []string{"So ", "far"}, []string{"assistant: So far (" + restart + ")"}, "p/m", false},
		"partial text of a fallback": {"p", "q", []string{"So far"}, []string{"assistant: So far (" + restart + ")"}, "q/m", true},
		"nothing shown":              {"p", "q", nil, nil, "p/m", false},
		"nothing but empty text":     {"p", "q", []string{""}, nil, "p/m", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var turn journal.Turn
			j := crashed(t, func(j *journal.Journal) {
				turn = admit(t, j, "s")
				attemptOf(t, j, turn.ID, 0, "z") // a summary is nobody's answer
				must(t, appendEvents(t.Context(), j, turn.ID, texts(1, attemptOf(t, j, turn.ID, 1, c.first), "I look.")))
				must(t, addCalls(t.Context(), j, turn.ID, 1, "I look.", "read"))
				must(t, startCalls(t.Context(), j, callID(turn.ID, 1, 1)), endCall(t.Context(), j, done(callID(turn.ID, 1, 1), "found")))
				_, err := closeCalls(t.Context(), j, turn.ID)
				must(t, err)
				must(t, appendEvents(t.Context(), j, turn.ID, texts(2, attemptOf(t, j, turn.ID, 2, c.second), c.shown...)))
			})
			checkTranscript(t, j, turn.SessionID, append([]string{"user: question", "assistant: I look.", "tool: found"}, c.want...)...)
			checkStates(t, j, turn.ID, journal.CallDone)
			got, err := j.Turn(t.Context(), turn.ID)
			must(t, err)
			if got.Candidate != c.candidate || got.Fallback != c.fallback || got.State != journal.Interrupted || got.Marker != restart {
				t.Errorf("the turn is %+v", got)
			}
		})
	}
}

func attemptOf(t *testing.T, j *journal.Journal, turn string, iteration int, provider string) (id int64) {
	t.Helper()
	must(t, j.Write(t.Context(), journal.StepAttempt, func(tx *journal.Tx) (err error) {
		id, err = tx.InsertAttempt(journal.Attempt{Turn: turn, Iteration: iteration, Number: 1, Provider: provider, Model: "m"})
		return err
	}))
	return id
}

// TestRecoverBeforeTheCallsAreStored checks that an answer whose calls were not
// stored is only the text that was shown: none of its calls ever runs.
func TestRecoverBeforeTheCallsAreStored(t *testing.T) {
	t.Parallel()
	var turn journal.Turn
	j := crashed(t, func(j *journal.Journal) {
		turn = admit(t, j, "s")
		events := texts(1, attempt(t, j, turn.ID), "I will write it.", "")
		events[1].Type, events[1].Data = abi.EventToolCall, abi.Raw(`{"name":"write_file"}`)
		must(t, appendEvents(t.Context(), j, turn.ID, events))
	})
	checkTranscript(t, j, turn.SessionID, "user: question", "assistant: I will write it. ("+restart+")")
	checkStates(t, j, turn.ID)
}

// TestRecoverApproval checks that a question that was open when the host died
// is cancelled, that its call never ran, and that a late answer is refused.
func TestRecoverApproval(t *testing.T) {
	t.Parallel()
	var turn journal.Turn
	j := crashed(t, func(j *journal.Journal) {
		turn = admit(t, j, "s")
		must(t, addCalls(t.Context(), j, turn.ID, 1, "", "write_file"))
		must(t, ask(t.Context(), j, callID(turn.ID, 1, 1)))
	})
	checkStates(t, j, turn.ID, journal.CallRefused)
	approvals, err := j.Approvals(t.Context(), turn.ID)
	must(t, err)
	want := []journal.Approval{{Call: callID(turn.ID, 1, 1), Turn: turn.ID, State: journal.ApprovalCancelled}}
	if d := cmp.Diff(want, approvals, cmpopts.IgnoreFields(journal.Approval{}, "Asked", "Expires", "Answered")); d != "" {
		t.Error(d)
	}
	checkAnswered(t, answer(t.Context(), j, callID(turn.ID, 1, 1), journal.ApprovalApproved))
}
