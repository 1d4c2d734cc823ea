package journal

import (
	"database/sql/driver"
	"fmt"

	"github.com/zchost/zchost/host/fault"
)

// checkRelation checks that relation and turn come together.
func (a *Admission) checkRelation() error {
	if err := checkText("turn to go on from", a.After, MaxKey); err != nil {
		return err
	}
	known := a.Relation == RelationContinue || a.Relation == RelationRetry
	if known != (a.After != "") || (!known && a.Relation != "") {
		return &InvalidError{"relation", fmt.Sprintf("%q does not go with the turn %q", a.Relation, a.After)}
	}
	return nil
}

// follow checks the turn that an admission goes on from, and hides it if it is
// asked again (GDR-2). It has to be ended, and the newest of its session: what
// was said after it would stand in the wrong place.
func (tx *Tx) follow(a *Admission) error {
	if a.After == "" {
		return nil
	}
	var row [4]driver.Value
	ok, err := tx.row("find turn", row[:], `
		SELECT t.state, s.key, t.seq = s.turns, t.hidden FROM turns t JOIN sessions s ON s.id = t.session WHERE t.id = ?1`, a.After)
	switch {
	case err != nil:
		return err
	case !ok || text(row[1]) != a.Session:
		return fmt.Errorf("go on from turn %s: %w", a.After, ErrNotFound)
	case !State(text(row[0])).Ended():
		return fault.New(fault.Usage, "turn "+a.After+" has not ended", "wait for its end, or stop it")
	case integer(row[2]) == 0:
		return fault.New(fault.Usage, "turn "+a.After+" is not the newest of its session", "send a message of your own instead")
	case a.Relation == RelationContinue && integer(row[3]) != 0:
		return fault.New(fault.Usage, "turn "+a.After+" was asked again already", "")
	}
	if a.Relation == RelationRetry {
		_, _, err = tx.exec("hide turn", "UPDATE turns SET hidden = 1 WHERE id = ?1", a.After)
	}
	return err
}

// DiscardPartial takes the partial answer of an ended turn out of the
// transcript; its events stay. What the turn's tools did stays as well.
func (tx *Tx) DiscardPartial(turn string) error {
	var row [3]driver.Value
	ok, err := tx.row("find turn", row[:], `
		SELECT t.state, t.marker, t.seq = s.turns FROM turns t JOIN sessions s ON s.id = t.session WHERE t.id = ?1`, turn)
	switch {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("discard answer of %s: %w", turn, ErrNotFound)
	case !State(text(row[0])).Ended():
		return fault.New(fault.Usage, "turn "+turn+" has not ended", "wait for its end, or stop it")
	case text(row[1]) == "":
		return fault.New(fault.Usage, "turn "+turn+" has its whole answer", "only a partial answer can be discarded")
	case integer(row[2]) == 0:
		return fault.New(fault.Usage, "turn "+turn+" is not the newest of its session", "what was said after it may refer to its answer")
	}
	if _, _, err := tx.exec("discard partial answer", `
		DELETE FROM messages WHERE id = (SELECT max(id) FROM messages WHERE turn = ?1) AND role = 'assistant' AND marker <> ''`,
		turn); err != nil {
		return err
	}
	_, _, err = tx.exec("note discarded answer", "UPDATE turns SET discarded = 1 WHERE id = ?1", turn)
	return err
}
