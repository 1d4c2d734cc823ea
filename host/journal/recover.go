package journal

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/zchost/zchost/abi"
)

// markerRestart is the marker of a turn that a restart ended.
const markerRestart = "turn-interrupted-by-restart"

// startBoot begins this start of the host and settles what earlier ones left,
// in one transaction.
func (j *Journal) startBoot(ctx context.Context, version string) error {
	return j.Write(ctx, StepRecover, func(tx *Tx) error {
		_, id, err := tx.exec("add boot", "INSERT INTO boots (started, version, pid) VALUES (?1, ?2, ?3)",
			tx.now.UnixMilli(), version, int64(os.Getpid()))
		if err != nil {
			return err
		}
		j.boot, tx.boot, j.writer.boot = id, id, id
		return tx.settleOthers()
	})
}

func (tx *Tx) endBoot() error {
	_, _, err := tx.exec("end boot", "UPDATE boots SET ended = max(started, ?2) WHERE id = ?1", tx.boot, tx.now.UnixMilli())
	return err
}

// settleOthers ends every unfinished turn, all of which are of earlier boots.
func (tx *Tx) settleOthers() error {
	ids, err := tx.texts("find unfinished turns", `
		SELECT id FROM turns INDEXED BY turns_running WHERE state = 'running'
		UNION ALL SELECT id FROM turns INDEXED BY turns_queued WHERE state = 'queued'`)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := tx.settle(id); err != nil {
			return err
		}
	}
	return nil
}

// settle ends a turn as interrupted by restart. What was shown of it stays, as
// an answer with that marker, if there is any text (MRK-2). Attempts that were
// in flight stay unknown.
func (tx *Tx) settle(id string) error {
	// The turn is taken over by this boot, so that the rules for a turn of
	// ours hold for what follows.
	if _, _, err := tx.exec("take turn over", "UPDATE turns SET boot = ?2 WHERE id = ?1", id, tx.boot); err != nil {
		return err
	}
	f := Finish{Turn: id, State: Interrupted, Marker: markerRestart}
	_, cut, err := tx.closeCalls(id, CloseRestart)
	if err != nil {
		return err
	}
	// Only what belongs to no message yet: each earlier iteration has its
	// answer in the transcript.
	shown, err := tx.texts("read shown text", `
		SELECT text FROM events WHERE turn = ?1 AND type = 'text' AND attempt NOT IN (SELECT id FROM attempts
			WHERE turn = ?1 AND iteration <= (SELECT count(*) FROM messages WHERE turn = ?1 AND role = 'assistant'))
		ORDER BY n`, id)
	if err != nil {
		return err
	}
	if f.Candidate, f.Fallback, err = tx.keepPartial(id, strings.Join(shown, "")); err != nil {
		return err
	}
	if err := tx.tellEnd(&f, cut); err != nil {
		return err
	}
	return tx.FinishTurn(f)
}

// tellEnd adds the last events of a turn: how its open calls ended, and how the
// turn did.
func (tx *Tx) tellEnd(f *Finish, cut []ToolCall) error {
	var last [1]driver.Value
	if _, err := tx.row("find last event", last[:], "SELECT max(n) FROM events WHERE turn = ?1", f.Turn); err != nil {
		return err
	}
	var events []Event
	for i := range cut {
		e, err := cut[i].event()
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	e, err := f.event()
	if err != nil {
		return err
	}
	events = append(events, e)
	for i := range events {
		events[i].N = integer(last[0]) + int64(i) + 1
	}
	return tx.insertEvents(f.Turn, integer(last[0]), events)
}

// keepPartial keeps what was shown as the answer, if anything was, and returns
// whose text the turn's last is, and whether that is another candidate than the
// one that was asked first.
func (tx *Tx) keepPartial(id, partial string) (candidate string, fallback bool, err error) {
	var row [2]driver.Value
	if _, err := tx.row("find candidate", row[:], `
		SELECT provider || '/' || model, (provider, model) <> (SELECT provider, model FROM attempts
			WHERE turn = ?1 AND iteration > 0 ORDER BY id LIMIT 1)
		FROM attempts
		WHERE id = (SELECT max(attempt) FROM events WHERE turn = ?1 AND type = 'text' AND text <> '')`, id); err != nil {
		return "", false, err
	}
	candidate = text(row[0])
	fallback = integer(row[1]) != 0
	if partial == "" {
		return candidate, fallback, nil
	}
	_, err = tx.AddMessage(Message{
		Turn: id, Role: abi.RoleAssistant, Marker: markerRestart, Candidate: candidate,
		Parts: []abi.Part{{Type: abi.PartText, Text: partial}},
	})
	return candidate, fallback, err
}

// event tells that a call has ended.
func (c *ToolCall) event() (Event, error) {
	data, err := json.Marshal(struct {
		Call    string    `json:"call"`
		Name    string    `json:"name"`
		State   CallState `json:"state"`
		IsError bool      `json:"is_error,omitempty"`
		Reason  string    `json:"reason,omitempty"`
	}{c.ID, c.Name, c.State, c.IsError, c.Reason})
	if err != nil {
		return Event{}, fmt.Errorf("encode end of call: %w", err)
	}
	return Event{Type: EventToolEnded, Data: data}, nil
}

// event is the last event of a turn that ends so.
func (f *Finish) event() (Event, error) {
	data, err := json.Marshal(struct {
		State     State  `json:"state"`
		Marker    string `json:"marker,omitempty"`
		Candidate string `json:"candidate,omitempty"`
		Fallback  bool   `json:"fallback,omitempty"`
	}{f.State, f.Marker, f.Candidate, f.Fallback})
	if err != nil {
		return Event{}, fmt.Errorf("encode end of turn: %w", err)
	}
	return Event{Type: EventTurnEnded, Data: data}, nil
}

// texts reads one column of text.
func (tx *Tx) texts(what, sql string, args ...driver.Value) ([]string, error) {
	var list []string
	var row [1]driver.Value
	err := tx.conn.each(row[:], sql, args, func() bool {
		list = append(list, text(row[0]))
		return true
	})
	if err != nil {
		return nil, tx.failed(what, err)
	}
	return list, nil
}
