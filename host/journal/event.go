package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/zchost/zchost/abi"
)

// Event is one thing that happened in a turn, as the journal and the sink's
// readers have it. The slice and strings in it are shared and never changed.
type Event struct {
	// N is the event's number in its turn, from 1 without gaps (SNK-1).
	N int64
	// Attempt is the attempt that it belongs to; 0 for none (SNK-3).
	Attempt int64
	// At is when it happened, to the millisecond.
	At time.Time
	// Type is one of abi's event types or of those below.
	Type abi.EventType
	// Text is the text of a text or reasoning event.
	Text string
	// Data is a JSON object with all that Type and Text do not say; absent if
	// there is nothing more.
	Data abi.Raw
}

// The types of event that the host adds to those of abi.
const (
	EventTurnStarted    abi.EventType = "turn_started"
	EventAttemptStarted abi.EventType = "attempt_started"
	EventAttemptEnded   abi.EventType = "attempt_ended"
	EventRetrying       abi.EventType = "retrying"
	EventFallingBack    abi.EventType = "falling_back"
	EventWarning        abi.EventType = "warning"
	EventDecision       abi.EventType = "decision"
	EventTurnEnded      abi.EventType = "turn_ended"
	// EventApprovalAsked and EventApprovalAnswered are about one tool call;
	// EventToolStarted comes when it is about to run, EventToolEnded when its
	// result is stored, run or not.
	EventApprovalAsked    abi.EventType = "approval_asked"
	EventApprovalAnswered abi.EventType = "approval_answered"
	EventToolStarted      abi.EventType = "tool_started"
	EventToolEnded        abi.EventType = "tool_ended"
	// EventCompacted says that earlier turns were replaced by a summary in
	// what the model is shown.
	EventCompacted abi.EventType = "compacted"
)

// eventJSON is an Event as JSON; at is in Unix milliseconds.
type eventJSON struct {
	N       int64         `json:"n"`
	Attempt int64         `json:"attempt,omitempty"`
	At      int64         `json:"at"`
	Type    abi.EventType `json:"type"`
	Text    string        `json:"text,omitempty"`
	Data    abi.Raw       `json:"data,omitempty"`
}

// MarshalJSON gives {"n","attempt","at","type","text","data"}, without those
// that are empty; at is in Unix milliseconds.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{e.N, e.Attempt, e.At.UnixMilli(), e.Type, e.Text, e.Data})
}

// UnmarshalJSON reads what MarshalJSON gives.
func (e *Event) UnmarshalJSON(data []byte) error {
	var j eventJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	*e = Event{N: j.N, Attempt: j.Attempt, At: time.UnixMilli(j.At), Type: j.Type, Text: j.Text, Data: j.Data}
	return nil
}
