// Package marker turns the codes that say how a turn ended into words, and
// holds the few other notices that a person sees beside an answer, in all
// languages that zchost speaks.
//
// A marker is stored as its code, beside the text and never inside it. Each
// surface renders it when it shows it (MRK-1); the model's history gets
// English (MRK-3).
package marker

// Code names a marker. Codes are in the journal, so they never change.
type Code string

// The markers.
const (
	// StreamInterrupted: the transport died mid-turn; nobody stopped it.
	StreamInterrupted Code = "turn-stream-interrupted"
	// InterruptedByUser: a person stopped it.
	InterruptedByUser Code = "turn-interrupted-by-user"
	// CancelledClientRPC: a client cancelled it over RPC, WebSocket, HTTP or
	// ACP.
	CancelledClientRPC Code = "turn-cancelled-client-rpc"
	// ToolInterrupted: the result text of a tool that was cut off.
	ToolInterrupted Code = "turn-tool-interrupted-before-result"
	// TurnFailed: the chain ended without an answer.
	TurnFailed Code = "turn-failed"
	// InterruptedByRestart: recovery settled it without going on.
	InterruptedByRestart Code = "turn-interrupted-by-restart"
	// IncompleteLength: the model reached its output limit (STR-5).
	IncompleteLength Code = "turn-incomplete-length"
	// IncompleteFilter: the provider's content filter ended the answer (STR-5).
	IncompleteFilter Code = "turn-incomplete-filter"
	// IncompleteRefusal: the model declined (STR-5).
	IncompleteRefusal Code = "turn-incomplete-refusal"
	// IncompleteLimit: the turn used all its tool iterations.
	IncompleteLimit Code = "turn-incomplete-limit"
	// IncompletePause: the provider paused the answer to have it asked again
	// (STR-5).
	IncompletePause Code = "turn-incomplete-pause"
)

// The notices, which have codes only in the catalogues.
const (
	noticeAnsweredBy Code = "notice-answered-by"
	noticeWait       Code = "notice-wait"
	noticeNoAnswer   Code = "notice-no-answer"
)

// Codes returns all markers in the order of the specification.
func Codes() []Code {
	return []Code{
		StreamInterrupted, InterruptedByUser, CancelledClientRPC, ToolInterrupted, TurnFailed, InterruptedByRestart,
		IncompleteLength, IncompleteFilter, IncompleteRefusal, IncompleteLimit, IncompletePause,
	}
}

// English is the fixed rendering that the model's history gets (MRK-3). A code
// that this version does not know is put in brackets.
func English(code Code) string {
	switch code {
	case StreamInterrupted:
		return "[stream interrupted]"
	case InterruptedByUser:
		return "[interrupted by user]"
	case CancelledClientRPC:
		return "[turn cancelled via client]"
	case ToolInterrupted:
		return "[interrupted by user before this tool produced a result]"
	case TurnFailed:
		return "[turn failed]"
	case InterruptedByRestart:
		return "[interrupted by restart]"
	case IncompleteLength:
		return "[answer cut at the output limit]"
	case IncompleteFilter:
		return "[answer stopped by a content filter]"
	case IncompleteRefusal:
		return "[the model declined to answer]"
	case IncompleteLimit:
		return "[stopped at the limit of tool calls]"
	case IncompletePause:
		return "[the model paused before the end]"
	case noticeAnsweredBy:
		return "[answered by {candidate}]"
	case noticeWait:
		return "[the model asks to wait {wait}]"
	case noticeNoAnswer:
		return "[the model gave no answer]"
	}
	return "[" + string(code) + "]"
}
