package turn

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
)

// ending is how a turn ends: all that is stored in its last transaction.
type ending struct {
	finish  journal.Finish
	attempt *journal.Attempt
	message *journal.Message
	events  []journal.Event
}

// store writes the ending.
func (e *ending) store(tx *journal.Tx) error {
	if e.attempt != nil {
		if err := tx.SettleAttempt(*e.attempt); err != nil {
			return err
		}
	}
	if e.message != nil {
		m := *e.message
		m.Turn = e.finish.Turn
		if _, err := tx.AddMessage(m); err != nil {
			return err
		}
	}
	return tx.FinishTurn(e.finish)
}

// end says how a turn ends whose chain gave this answer. cause is why the
// turn was cancelled, if it was.
func end(a reliability.Answer, cause error) ending {
	state, mark := outcome(a, cause)
	e := ending{
		finish:  journal.Finish{State: state, Marker: string(mark)},
		attempt: a.Unsettled,
		events:  a.Events,
	}
	told := Ended{State: state, Marker: string(mark), Fallback: a.Fallback}
	e.finish.Fallback = a.Fallback
	if a.Candidate != nil {
		e.finish.Candidate = a.Candidate.Name()
		told.Candidate = e.finish.Candidate
	}
	if a.Finish == abi.FinishUnknown {
		told.Finish = a.RawFinish
	}
	if a.Err != nil {
		told.Class, told.Error, told.WaitMS = a.Err.Class, a.Err.Error(), a.Err.Wait.Milliseconds()
		e.finish.Error = journal.TurnError{Class: abi.FailureClass(a.Err.Class), Message: told.Error}
	}
	e.events = append(e.events, event(journal.EventTurnEnded, told))
	m := message(a)
	if m != nil {
		e.message = &journal.Message{Role: abi.RoleAssistant, Parts: m.Parts, Marker: string(mark), Candidate: e.finish.Candidate}
	}
	return e
}

// outcome is the table from the chain's end to the turn's state and marker.
func outcome(a reliability.Answer, cause error) (journal.State, marker.Code) {
	switch a.State {
	case reliability.Complete:
		return journal.Complete, ""
	case reliability.Incomplete:
		return journal.Incomplete, cutShort(a.Finish)
	case reliability.Interrupted:
		if n := len(a.Err.Attempts); n > 0 && a.Err.Attempts[n-1].Outcome == reliability.OutcomeEmpty {
			return journal.Interrupted, marker.TurnFailed
		}
		return journal.Interrupted, marker.StreamInterrupted
	case reliability.Cancelled:
		switch causeText(cause) {
		case causeClient:
			return journal.Cancelled, marker.CancelledClientRPC
		case causeShutdown:
			return journal.Interrupted, marker.InterruptedByRestart
		}
		return journal.Cancelled, marker.InterruptedByUser
	case reliability.Failed:
	}
	return journal.Failed, marker.TurnFailed
}

// cutShort is the marker of an answer that ended early (STR-5).
func cutShort(r abi.FinishReason) marker.Code {
	switch r {
	case abi.FinishContentFilter:
		return marker.IncompleteFilter
	case abi.FinishRefusal:
		return marker.IncompleteRefusal
	case abi.FinishPause:
		return marker.IncompletePause
	case abi.FinishLength, abi.FinishStop, abi.FinishToolCalls, abi.FinishUnknown:
	}
	return marker.IncompleteLength
}

// message returns the assistant's message, nil if there is no visible text
// (MRK-2). Tool calls stay out of it: an answer that ends a turn has none that
// was run, and a call without a result makes the next request invalid.
func message(a reliability.Answer) *abi.Message {
	m := abi.Message{Role: abi.RoleAssistant, Parts: uncalled(a.Parts)}
	for _, p := range m.Parts {
		if p.Type == abi.PartText && p.Text != "" {
			return &m
		}
	}
	return nil
}

// uncalled leaves the tool calls out.
func uncalled(parts []abi.Part) []abi.Part {
	var out []abi.Part
	for _, p := range parts {
		if p.Type != abi.PartToolCall {
			out = append(out, p)
		}
	}
	return out
}

func calls(parts []abi.Part) int {
	n := 0
	for _, p := range parts {
		if p.Type == abi.PartToolCall {
			n++
		}
	}
	return n
}

// failed is the ending of a turn that never reached the chain.
func failed(err error) ending {
	const class = abi.FailureUnknown
	told := Ended{State: journal.Failed, Marker: string(marker.TurnFailed), Class: string(class), Error: err.Error()}
	return ending{
		finish: journal.Finish{State: journal.Failed, Marker: told.Marker, Error: journal.TurnError{Class: class, Message: told.Error}},
		events: []journal.Event{event(journal.EventTurnEnded, told)},
	}
}
