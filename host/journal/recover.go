package journal

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"os"

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
	ids, err := tx.texts("find unfinished turns",
		"SELECT id FROM turns WHERE state = 'running' UNION ALL SELECT id FROM turns WHERE state = 'queued' ORDER BY id")
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
	pieces, err := tx.texts("read shown text", "SELECT text FROM events WHERE turn = ?1 AND type = 'text' ORDER BY n", id)
	if err != nil {
		return err
	}
	// The turn is taken over by this boot, so that the rules for a running
	// turn hold for what follows.
	if _, _, err := tx.exec("take turn over", "UPDATE turns SET boot = ?2 WHERE id = ?1", id, tx.boot); err != nil {
		return err
	}
	last, err := tx.number("find last event", "SELECT max(n) FROM events WHERE turn = ?1", id)
	if err != nil {
		return err
	}
	if err := tx.insertEvents(id, last, []Event{{
		N: last + 1, At: tx.now, Type: EventTurnEnded,
		Data: abi.Raw(`{"state":"interrupted","marker":"` + markerRestart + `"}`),
	}}); err != nil {
		return err
	}
	if shown := joined(pieces); shown != "" {
		if err := tx.keepPartial(id, shown); err != nil {
			return err
		}
	}
	return tx.FinishTurn(Finish{Turn: id, State: Interrupted, Marker: markerRestart, Candidate: ""})
}

func (tx *Tx) keepPartial(id, shown string) error {
	var row [1]driver.Value
	if _, err := tx.row("find candidate", row[:], `
		SELECT provider || '/' || model FROM attempts
		WHERE id = (SELECT max(attempt) FROM events WHERE turn = ?1 AND type = 'text')`, id); err != nil {
		return err
	}
	_, err := tx.AddMessage(Message{
		Turn: id, Role: abi.RoleAssistant, Marker: markerRestart, Candidate: text(row[0]),
		Parts: []abi.Part{{Type: abi.PartText, Text: shown}},
	})
	return err
}

func joined(pieces []string) string {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	b := make([]byte, 0, n)
	for _, p := range pieces {
		b = append(b, p...)
	}
	return string(b)
}

// texts reads one column of text.
func (tx *Tx) texts(what, sql string, args ...driver.Value) ([]string, error) {
	s, err := tx.conn.prepared(sql)
	if err != nil {
		return nil, tx.failed(what, err)
	}
	q, ok := s.(driver.StmtQueryContext)
	if !ok {
		return nil, errors.New("the driver cannot run queries")
	}
	rows, err := q.QueryContext(context.Background(), tx.conn.named(args))
	if err != nil {
		return nil, tx.failed(what, err)
	}
	var list []string
	var row [1]driver.Value
	for err = rows.Next(row[:]); err == nil; err = rows.Next(row[:]) {
		list = append(list, text(row[0]))
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err := errors.Join(err, rows.Close()); err != nil {
		return nil, tx.failed(what, err)
	}
	return list, nil
}

func (tx *Tx) number(what, sql string, args ...driver.Value) (int64, error) {
	var row [1]driver.Value
	_, err := tx.row(what, row[:], sql, args...)
	return integer(row[0]), err
}
