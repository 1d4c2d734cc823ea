package journal

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Admit makes a message durable in one transaction: inbox, user message, turn,
// session and recovery claim (ADM-1). The turn is running if its session has no
// other unfinished turn, else queued. If the message was admitted before, that
// turn is returned and repeated is true (ADM-2). An InvalidError says that it
// cannot be stored.
func (j *Journal) Admit(ctx context.Context, a Admission) (turn Turn, repeated bool, err error) {
	if err := a.check(); err != nil {
		return Turn{}, false, fmt.Errorf("admit message: %w", err)
	}
	a.nameBlobs()
	plugins, err := json.Marshal(a.Plugins)
	if err != nil {
		return Turn{}, false, fmt.Errorf("admit message: %w", err)
	}
	var known string
	err = j.Write(ctx, StepAdmit, func(tx *Tx) error {
		turn, known, err = tx.admit(a, string(plugins))
		return err
	})
	if err != nil || known == "" {
		return turn, false, err
	}
	turn, err = j.Turn(ctx, known)
	return turn, true, err
}

func (a *Admission) check() error {
	for _, f := range []struct{ name, value string }{
		{"session", a.Session},
		{"account", a.Account},
		{"message id", a.ExternalID},
		{"agent", a.Agent},
		{"surface", a.Surface},
		{"sender", a.Sender},
		{"delivery mode", a.DeliveryMode},
		{"conversation", a.Conversation},
		{"thread", a.Thread},
	} {
		if err := checkText(f.name, f.value, MaxKey); err != nil {
			return err
		}
	}
	for _, p := range a.Plugins {
		if err := checkText("plugin", p, MaxKey); err != nil {
			return err
		}
	}
	if err := a.checkRelation(); err != nil {
		return err
	}
	if err := a.checkAttachments(); err != nil {
		return err
	}
	return checkText("text", a.Text, MaxText)
}

func checkText(field, value string, limit int) error {
	switch {
	case len(value) > limit:
		return &InvalidError{field, fmt.Sprintf("is %d bytes long; at most %d are possible", len(value), limit)}
	case strings.ContainsRune(value, 0):
		return &InvalidError{field, "holds a NUL byte"}
	case !utf8.ValidString(value):
		return &InvalidError{field, "is not UTF-8"}
	}
	return nil
}

// admit returns the new turn, or the id of the one that the message has
// already.
func (tx *Tx) admit(a Admission, plugins string) (turn Turn, known string, err error) {
	if a.ExternalID != "" {
		var row [1]driver.Value
		ok, err := tx.row("find message", row[:],
			"SELECT turn FROM inbox WHERE account = ?1 AND external_id = ?2 AND external_id <> ''", a.Account, a.ExternalID)
		if err != nil || ok {
			return Turn{}, text(row[0]), err
		}
	}
	t := Turn{
		ID: newID("t_", tx.now), Session: a.Session, Agent: a.Agent, Text: a.Text, Surface: a.Surface,
		After: a.After, Relation: a.Relation,
		State: Running, Created: milli(tx.now.UnixMilli()), Started: milli(tx.now.UnixMilli()),
	}
	if err := tx.follow(&a); err != nil {
		return Turn{}, "", err
	}
	if err := tx.joinSession(&t); err != nil {
		return Turn{}, "", err
	}
	return t, "", tx.insertTurn(&t, a, plugins)
}

// joinSession gives the turn its place in its session.
func (tx *Tx) joinSession(t *Turn) error {
	var row [3]driver.Value
	now := tx.now.UnixMilli()
	ok, err := tx.row("find session", row[:], `
		UPDATE sessions SET turns = turns + 1, updated = max(updated, ?2) WHERE key = ?1
		RETURNING id, turns, EXISTS (SELECT 1 FROM turns WHERE session = sessions.id AND state = 'running')
			OR EXISTS (SELECT 1 FROM turns WHERE session = sessions.id AND state = 'queued')`,
		t.Session, now)
	if err != nil {
		return err
	}
	tx.wrote = true
	if ok {
		t.SessionID, t.Seq = integer(row[0]), integer(row[1])
		if integer(row[2]) != 0 {
			t.State = Queued
			t.Started = milli(0)
		}
		return nil
	}
	_, id, err := tx.exec("add session",
		"INSERT INTO sessions (key, agent, created, updated, turns) VALUES (?1, ?2, ?3, ?3, 1)", t.Session, t.Agent, now)
	t.SessionID, t.Seq = id, 1
	return err
}

func (tx *Tx) insertTurn(t *Turn, a Admission, plugins string) error {
	now := tx.now.UnixMilli()
	var started driver.Value
	if t.State == Running {
		started = now
	}
	if _, _, err := tx.exec("add turn", `
		INSERT INTO turns (id, session, seq, agent, state, boot, created, started, after, relation)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)`,
		t.ID, t.SessionID, t.Seq, t.Agent, string(t.State), tx.boot, now, started, a.After, string(a.Relation)); err != nil {
		return err
	}
	if err := tx.addBlobs(a.Attachments); err != nil {
		return err
	}
	_, inbox, err := tx.exec("add message to inbox", `
		INSERT INTO inbox (turn, account, external_id, surface, sender, text, received)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
		t.ID, a.Account, a.ExternalID, a.Surface, a.Sender, a.Text, now)
	if err != nil {
		return err
	}
	if _, _, err := tx.exec("add claim", `
		INSERT INTO claims (turn, boot, inbox, requester, conversation, thread, delivery_mode, delivery_id, plugins)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`,
		t.ID, tx.boot, inbox, a.Sender, a.Conversation, a.Thread, a.DeliveryMode, newID("d_", tx.now), plugins); err != nil {
		return err
	}
	parts, err := encodeParts(a.userParts())
	if err != nil {
		return err
	}
	_, _, err = tx.exec("add user message", `
		INSERT INTO messages (session, seq, turn, role, parts, marker, candidate, created)
		VALUES (?1, ?2, ?3, 'user', ?4, '', '', ?5)`,
		t.SessionID, t.Seq, t.ID, parts, now)
	return err
}
