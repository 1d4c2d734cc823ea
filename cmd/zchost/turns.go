package main

import (
	"context"
	"errors"
	"time"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/terminal"
)

// turnsCmd lists turns.
type turnsCmd struct {
	Session string `help:"Only those of this session." placeholder:"KEY"`
	State   string `help:"Only those in this state (queued, running, complete, incomplete, interrupted, cancelled or failed)." enum:"queued,running,complete,incomplete,interrupted,cancelled,failed," default:"" placeholder:"STATE"`
	Limit   int    `short:"n" help:"The most turns." default:"20"`
	JSON    bool   `name:"json" help:"Print JSON."`
}

// turnJSON is a turn as `turns --json` prints it.
type turnJSON struct {
	Turn      string           `json:"turn"`
	Session   string           `json:"session"`
	Agent     string           `json:"agent"`
	State     journal.State    `json:"state"`
	Marker    string           `json:"marker,omitempty"`
	Surface   string           `json:"surface,omitempty"`
	Text      string           `json:"text"`
	After     string           `json:"after,omitempty"`
	Relation  journal.Relation `json:"relation,omitempty"`
	Hidden    bool             `json:"hidden,omitempty"`
	Discarded bool             `json:"discarded,omitempty"`
	Candidate string           `json:"candidate,omitempty"`
	Fallback  bool             `json:"fallback,omitempty"`
	Class     string           `json:"error_class,omitempty"`
	Error     string           `json:"error,omitempty"`
	Visible   bool             `json:"visible"`
	Events    int64            `json:"events"`
	Created   time.Time        `json:"created"`
	Started   *time.Time       `json:"started,omitempty"`
	Ended     *time.Time       `json:"ended,omitempty"`
}

// Run prints the turns.
func (c turnsCmd) Run(ctx context.Context, a *app) error {
	if c.Limit < 1 {
		return fault.New(fault.Usage, "--limit has to be at least 1", "")
	}
	return a.withJournal(ctx, func() error { return c.print(a, nil) }, func(r *journal.Reader) error {
		turns, err := c.read(ctx, r)
		if err != nil {
			return err
		}
		return c.print(a, turns)
	})
}

func (c turnsCmd) read(ctx context.Context, r *journal.Reader) ([]journal.Turn, error) {
	filter := journal.TurnFilter{State: journal.State(c.State), Limit: c.Limit}
	if c.Session != "" {
		s, err := session(ctx, r, c.Session)
		if err != nil {
			return nil, err
		}
		filter.Session = s.ID
	}
	return r.Turns(ctx, filter)
}

func (c turnsCmd) print(a *app, turns []journal.Turn) error {
	if c.JSON {
		list := make([]turnJSON, len(turns))
		for i, t := range turns {
			list[i] = turnJSON{
				Turn: t.ID, Session: t.Session, Agent: t.Agent, State: t.State, Marker: t.Marker, Surface: t.Surface,
				Text: t.Text, After: t.After, Relation: t.Relation, Hidden: t.Hidden, Discarded: t.Discarded, Candidate: t.Candidate, Fallback: t.Fallback, Class: string(t.Error.Class), Error: t.Error.Message,
				Visible: t.Visible, Events: t.Events, Created: t.Created, Started: known(t.Started), Ended: known(t.Ended),
			}
		}
		return a.printJSON(list)
	}
	if len(turns) == 0 {
		return a.screen.Note("there are no turns")
	}
	table := terminal.NewTable("TURN", "TIME", "SESSION", "STATE", "ANSWERED BY", "MESSAGE")
	for _, t := range turns {
		table.Add(t.ID, clock(t.Created), terminal.Shorten(t.Session, 20), string(t.State), answeredBy(t.Candidate, t.Fallback), terminal.Shorten(said(t), 40))
	}
	return table.Write(a.screen)
}

// said is what the person wrote, or did instead.
func said(t journal.Turn) string {
	switch t.Relation {
	case journal.RelationContinue:
		return "(continue " + t.After + ")"
	case journal.RelationRetry:
		return "(retry) " + t.Text
	}
	return t.Text
}

// answeredBy names whose text an answer is, and says so if it is not the
// profile's first candidate (CST-4).
func answeredBy(candidate string, fallback bool) string {
	if fallback && candidate != "" {
		return candidate + " (fallback)"
	}
	return candidate
}

// session finds a session by its key.
func session(ctx context.Context, r *journal.Reader, key string) (journal.Session, error) {
	s, err := r.Session(ctx, key)
	if errors.Is(err, journal.ErrNotFound) {
		return s, noSession(key)
	}
	return s, err
}

func noSession(key string) error {
	return fault.New(fault.NotFound, "there is no session "+terminal.Shorten(key, 60), "zchost sessions lists them")
}

// clock shows a time in the person's zone.
func clock(t time.Time) string { return t.Local().Format(time.DateTime) }

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
