package reliability

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ChainError says why there is no complete answer: every attempt and the first
// cause (REL-12).
type ChainError struct {
	Attempts []Tried
	// Skipped are candidates that were not asked, and why.
	Skipped []string
	// Class is the class of the first failure, or "empty".
	Class string
	// Message is the provider's text of the first failure, bounded.
	Message string
	// Wait is how long a provider asks to wait before the next try, 0 if none
	// does.
	Wait time.Duration
	// Reason is set when the chain ended for a reason of the host's own: the
	// deadline, a cancellation, a journal that cannot be written.
	Reason error
}

// Tried is one attempt that a ChainError names.
type Tried struct {
	Candidate string
	Outcome   string
	Status    int
	Wait      time.Duration
}

// Error is one line, with the first cause first.
func (e *ChainError) Error() string {
	var b strings.Builder
	if e.Class != "" {
		b.WriteString(e.Class)
		if e.Message != "" {
			b.WriteString(": " + e.Message)
		}
		b.WriteString(map[bool]string{true: ": ", false: "; "}[e.Class == string(ClassBudget) && e.Message == ""])
	}
	if e.Reason != nil {
		b.WriteString(e.Reason.Error() + "; ")
	}
	fmt.Fprintf(&b, "%d attempt", len(e.Attempts))
	if len(e.Attempts) != 1 {
		b.WriteByte('s')
	}
	for i, t := range e.Attempts {
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		fmt.Fprintf(&b, "%s %s", t.Candidate, t.Outcome)
		if t.Status != 0 {
			fmt.Fprintf(&b, " (%d)", t.Status)
		}
		if t.Wait > 0 {
			fmt.Fprintf(&b, " wait %s", t.Wait)
		}
	}
	for _, s := range e.Skipped {
		b.WriteString("; not asked: " + s)
	}
	if e.Wait > 0 {
		fmt.Fprintf(&b, "; try again in %s", e.Wait)
	}
	return b.String()
}

// Unwrap returns the host's own reason.
func (e *ChainError) Unwrap() error { return e.Reason }

// chainError collects what went wrong.
func (r *run) chainError(ctx context.Context, err error) *ChainError {
	e := &ChainError{Reason: err}
	if err == nil && ctx.Err() != nil {
		if e.Reason = context.Cause(ctx); errors.Is(e.Reason, errDeadline) {
			e.Reason = fmt.Errorf("the turn's deadline (turn_deadline = %s) was reached", r.chain.Deadline)
		}
	}
	if r.refused != nil {
		e.Reason = r.refused
		if len(r.made) == 0 {
			e.Class = string(ClassBudget)
		}
	}
	for _, a := range r.made {
		e.Attempts = append(e.Attempts, Tried{Candidate: a.cand.Name(), Outcome: a.outcome(), Status: a.row.Status, Wait: a.wait})
		if e.Class != "" || a.ctxErr != nil {
			continue
		}
		if a.failure != nil {
			e.Class, e.Message = string(a.failure.Class), a.failure.Message
		} else if a.empty() {
			e.Class, e.Message = OutcomeEmpty, "the model gave no answer"
		}
	}
	if n := len(r.made); n > 0 && r.made[n-1].failure != nil && reactionTo(r.made[n-1].failure.Class).retry {
		e.Wait = r.made[n-1].wait
	}
	for _, s := range r.skipped {
		e.Class = or(e.Class, string(s.class))
		e.Skipped = append(e.Skipped, s.cand.Name()+": "+s.why)
		e.Wait = max(e.Wait, s.wait.Round(time.Second))
	}
	return e
}
