package journal

import (
	"database/sql/driver"

	"github.com/zchost/zchost/abi"
)

// CloseHow says why calls are closed that have no result.
type CloseHow string

const (
	// CloseLive is an iteration that is over: what did not run will not.
	CloseLive CloseHow = "live"
	// CloseRestart is a turn whose host died.
	CloseRestart CloseHow = "restart"
)

// ReasonHostStopped is the reason of a call that ended with its host.
const ReasonHostStopped = "the host stopped"

// What the model is told of calls without a result. It is for the model, so it
// is English.
const (
	resultNotRun     = "Not run: the turn ended before this call was reached."
	resultNotStarted = "Not run: the host stopped before this call began."
	resultUnknown    = "The host stopped while this tool ran. Whether it took effect is unknown. Do not assume that it did or that it did not: look first."
	resultLost       = "The result of this tool could not be stored. Whether it took effect is unknown. Do not assume that it did or that it did not: look first."
)

// CloseCalls ends the calls of a turn's last iteration that have no result, and
// stores the tool message: one result for each call, in order. Live work and
// recovery both leave by it. It returns the parts of the message, none if the
// iteration has its message already.
func (tx *Tx) CloseCalls(turn string, how CloseHow) ([]abi.Part, error) {
	parts, _, err := tx.closeCalls(turn, how)
	return parts, err
}

// closeCalls also returns the calls that had not ended.
func (tx *Tx) closeCalls(turn string, how CloseHow) (parts []abi.Part, cut []ToolCall, err error) {
	calls, err := tx.unanswered(turn)
	if err != nil || len(calls) == 0 {
		return nil, nil, err
	}
	for _, c := range calls {
		if !c.State.Ended() {
			closed(&c, how)
			if err := tx.EndCall(c); err != nil {
				return nil, nil, err
			}
			cut = append(cut, c)
		}
		parts = append(parts, abi.Part{Type: abi.PartToolResult, CallID: c.ID, Name: c.Name, Text: c.Result, IsError: c.IsError})
	}
	_, err = tx.AddMessage(Message{Turn: turn, Role: abi.RoleTool, Parts: parts})
	return parts, cut, err
}

// closed says how a call ends that nobody ended.
func closed(c *ToolCall, how CloseHow) {
	c.IsError = true
	switch {
	case c.State == CallRunning && how == CloseRestart:
		c.State, c.Reason, c.Result = CallUnknown, ReasonHostStopped, resultUnknown
	case c.State == CallRunning:
		c.State, c.Reason, c.Result = CallUnknown, "result lost", resultLost
	case how == CloseRestart:
		c.State, c.Reason, c.Result = CallRefused, ReasonHostStopped, resultNotStarted
	default:
		c.State, c.Reason, c.Result = CallRefused, "turn ended", resultNotRun
	}
}

// unanswered returns the calls of the turn's last message, if that is one of
// the assistant's with calls.
func (tx *Tx) unanswered(turn string) ([]ToolCall, error) {
	var last [2]driver.Value
	ok, err := tx.row("find last message", last[:], "SELECT role, parts FROM messages WHERE turn = ?1 ORDER BY id DESC LIMIT 1", turn)
	if err != nil || !ok || abi.Role(text(last[0])) != abi.RoleAssistant {
		return nil, err
	}
	parts, err := decodeParts(text(last[1]))
	if err != nil {
		return nil, err
	}
	var list []ToolCall
	for _, p := range parts {
		if p.Type != abi.PartToolCall {
			continue
		}
		c := ToolCall{ID: p.CallID, Turn: turn, Name: p.Name}
		var row [4]driver.Value
		if ok, err = tx.row("find tool call", row[:], "SELECT state, result, is_error, reason FROM tool_calls WHERE id = ?1", p.CallID); err != nil {
			return nil, err
		}
		if !ok { // cannot be: both are stored together
			c.State, c.Result, c.IsError = CallRefused, resultNotStarted, true
		} else {
			c.State, c.Result, c.IsError, c.Reason = CallState(text(row[0])), text(row[1]), integer(row[2]) != 0, text(row[3])
		}
		list = append(list, c)
	}
	return list, nil
}
