package main

import (
	"context"
	"errors"
	"strings"

	"github.com/zchost/zchost/host/explain"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// whyCmd explains a turn.
type whyCmd struct {
	Turn string `arg:"" optional:"" help:"The turn's id or its beginning; the last turn if there is none."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints the explanation.
func (c whyCmd) Run(ctx context.Context, a *app) error {
	return a.withJournal(ctx, noTurns, func(r *journal.Reader) error {
		id, err := findTurn(ctx, r, c.Turn)
		if err != nil {
			return err
		}
		e, err := explain.Explain(ctx, r, id)
		if err != nil {
			return err
		}
		boots, err := r.Boots(ctx)
		if err != nil {
			return err
		}
		if !runs(boots) {
			e.Abandoned()
		}
		if c.JSON {
			return a.printJSON(e)
		}
		return a.print("%s", a.screen.Safe(e.Text()))
	})
}

// findTurn returns the id that a person means: the last turn for "", else the
// one turn whose id begins so.
func findTurn(ctx context.Context, r *journal.Reader, prefix string) (string, error) {
	if prefix != "" {
		if t, err := r.Turn(ctx, prefix); !errors.Is(err, journal.ErrNotFound) {
			return t.ID, err
		}
	}
	f := journal.TurnFilter{Limit: pageOfTurns}
	var found []string
	for {
		turns, err := r.Turns(ctx, f)
		if err != nil {
			return "", err
		}
		for _, t := range turns {
			if strings.HasPrefix(t.ID, prefix) {
				found = append(found, t.ID)
			}
			if prefix == "" {
				return t.ID, nil
			}
		}
		if len(turns) < pageOfTurns {
			break
		}
		f.Before = turns[len(turns)-1].ID
	}
	switch len(found) {
	case 0:
		if prefix == "" {
			return "", noTurns()
		}
		return "", noTurn("there is no turn " + prefix)
	case 1:
		return found[0], nil
	}
	return "", fault.New(fault.NotFound, "several turns begin with "+prefix, "write more of the id: "+strings.Join(found[:min(len(found), 3)], ", "))
}

// pageOfTurns is how many turns one read looks at.
const pageOfTurns = 1000
