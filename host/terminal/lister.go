package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/cost"
	"github.com/zchost/zchost/host/journal"
)

// Summary is the last line of `zchost send --json`.
type Summary struct {
	// Type is "summary".
	Type string `json:"type"`
	// Turn is the turn's id, Session the session's key.
	Turn    string `json:"turn"`
	Session string `json:"session"`
	// State is where the turn ended.
	State journal.State `json:"state"`
	// Marker is the marker's code, not its rendering.
	Marker string `json:"marker,omitempty"`
	// Text is the answer as far as it came.
	Text string `json:"text"`
	// Candidate is the "provider/model" whose text it is.
	Candidate string `json:"candidate,omitempty"`
	// Fallback says that Candidate is not the profile's first (CST-4).
	Fallback bool `json:"fallback,omitempty"`
	// Error is why there is no whole answer.
	Error *SummaryError `json:"error,omitempty"`
	// Attempts is how many requests were made.
	Attempts int `json:"attempts"`
	// Usage adds up what the attempts reported; a field that no attempt
	// reported is absent.
	Usage abi.Usage `json:"usage"`
	// Unknown is how many attempts reported no usage.
	Unknown int `json:"usage_unknown"`
	// Cost adds up the prices, a decimal number for each currency; Unpriced is
	// how many attempts have none (CST-3).
	Cost     map[string]string `json:"cost,omitempty"`
	Unpriced int               `json:"unpriced"`
	// ToolCalls is how many calls the model made.
	ToolCalls int `json:"tool_calls,omitempty"`
	// ExitCode is the exit code of the program.
	ExitCode int `json:"exit_code"`
}

// SummaryError is why there is no whole answer.
type SummaryError struct {
	Class   abi.FailureClass `json:"class,omitempty"`
	Message string           `json:"message"`
}

// Lister shows a turn as JSON, an event a line, and a Summary at the end.
type Lister struct {
	screen *Screen
	// attempts returns the ledger of a turn.
	attempts func(turn string) ([]journal.Attempt, error)
	text     strings.Builder
	inLine   bool // the text does not end with a newline
	parted   bool // what comes next is another message
	calls    int
}

// NewLister writes to the screen; attempts returns the ledger of a turn.
func NewLister(s *Screen, attempts func(turn string) ([]journal.Attempt, error)) *Lister {
	return &Lister{screen: s, attempts: attempts}
}

// Show writes a line for each event.
func (l *Lister) Show(events []journal.Event) error {
	var lines []byte
	for i := range events {
		l.take(&events[i])
		line, err := json.Marshal(events[i])
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		lines = append(append(lines, line...), '\n')
	}
	return l.write(lines)
}

// take adds to the answer's text. What the model says before a tool call and
// after it are two messages.
func (l *Lister) take(e *journal.Event) {
	switch e.Type {
	case abi.EventText:
		if l.parted && e.Text != "" {
			l.text.WriteByte('\n')
			l.parted = false
		}
		l.text.WriteString(e.Text)
		l.inLine = l.inLine && e.Text == "" || e.Text != "" && !strings.HasSuffix(e.Text, "\n")
	case journal.EventToolEnded:
		l.calls++
		l.parted = l.inLine
	default:
	}
}

// Waiting does nothing.
func (l *Lister) Waiting(time.Duration) {}

// Notice tells it beside the JSON.
func (l *Lister) Notice(text string) error { return l.screen.Note(text) }

// End writes the summary.
func (l *Lister) End(t journal.Turn) error {
	s := Summary{
		Type: "summary", Turn: t.ID, Session: t.Session, State: t.State, Marker: t.Marker,
		Text: l.text.String(), Candidate: t.Candidate, Fallback: t.Fallback, ExitCode: ExitCode(t),
	}
	if t.Error != (journal.TurnError{}) {
		s.Error = &SummaryError{Class: t.Error.Class, Message: t.Error.Message}
	}
	attempts, err := l.attempts(t.ID)
	if err != nil {
		return fmt.Errorf("read attempts of %s: %w", t.ID, err)
	}
	s.Attempts, s.ToolCalls = len(attempts), l.calls
	s.addCost(attempts)
	for _, a := range attempts {
		if a.UsageSource == journal.UsageUnknown || a.UsageSource == "" {
			s.Unknown++
		}
		addUsage(&s.Usage, a.Usage)
	}
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode summary: %w", err)
	}
	return l.write(append(line, '\n'))
}

// addCost adds up the prices, by currency.
func (s *Summary) addCost(attempts []journal.Attempt) {
	sums := map[string]cost.Amount{}
	for _, a := range attempts {
		if a.Price == nil {
			s.Unpriced++
			continue
		}
		sums[a.Currency] += cost.Amount(*a.Price)
	}
	for currency, sum := range sums {
		if s.Cost == nil {
			s.Cost = map[string]string{}
		}
		s.Cost[currency] = sum.String()
	}
}

func (l *Lister) write(b []byte) error {
	if _, err := l.screen.Out.Write(b); err != nil {
		return fmt.Errorf("write events: %w", err)
	}
	return nil
}

// addUsage adds what is known.
func addUsage(sum *abi.Usage, u abi.Usage) {
	for _, f := range []struct{ to, from **int64 }{
		{&sum.Input, &u.Input}, {&sum.Output, &u.Output}, {&sum.CacheRead, &u.CacheRead},
		{&sum.CacheWrite, &u.CacheWrite}, {&sum.Reasoning, &u.Reasoning},
	} {
		if *f.from == nil {
			continue
		}
		n := **f.from
		if *f.to != nil {
			n += **f.to
		}
		*f.to = &n
	}
}
