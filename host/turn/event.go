package turn

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
)

// What events show of a tool call, in bytes; the journal's row has all of it.
const (
	maxShownArguments = 2000
	maxShownResult    = 500
)

// ApprovalAsked is the data of an event of type journal.EventApprovalAsked: a
// call waits for a person's word, which Engine.Answer takes.
type ApprovalAsked struct {
	Call      string     `json:"call"`
	Name      string     `json:"name"`
	Arguments string     `json:"arguments"`
	Effect    abi.Effect `json:"effect"`
	// Expires is in Unix milliseconds; then the call is refused.
	Expires int64 `json:"expires"`
}

// ApprovalAnswered is the data of an event of type
// journal.EventApprovalAnswered.
type ApprovalAnswered struct {
	Call  string                `json:"call"`
	State journal.ApprovalState `json:"state"`
	// By is who answered, empty if nobody did.
	By string `json:"by,omitempty"`
}

// ToolStarted is the data of an event of type journal.EventToolStarted. The
// arguments are cut to 2,000 bytes.
type ToolStarted struct {
	Call      string     `json:"call"`
	Name      string     `json:"name"`
	Arguments string     `json:"arguments,omitempty"`
	Effect    abi.Effect `json:"effect"`
}

// ToolEnded is the data of an event of type journal.EventToolEnded. The result
// is cut to 500 bytes.
type ToolEnded struct {
	Call    string            `json:"call"`
	Name    string            `json:"name"`
	State   journal.CallState `json:"state"`
	IsError bool              `json:"is_error,omitempty"`
	// MS is how long it ran, in milliseconds.
	MS     int64  `json:"ms,omitempty"`
	Result string `json:"result,omitempty"`
	// Reason says in a word or two why it did not run or has no result.
	Reason string `json:"reason,omitempty"`
}

// Compacted is the data of an event of type journal.EventCompacted: so many
// turns are a summary now in what the model is shown. Sizes are in bytes.
type Compacted struct {
	Turns int   `json:"turns"`
	From  int64 `json:"from_bytes"`
	To    int64 `json:"to_bytes"`
}

// Ended is the data of the event of type journal.EventTurnEnded.
type Ended struct {
	State     journal.State `json:"state"`
	Marker    string        `json:"marker,omitempty"`
	Candidate string        `json:"candidate,omitempty"`
	// Fallback says that the answer is not of the first candidate (CST-4).
	Fallback bool `json:"fallback,omitempty"`
	// Class and Error tell why there is no complete answer.
	Class string `json:"class,omitempty"`
	Error string `json:"error,omitempty"`
	// WaitMS is how long the provider asks to wait before the next try.
	WaitMS int64 `json:"wait_ms,omitempty"`
	// Finish is the provider's own word for why the model stopped, when it is
	// not one that the plugin knows.
	Finish string `json:"finish,omitempty"`
}

func decision(rule, text string) journal.Event {
	return event(journal.EventDecision, reliability.Decision{Rule: rule, Text: text})
}

// event returns an event with data. The data are this package's own types,
// which always encode.
func event(typ abi.EventType, data any) journal.Event {
	b, err := json.Marshal(data)
	if err != nil {
		b = nil
	}
	return journal.Event{Type: typ, Data: b}
}

func started(c *journal.ToolCall) journal.Event {
	return event(journal.EventToolStarted, ToolStarted{
		Call: c.ID, Name: c.Name, Arguments: cut(c.Arguments, maxShownArguments), Effect: c.Effect,
	})
}

func ended(c *journal.ToolCall, took time.Duration) journal.Event {
	return event(journal.EventToolEnded, ToolEnded{
		Call: c.ID, Name: c.Name, State: c.State, IsError: c.IsError, MS: took.Milliseconds(),
		Result: cut(c.Result, maxShownResult), Reason: c.Reason,
	})
}

// cut shortens s to at most n bytes, at the end of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
