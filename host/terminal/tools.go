package terminal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zchost/zchost/host/journal"
)

// toolNotice is what a person is told of tool calls. The host writes these
// fields as the data of its events (host/turn/event.go).
type toolNotice struct {
	Call      string            `json:"call"`
	Name      string            `json:"name"`
	Arguments string            `json:"arguments"`
	State     journal.CallState `json:"state"`
	IsError   bool              `json:"is_error"`
	Result    string            `json:"result"`
	Reason    string            `json:"reason"`
}

// tool shows what became of a tool call. Someone who does not look at a
// terminal is told only of calls that no person allowed.
func (r *Renderer) tool(e *journal.Event) error {
	var n toolNotice
	if err := json.Unmarshal(e.Data, &n); err != nil {
		return fmt.Errorf("decode %s event: %w", e.Type, err)
	}
	r.newLine() // what the model says next is another message
	switch e.Type {
	case journal.EventToolStarted:
		r.running = append(r.running, n.Name)
		if r.screen.Terminal {
			return r.Notice("· " + strings.TrimSpace(n.Name+" "+ArgumentLine(n.Arguments)))
		}
	case journal.EventToolEnded:
		if i := slices.Index(r.running, n.Name); i >= 0 {
			r.running = slices.Delete(r.running, i, i+1)
		}
		if r.screen.Terminal || unanswered(n.Reason) {
			return r.toolEnded(n)
		}
	case journal.EventApprovalAsked:
		r.question = n.Call
		r.clearStatus()
		return r.flush()
	case journal.EventApprovalAnswered:
		r.question = ""
	default:
	}
	return nil
}

// toolEnded tells of a call that has no good result. A good one is the model's
// affair.
func (r *Renderer) toolEnded(n toolNotice) error {
	switch {
	case n.State == journal.CallRefused && n.Reason == notApproved:
		return r.Notice(n.Name + " was not run: it needs an approval, and nobody can be asked here; " + approveHint)
	case n.State == journal.CallRefused && n.Reason == "expired":
		return r.Notice(n.Name + " was not run: nobody answered in time")
	case n.State == journal.CallRefused && n.Reason == "denied":
		return r.Notice(n.Name + " was not run: it was not allowed")
	case n.State == journal.CallRefused:
		return r.Notice(fmt.Sprintf("· %s was not run (%s): %s", n.Name, n.Reason, firstLine(n.Result)))
	case n.State == journal.CallCancelled:
		return r.Notice("· " + n.Name + " was stopped; it may have taken effect in part")
	case n.State == journal.CallUnknown:
		why := cmp.Or(n.Reason, journal.ReasonHostStopped)
		return r.Notice("· " + n.Name + ": whether it took effect is unknown (" + why + ")")
	case n.IsError:
		return r.Notice("· " + n.Name + " failed: " + cmp.Or(firstLine(n.Result), n.Reason))
	}
	return nil
}

// notApproved is the reason of a call that nobody could be asked about.
const notApproved = "not approved"

const approveHint = "zchost chat on a terminal asks, and approve = \"never\" of the agent allows it"

// unanswered reports whether a call did not run for want of a person's yes.
func unanswered(reason string) bool {
	return reason == notApproved || reason == "denied" || reason == "expired"
}

// compacted tells that the model no longer sees all of the conversation.
func (r *Renderer) compacted(e *journal.Event) error {
	var n struct {
		Turns int `json:"turns"`
	}
	if err := json.Unmarshal(e.Data, &n); err != nil {
		return fmt.Errorf("decode %s event: %w", e.Type, err)
	}
	what := fmt.Sprintf("%d earlier turns", n.Turns)
	if n.Turns == 1 {
		what = "1 earlier turn"
	}
	return r.Notice(what + " became a summary, to fit the model's window; zchost sessions show has all of it")
}

// firstLine is the first line of a result that says something.
func firstLine(s string) string {
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(l); l != "" {
			return Shorten(Unhide(l), maxLineColumns)
		}
	}
	return ""
}
