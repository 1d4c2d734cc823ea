package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
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
}

// NewLister writes to the screen; attempts returns the ledger of a turn.
func NewLister(s *Screen, attempts func(turn string) ([]journal.Attempt, error)) *Lister {
	return &Lister{screen: s, attempts: attempts}
}

// Show writes a line for each event.
func (l *Lister) Show(events []journal.Event) error {
	var lines []byte
	for i := range events {
		if events[i].Type == abi.EventText {
			l.text.WriteString(events[i].Text)
		}
		line, err := json.Marshal(events[i])
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		lines = append(append(lines, line...), '\n')
	}
	return l.write(lines)
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
	s.Attempts = len(attempts)
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
