package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// Bounds of what is shown of a call, in characters.
const (
	maxArguments = 400
	maxResult    = 200
)

// Tool is one call of a tool by the model.
type Tool struct {
	Call      string `json:"call"`
	Iteration int    `json:"iteration"`
	N         int    `json:"n"`
	Name      string `json:"name"`
	// Arguments are cut at 400 characters, Result at 200.
	Arguments string     `json:"arguments"`
	Effect    abi.Effect `json:"effect,omitempty"`
	// Source is where the tool comes from.
	Source string            `json:"source,omitempty"`
	State  journal.CallState `json:"state"`
	// Reason says in a word or two why it did not run or has no result.
	Reason   string     `json:"reason,omitempty"`
	Result   string     `json:"result,omitempty"`
	IsError  bool       `json:"is_error,omitempty"`
	Approval *Approval  `json:"approval,omitempty"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
}

// Approval is the question to a person whether a call may run.
type Approval struct {
	State    journal.ApprovalState `json:"state"`
	By       string                `json:"by,omitempty"`
	Asked    time.Time             `json:"asked"`
	Expires  time.Time             `json:"expires"`
	Answered *time.Time            `json:"answered,omitempty"`
}

func toolsOf(calls []journal.ToolCall, approvals []journal.Approval) []Tool {
	asked := make(map[string]*Approval, len(approvals))
	for _, a := range approvals {
		asked[a.Call] = &Approval{State: a.State, By: a.By, Asked: a.Asked, Expires: a.Expires, Answered: known(a.Answered)}
	}
	list := make([]Tool, len(calls))
	for i, c := range calls {
		list[i] = Tool{
			Call: c.ID, Iteration: c.Iteration, N: c.N, Name: c.Name, Arguments: shorten(c.Arguments, maxArguments),
			Effect: c.Effect, Source: c.Source, State: c.State, Reason: c.Reason, Result: shorten(c.Result, maxResult),
			IsError: c.IsError, Approval: asked[c.ID], Started: known(c.Started), Ended: known(c.Ended),
		}
	}
	return list
}

// ran reports whether the call began, so that it may have changed something.
func (t *Tool) ran() bool {
	return t.State != journal.CallRefused && t.State != journal.CallRequested
}

// effects counts the calls that changed something, or may have.
func (e *Explanation) effects() int {
	n := 0
	for i := range e.Tools {
		if t := &e.Tools[i]; t.ran() && t.Effect == abi.EffectWrite {
			n++
		}
	}
	return n
}

// find returns the last call for which is holds, nil if there is none.
func (e *Explanation) find(is func(*Tool) bool) *Tool {
	for i := len(e.Tools) - 1; i >= 0; i-- {
		if is(&e.Tools[i]) {
			return &e.Tools[i]
		}
	}
	return nil
}

func asked(s journal.ApprovalState) func(*Tool) bool {
	return func(t *Tool) bool { return t.Approval != nil && t.Approval.State == s }
}

func in(s journal.CallState) func(*Tool) bool {
	return func(t *Tool) bool { return t.State == s }
}

// write writes a call: what was called, then what became of it.
func (t *Tool) write(b *strings.Builder) {
	fmt.Fprintf(b, "  %d.%d  %s %s\n", t.Iteration, t.N, t.Name, t.Arguments)
	facts := []string{"no such tool"}
	if t.Effect != "" || t.Source != "" {
		facts = []string{"effect " + or(string(t.Effect), "unknown"), or(t.Source, "of an unknown source")}
	}
	fmt.Fprintf(b, "       %s; %s\n", strings.Join(facts, ", "), t.outcome())
	if a := t.Approval; a != nil {
		fmt.Fprintf(b, "       approval: %s\n", a)
	}
	if t.Result != "" && t.State != journal.CallUnknown && t.State != journal.CallCancelled {
		fmt.Fprintf(b, "       result: %s\n", t.Result)
	}
}

// outcome says in plain words what became of a call.
func (t *Tool) outcome() string {
	switch t.State {
	case journal.CallRequested:
		return "not run yet"
	case journal.CallRunning:
		return "running"
	case journal.CallDone:
		text := "done"
		if t.IsError {
			text = "failed"
		}
		if t.Started != nil && t.Ended != nil {
			text += " after " + duration(t.Ended.Sub(*t.Started).Milliseconds())
		}
		if t.IsError && t.Reason != "" {
			text += " (" + t.Reason + ")"
		}
		return text
	case journal.CallRefused:
		return "not run (" + or(t.Reason, "refused") + ")"
	case journal.CallCancelled:
		return "stopped before it had a result; what it did until then is not known"
	case journal.CallUnknown:
		if t.Reason != "" && t.Reason != journal.ReasonHostStopped {
			return "whether it took effect is unknown (" + t.Reason + "), and the model was told so"
		}
		return "the host stopped while it ran: whether it took effect is unknown, and the model was told so"
	}
	return string(t.State)
}

// String says who allowed a call, or why nobody did.
func (a *Approval) String() string {
	after := ""
	if a.Answered != nil {
		after = " after " + duration(a.Answered.Sub(a.Asked).Milliseconds())
	}
	by := ""
	if a.By != "" {
		by = " by " + shorten(a.By, 100)
	}
	switch a.State {
	case journal.ApprovalPending:
		return "asked, and not answered yet"
	case journal.ApprovalExpired:
		return "nobody answered" + after
	case journal.ApprovalCancelled:
		return "the turn ended" + after + ", before anybody answered"
	case journal.ApprovalApproved, journal.ApprovalDenied:
	}
	return string(a.State) + by + after
}
