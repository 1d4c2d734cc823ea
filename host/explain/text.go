package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// Text writes the explanation for a person: the sentence first, then the rest.
// Whatever a person or a provider wrote is in it as it is, but on one line.
func (e Explanation) Text() string {
	var b strings.Builder
	b.WriteString(e.Summary + "\n\n")
	e.writeTurn(&b)
	b.WriteString("\nattempts" + e.numbering() + "\n")
	if len(e.Attempts) == 0 {
		b.WriteString("  none\n")
	}
	for i := range e.Attempts {
		e.Attempts[i].write(&b, e.label(e.Attempts[i].Iteration, e.Attempts[i].Number), e.Turn.State.Ended())
	}
	if len(e.Tools) > 0 {
		b.WriteString("\ntools (iteration.call)\n")
	}
	for i := range e.Tools {
		e.Tools[i].write(&b)
	}
	if len(e.Warnings) > 0 {
		b.WriteString("\nwarnings\n")
	}
	for _, w := range e.Warnings {
		b.WriteString("  - " + shorten(w, 300) + "\n")
	}
	if len(e.Decisions) > 0 {
		b.WriteString("\ndecisions\n")
	}
	for _, d := range e.Decisions {
		at := ""
		if d.Attempt > 0 {
			at = "attempt " + e.label(d.Iteration, d.Attempt) + ": "
		}
		fmt.Fprintf(&b, "  %-6s  %s%s\n", d.Rule, at, shorten(d.Text, 300))
	}
	fmt.Fprintf(&b, "\nbilled    %s\n", e.Usage)
	if len(e.Next) > 0 {
		b.WriteString("\nnext\n")
	}
	for _, n := range e.Next {
		b.WriteString("  - " + n + "\n")
	}
	return b.String()
}

// label is the number of an attempt: numbers begin again with each iteration.
func (e *Explanation) label(iteration, number int) string {
	if e.numbering() == "" {
		return fmt.Sprint(number)
	}
	return fmt.Sprintf("%d.%d", iteration, number)
}

func (e *Explanation) numbering() string {
	if a := e.last(); a == nil || a.Iteration <= 1 {
		return ""
	}
	return " (iteration.attempt)"
}

func (e *Explanation) writeTurn(b *strings.Builder) {
	t := &e.Turn
	fmt.Fprintf(b, "turn      %s, session %s, agent %s", t.ID, shorten(t.Session, 60), t.Agent)
	if t.Surface != "" {
		b.WriteString(", from " + shorten(t.Surface, 40))
	}
	fmt.Fprintf(b, "\ntime      %s", t.Created.Format(time.DateTime))
	if t.Ended != nil {
		fmt.Fprintf(b, ", ended after %s", duration(t.Ended.Sub(t.Created).Milliseconds()))
	}
	fmt.Fprintf(b, "\nmessage   %q\n", t.Message)
	switch t.Relation {
	case journal.RelationContinue:
		fmt.Fprintf(b, "after     goes on from turn %s\n", t.After)
	case journal.RelationRetry:
		fmt.Fprintf(b, "after     asks turn %s again\n", t.After)
	}
	if t.Hidden {
		b.WriteString("since     asked again: the model no longer sees this turn\n")
	} else if t.Discarded {
		b.WriteString("since     the partial answer was dropped: the model no longer sees it\n")
	}
	fmt.Fprintf(b, "seen      %s\n", e.Seen)
	if t.Error != "" {
		fmt.Fprintf(b, "error     %s\n", shorten(t.Error, 1000))
	}
}

// write writes an attempt: a line of facts, then what there is of messages and
// tokens.
func (a *Attempt) write(b *strings.Builder, label string, turnEnded bool) {
	how := "not streaming"
	if a.Streaming {
		how = "streaming"
	}
	facts := []string{a.Candidate, how}
	if a.Key != "" {
		facts = append(facts, "key "+a.Key)
	}
	if a.WaitMS > 0 {
		facts = append(facts, "after a wait of "+duration(a.WaitMS))
	}
	facts = append(facts, a.Outcome)
	if a.Status != 0 {
		facts = append(facts, fmt.Sprintf("HTTP %d", a.Status))
	}
	if a.Ended != nil {
		facts = append(facts, "took "+duration(a.Ended.Sub(a.Started).Milliseconds()))
	}
	fmt.Fprintf(b, "  %s  %s\n", label, strings.Join(facts, ", "))
	a.writeMore(b, turnEnded)
}

func (a *Attempt) writeMore(b *strings.Builder, turnEnded bool) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "     "+format+"\n", args...) }
	if a.Outcome == journal.OutcomeUnknown && turnEnded {
		line("the host died before its end was stored: it may have been answered and billed")
	}
	if a.Message != "" {
		line("%s", joined(a.Code, shorten(a.Message, 500)))
	}
	if a.Served != "" {
		line("answered by %s", a.Served)
	}
	if a.Warning != "" {
		line("warning: %s", warning(a.Warning))
	}
	if a.RequestID != "" {
		line("request %s", shorten(a.RequestID, 100))
	}
	if a.Fingerprint != "" {
		line("plugin %s", a.Fingerprint)
	}
	price := "unpriced"
	if a.Price != nil {
		price = "price " + a.Price.nano.In(a.Price.Currency)
	}
	line("seen %s; %s; %s", a.Seen, tokens(a.Usage, a.Source), price)
}

func joined(code, message string) string {
	if code == "" || message == "" {
		return code + message
	}
	return code + ": " + message
}

// tokens says what is known of the tokens of one attempt.
func tokens(u abi.Usage, source journal.UsageSource) string {
	if u == (abi.Usage{}) {
		return "tokens unknown"
	}
	text := numbers(u)
	if source == journal.UsageEstimated {
		text += " (estimated)"
	}
	return text
}

func numbers(u abi.Usage) string {
	parts := []string{"input " + number(u.Input), "output " + number(u.Output)}
	for _, f := range []struct {
		name string
		n    *int64
	}{{"from cache", u.CacheRead}, {"into cache", u.CacheWrite}, {"reasoning", u.Reasoning}} {
		if f.n != nil {
			parts = append(parts, f.name+" "+number(f.n))
		}
	}
	return "tokens: " + strings.Join(parts, ", ")
}

func number(n *int64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

// duration writes milliseconds with a sensible precision.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.String()
}
