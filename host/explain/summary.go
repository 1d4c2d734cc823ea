package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
)

// summary is one sentence that says how the turn stands, and why.
func (e *Explanation) summary() string {
	switch e.Turn.State {
	case journal.Queued:
		return "waiting: an earlier turn of the session has not ended"
	case journal.Running:
		return "running: " + e.progress()
	case journal.Complete:
		return "complete: " + e.completed()
	case journal.Incomplete:
		return "incomplete: " + e.incomplete() + e.kept() + e.changed()
	case journal.Interrupted:
		return e.interrupted() + e.changed()
	case journal.Cancelled:
		return "cancelled " + e.cancelled() + e.kept() + e.changed()
	case journal.Failed:
		return e.failed() + e.changed()
	}
	return string(e.Turn.State)
}

func (e *Explanation) last() *Attempt {
	if len(e.Attempts) == 0 {
		return nil
	}
	return &e.Attempts[len(e.Attempts)-1]
}

// changed says that tools have changed something, which no end takes back.
func (e *Explanation) changed() string {
	switch n := e.effects(); n {
	case 0:
		return ""
	case 1:
		return "; a tool has changed something, or may have"
	default:
		return fmt.Sprintf("; %d tool calls have changed something, or may have", n)
	}
}

func (e *Explanation) progress() string {
	a, waits := e.last(), e.find(asked(journal.ApprovalPending))
	runs := e.find(in(journal.CallRunning))
	switch {
	case waits != nil:
		return fmt.Sprintf("it waits for a person's word whether %s may run, until %s", waits.Name, waits.Approval.Expires.Format(time.TimeOnly))
	case runs != nil:
		return fmt.Sprintf("the tool %s runs", runs.Name)
	case a == nil:
		return "no model has been asked yet"
	case a.Outcome == journal.OutcomeUnknown:
		return fmt.Sprintf("attempt %s, at %s, has not ended", e.label(a.Iteration, a.Number), a.Candidate)
	}
	return fmt.Sprintf("attempt %s, at %s, ended: %s; the next step is decided", e.label(a.Iteration, a.Number), a.Candidate, outcome(a))
}

func (e *Explanation) completed() string {
	var b strings.Builder
	b.WriteString(or(e.Turn.Candidate, "the model") + " answered")
	if first := e.firstFailed(); first != nil {
		if e.Turn.Fallback {
			b.WriteString(" as a fallback")
		}
		fmt.Fprintf(&b, ", after %s failed (%s); %s", first.Candidate, outcome(first), count(len(e.Attempts), "attempt"))
	} else if e.Turn.Fallback {
		b.WriteString(" as a fallback: the first candidate was not asked")
	}
	if a := e.last(); a != nil && a.Warning != "" {
		b.WriteString(", with a warning: " + warning(a.Warning))
	}
	return b.String()
}

// firstFailed is the first attempt that gave no answer, nil if all did.
func (e *Explanation) firstFailed() *Attempt {
	for i := range e.Attempts {
		if e.Attempts[i].Outcome != journal.OutcomeComplete {
			return &e.Attempts[i]
		}
	}
	return nil
}

// cause is the first failed attempt of the last iteration, nil if it has none.
func (e *Explanation) cause() *Attempt {
	last := e.last()
	for i := range e.Attempts {
		if a := &e.Attempts[i]; a.Iteration == last.Iteration && a.Outcome != journal.OutcomeComplete {
			return a
		}
	}
	return nil
}

func (e *Explanation) incomplete() string {
	who := or(e.Turn.Candidate, "the model")
	switch marker.Code(e.Turn.Marker) {
	case marker.IncompleteFilter:
		return who + " was stopped by the provider's content filter" + e.rule()
	case marker.IncompleteRefusal:
		return who + " declined to answer" + e.rule()
	case marker.IncompletePause:
		return who + " paused before the end" + e.rule()
	case marker.IncompleteLimit:
		if why := e.habit(); why != "" {
			return who + " was stopped: " + why + e.rule()
		}
		return who + " called tools up to the limit" + e.rule()
	default:
		return who + " reached the output limit" + e.rule()
	}
}

func (e *Explanation) interrupted() string {
	a := e.last()
	byRestart := marker.Code(e.Turn.Marker) == marker.InterruptedByRestart
	lost := e.find(in(journal.CallUnknown))
	var b strings.Builder
	switch {
	case byRestart && lost != nil:
		return fmt.Sprintf("interrupted by restart: the host stopped while the tool %s ran; whether it took effect is unknown%s", lost.Name, e.kept())
	case byRestart && a == nil:
		return "interrupted by restart: the host stopped before a model was asked"
	case byRestart:
		b.WriteString("interrupted by restart: the host stopped ")
		if a.Outcome == journal.OutcomeUnknown {
			fmt.Fprintf(&b, "while %s was asked; what became of attempt %s is unknown", a.Candidate, e.label(a.Iteration, a.Number))
		} else {
			fmt.Fprintf(&b, "after attempt %s at %s (%s)", e.label(a.Iteration, a.Number), a.Candidate, outcome(a))
		}
		b.WriteString(e.kept())
	case a == nil:
		return "interrupted: " + or(shorten(e.Turn.Error, 300), "no model was asked")
	case a.Outcome == outcomeEmpty:
		fmt.Fprintf(&b, "interrupted after output: %s gave %s and then no answer; nothing was asked again%s%s",
			a.Candidate, e.Seen, e.rule(), e.kept())
	default:
		what := "the answer"
		if a.Streaming {
			what = "the stream"
		}
		fmt.Fprintf(&b, "interrupted after output: %s of %s was cut (%s) after %s; nothing was asked again%s%s",
			what, a.Candidate, outcome(a), e.Seen, e.rule(), e.kept())
	}
	return b.String()
}

func (e *Explanation) cancelled() string {
	who := "by the user"
	if marker.Code(e.Turn.Marker) == marker.CancelledClientRPC {
		who = "by a client"
	}
	a, stopped, waited := e.last(), e.find(in(journal.CallCancelled)), e.find(asked(journal.ApprovalCancelled))
	switch {
	case a == nil:
		return who + " before a model was asked"
	case waited != nil:
		return fmt.Sprintf("%s while it was asked whether %s may run", who, waited.Name)
	case stopped != nil:
		return fmt.Sprintf("%s while the tool %s ran; what it did until then is not known", who, stopped.Name)
	case e.Seen.Any():
		return fmt.Sprintf("%s while %s was answering, after %s", who, a.Candidate, e.Seen)
	default:
		return fmt.Sprintf("%s while %s was asked, before any output", who, a.Candidate)
	}
}

func (e *Explanation) failed() string {
	first, why := e.cause(), or(shorten(e.Turn.Error, 300), "no reason is stored")
	switch {
	case e.Turn.Class == string(reliability.ClassBudget):
		return "refused by a budget: " + why + " (CST-5)"
	case len(e.Attempts) == 0:
		return "failed before a model was asked: " + why
	case first == nil:
		return "failed: " + why
	}
	var b strings.Builder
	if first.Iteration > 1 {
		fmt.Fprintf(&b, "failed in iteration %d, before its output: %s", first.Iteration, outcome(first))
	} else {
		fmt.Fprintf(&b, "failed before output: %s", outcome(first))
	}
	if first.Message != "" {
		b.WriteString(": " + shorten(first.Message, 160))
	}
	fmt.Fprintf(&b, "; %s at %s", count(len(e.Attempts), "attempt"), strings.Join(e.candidates(), ", "))
	b.WriteString("; nobody is left to ask" + e.rule())
	if e.Turn.WaitMS > 0 {
		fmt.Fprintf(&b, "; the provider asks to wait %s", duration(e.Turn.WaitMS))
	}
	return b.String()
}

// candidates are those that were asked, each once.
func (e *Explanation) candidates() []string {
	var list []string
	seen := map[string]bool{}
	for _, a := range e.Attempts {
		if !seen[a.Candidate] {
			seen[a.Candidate] = true
			list = append(list, a.Candidate)
		}
	}
	return list
}

// rule is the rule of the last decision, in brackets.
func (e *Explanation) rule() string {
	if len(e.Decisions) == 0 {
		return ""
	}
	return " (" + e.Decisions[len(e.Decisions)-1].Rule + ")"
}

// kept says what remains of the answer (MRK-2).
func (e *Explanation) kept() string {
	if e.Turn.Marker == "" {
		return ""
	}
	words := marker.English(marker.Code(e.Turn.Marker))
	if e.Seen.Text == 0 {
		return "; there was no text to keep: " + words + " stands alone"
	}
	return "; the partial answer was kept with " + words
}

// outcomeEmpty is the outcome of an attempt that ended well and gave neither
// text nor a tool call (REL-5).
const outcomeEmpty = "empty"

// outcome is how an attempt went, with its status where that says more.
func outcome(a *Attempt) string {
	switch {
	case a.Outcome == outcomeEmpty:
		return "an empty answer"
	case a.Status >= 300:
		return fmt.Sprintf("%s, HTTP %d", a.Outcome, a.Status)
	}
	return a.Outcome
}

// String lists what was seen.
func (s Seen) String() string {
	var parts []string
	if s.Text > 0 {
		parts = append(parts, count(s.Text, "character"))
	}
	if s.Reasoning > 0 {
		parts = append(parts, count(s.Reasoning, "character")+" of reasoning")
	}
	if s.ProviderTools > 0 {
		parts = append(parts, count(s.ProviderTools, "tool event")+" of the provider")
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func warning(code string) string {
	if code == "completion-signal-missing" {
		return "the completion signal was missing (STR-1)"
	}
	return code
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
