package journal_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// oldWork is what a host of schema 1 left: a turn with its answer, and one that
// it was running when it died.
const oldWork = `
INSERT INTO boots (id, started, version, pid) VALUES (1, 1700000000000, '0.1', 1);
INSERT INTO sessions VALUES (1, 's', 'main', 1700000000000, 1700000000000, 2);
INSERT INTO turns (id, session, seq, agent, state, boot, created, started, ended, candidate)
VALUES ('t_00', 1, 1, 'main', 'complete', 1, 1700000000000, 1700000000000, 1700000001000, 'p/m');
INSERT INTO turns (id, session, seq, agent, state, boot, created, started)
VALUES ('t_01', 1, 2, 'main', 'running', 1, 1700000002000, 1700000002000);
INSERT INTO inbox (turn, account, external_id, surface, sender, text, received)
VALUES ('t_00', 'cli', 'k1', 'cli', '', 'one', 1700000000000), ('t_01', 'cli', 'k2', 'cli', '', 'two', 1700000002000);
INSERT INTO claims VALUES ('t_00', 1, 1, '', '', '', '', 'd_1', 'null'), ('t_01', 1, 2, '', '', '', '', 'd_2', '["p@1"]');
INSERT INTO messages (session, seq, turn, role, parts, marker, candidate, created) VALUES
(1, 1, 't_00', 'user', '[{"type":"text","text":"one"}]', '', '', 1700000000000),
(1, 1, 't_00', 'assistant', '[{"type":"text","text":"first"}]', '', 'p/m', 1700000001000),
(1, 2, 't_01', 'user', '[{"type":"text","text":"two"}]', '', '', 1700000002000);
INSERT INTO attempts (id, turn, iteration, number, profile, provider, model, fingerprint, streaming, key_label, started, ended,
	outcome, wait, input, output, usage_source) VALUES
(1, 't_00', 1, 1, 'm', 'p', 'm', 'f', 1, 'env:K', 1700000000000, 1700000001000, 'complete', 0, 10, 2, 'reported');
INSERT INTO attempts (id, turn, iteration, number, profile, provider, model, fingerprint, streaming, key_label, started, wait)
VALUES (2, 't_01', 1, 1, 'm', 'p', 'm', 'f', 1, 'env:K', 1700000002000, 0);
INSERT INTO events VALUES ('t_00', 1, 1, 1700000000000, 'text', 'first', ''), ('t_01', 1, 2, 1700000002000, 'text', 'half', '');
`

// TestUpgrade opens a journal of schema 1: everything in it is there, nothing
// in it has a price, what was running is settled, and the new work is possible.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	must(t, journal.CreateOld(path, 1, oldWork))
	_, err := journal.OpenReader(t.Context(), path)
	checkFault(t, err, fault.Journal, "older")

	j := openAt(t, path)
	checkTranscript(t, j, 1, "user: one", "assistant: first", "user: two", "assistant: half ("+restart+")")
	turn, err := j.Turn(t.Context(), "t_00")
	must(t, err)
	want := journal.Turn{
		ID: "t_00", SessionID: 1, Session: "s", Agent: "main", Seq: 1, State: journal.Complete, Text: "one", Surface: "cli",
		Candidate: "p/m", Created: time.UnixMilli(1_700_000_000_000), Started: time.UnixMilli(1_700_000_000_000),
		Ended: time.UnixMilli(1_700_000_001_000), Visible: true, Events: 1,
	}
	if d := cmp.Diff(want, turn); d != "" {
		t.Error(d)
	}
	if turn, err = j.Turn(t.Context(), "t_01"); err != nil || turn.State != journal.Interrupted || turn.Candidate != "p/m" {
		t.Errorf("%+v, %v", turn, err)
	}
	checkAttempts(t, j, journal.Attempt{
		ID: 1, Turn: "t_00", Iteration: 1, Number: 1, Profile: "m", Provider: "p", Model: "m", Fingerprint: "f", Streaming: true,
		KeyLabel: "env:K", Started: time.UnixMilli(1_700_000_000_000), Ended: time.UnixMilli(1_700_000_001_000),
		Outcome: journal.OutcomeComplete, Usage: abi.Usage{Input: new(int64(10)), Output: new(int64(2))},
		UsageSource: journal.UsageReported, Visible: true,
	})
	spent, err := j.Spent(t.Context(), journal.SpentQuery{Currency: "USD"})
	if d := cmp.Diff(journal.Spent{Attempts: 2, Unpriced: 2}, spent); d != "" || err != nil {
		t.Error(d, err)
	}
	if err := j.Exec(t.Context(), "UPDATE events SET text = 'x'"); err == nil {
		t.Error("the events can be changed")
	}
	must(t, toolTurn(t.Context(), j, "s", 1))
	if _, err := resume(t, j, "s", newest(t, j), journal.RelationRetry); err != nil {
		t.Error(err)
	}
}

func newest(t *testing.T, j *journal.Journal) string {
	t.Helper()
	turns, err := j.Turns(t.Context(), journal.TurnFilter{Limit: 1})
	must(t, err)
	return turns[0].ID
}

// TestUpgradeGivesTheSameSchema checks that an upgraded journal is no other
// than a new one.
func TestUpgradeGivesTheSameSchema(t *testing.T) {
	t.Parallel()
	old := newPath(t)
	must(t, journal.CreateOld(old, 1, "SELECT 1"))
	if d := cmp.Diff(schema(t, open(t)), schema(t, openAt(t, old))); d != "" {
		t.Errorf("(-new +upgraded):\n%s", d)
	}
}

func schema(t *testing.T, j *journal.Journal) (list []string) {
	t.Helper()
	rows, err := j.DB().QueryContext(t.Context(), `
		SELECT coalesce(sql, name) FROM sqlite_master UNION ALL SELECT 'schema ' || user_version FROM pragma_user_version ORDER BY 1`)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var s string
		must(t, rows.Scan(&s))
		list = append(list, s)
	}
	must(t, rows.Err())
	return list
}

// TestUpgradeFails checks that an upgrade that cannot be finished leaves the
// journal of the old schema as it was.
func TestUpgradeFails(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	must(t, journal.CreateOld(path, 1, oldWork+"CREATE TABLE summaries (x)"))
	if j, err := journal.Open(t.Context(), path, journal.Options{}); err == nil {
		t.Error("opened", j.Close(t.Context()))
	}
	if _, err := journal.OpenReader(t.Context(), path); fault.CodeOf(err) != fault.Journal {
		t.Errorf("%v", err)
	}
	must(t, journal.AlterOld(path, "DROP TABLE summaries"))
	j := openAt(t, path)
	checkTranscript(t, j, 1, "user: one", "assistant: first", "user: two", "assistant: half ("+restart+")")
}

// TestReleasedMigrations holds those that were released: they are never edited.
func TestReleasedMigrations(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"0001_first.sql": "7fd2fbddbd3cc2beed6394e8fdff5b13422672fa4fd1d51f21e5ac48c88cff87",
	} {
		text, err := os.ReadFile("migrations/" + name)
		must(t, err)
		if got := sum(string(text)); got != want {
			t.Errorf("%s was edited: its sum is %s", name, got)
		}
	}
}
