package journal_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/zchost/zchost/host/journal"
)

// TestPlainTurnSyncs checks that a turn alone waits for the disk four times:
// for admission, attempt, first visible event and end.
func TestPlainTurnSyncs(t *testing.T) {
	t.Parallel()
	j := open(t)
	before := j.Stats()
	if err := plainTurn(t.Context(), j, "s", "1"); err != nil {
		t.Fatal(err)
	}
	if n := j.Stats().Syncs - before.Syncs; n != 4 {
		t.Errorf("%d syncs", n)
	}
}

// TestSteps checks which steps wait for the disk: a relaxed one alone does not,
// a full one does, and takes a relaxed one with it.
func TestSteps(t *testing.T) {
	t.Parallel()
	j := open(t)
	for step, want := range map[journal.Step]int64{
		journal.StepAdmit: 2, journal.StepAttempt: 2, journal.StepFirstVisible: 2, journal.StepFinish: 2,
		journal.StepMigrate: 2, journal.StepDeltas: 1, journal.StepSettle: 1, journal.StepNext: 1,
		journal.StepRecover: 1, journal.StepClose: 1,
	} {
		var got int64
		if err := j.Write(t.Context(), step, func(tx *journal.Tx) (err error) {
			got, err = tx.Synchronous()
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: synchronous is %d, want %d", step, got, want)
		}
	}
	synchronous := func(tx *journal.Tx) error {
		if got, err := tx.Synchronous(); err != nil || got != 2 {
			t.Errorf("a full write with a relaxed one: synchronous is %d, %v", got, err)
		}
		return nil
	}
	together(t, j, map[string]write{"a": {journal.StepDeltas, synchronous, nil}, "b": {journal.StepFinish, nil, nil}}, 1)
}

// TestWritesShareCommits checks that writes that wait are committed together,
// and wait for the disk only if one of them has to.
func TestWritesShareCommits(t *testing.T) {
	t.Parallel()
	j := open(t)
	together(t, j, map[string]write{"a": {step: journal.StepDeltas}, "b": {step: journal.StepSettle}}, 0)
	together(t, j, map[string]write{"a": {step: journal.StepDeltas}, "b": {step: journal.StepAttempt}}, 1)
}

type write struct {
	step journal.Step
	fn   func(*journal.Tx) error
	want error
}

// together hands writes in while the writer is busy, so that they are
// committed together.
func together(t *testing.T, j *journal.Journal, writes map[string]write, syncs int64) {
	t.Helper()
	before := j.Stats()
	begun, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		if err := j.Write(t.Context(), journal.StepDeltas, func(*journal.Tx) error {
			close(begun)
			<-goOn
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	<-begun
	for name, w := range writes {
		all.Go(func() {
			if w.fn == nil {
				w.fn = func(*journal.Tx) error { return nil }
			}
			if err := j.Write(t.Context(), w.step, w.fn); !errors.Is(err, w.want) {
				t.Errorf("%s: %v, want %v", name, err, w.want)
			}
		})
	}
	for j.Stats().Writes-before.Writes < int64(len(writes))+1 || j.Waiting() < len(writes) {
		continue // until all of them wait
	}
	close(goOn)
	all.Wait()
	after := j.Stats()
	if c, s := after.Commits-before.Commits-1, after.Syncs-before.Syncs; c != 1 || s != syncs {
		t.Errorf("%d commits, %d syncs; want 1 and %d", c, s, syncs)
	}
}

// TestFailedWriteAlone checks that a write that fails, before or after it has
// written, leaves nothing and takes no other with it.
func TestFailedWriteAlone(t *testing.T) {
	t.Parallel()
	j := open(t)
	turn := admit(t, j, "s")
	early, late := errors.New("early"), errors.New("late")
	add := func(name string, err error) func(*journal.Tx) error {
		return func(tx *journal.Tx) error {
			_, e := tx.AddMessage(journal.Message{Turn: turn.ID, Role: "assistant", Marker: name})
			return errors.Join(e, err)
		}
	}
	together(t, j, map[string]write{
		"good":    {journal.StepAttempt, add("good", nil), nil},
		"early":   {journal.StepAttempt, func(*journal.Tx) error { return early }, early},
		"late":    {journal.StepAttempt, add("late", late), late},
		"refused": {journal.StepAttempt, func(tx *journal.Tx) error { return tx.AppendEvents(turn.ID, texts(9, 1, "x")) }, journal.ErrGap},
		"later":   {journal.StepAttempt, add("later", late), late},
		"better":  {journal.StepAttempt, add("better", nil), nil},
	}, 1)
	messages, err := j.Messages(t.Context(), turn.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for _, m := range messages {
		kept = append(kept, m.Marker)
	}
	if s := strings.Join(kept, " "); s != " good better" && s != " better good" {
		t.Errorf("kept %q", s)
	}
	if err := j.Health(); err != nil {
		t.Errorf("health: %v", err)
	}
}

// TestWriteCanceled checks that a caller that goes away before its write began
// takes it back, and that one that goes away later still learns its end.
func TestWriteCanceled(t *testing.T) {
	t.Parallel()
	j := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	begun, goOn := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		err := j.Write(ctx, journal.StepDeltas, func(*journal.Tx) error {
			close(begun)
			<-goOn
			return nil
		})
		if err != nil {
			t.Errorf("a write that had begun: %v", err)
		}
	})
	<-begun
	ran := false
	all.Go(func() {
		err := j.Write(ctx, journal.StepDeltas, func(*journal.Tx) error {
			ran = true
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a write that waited: %v", err)
		}
		close(goOn)
	})
	for j.Waiting() < 1 {
		continue
	}
	cancel()
	all.Wait()
	if err := j.Write(t.Context(), journal.StepDeltas, func(*journal.Tx) error { return nil }); err != nil {
		t.Error(err)
	}
	if ran {
		t.Error("a write that was taken back has run")
	}
}

// TestClose checks that Close finishes what was handed in and refuses what
// comes later.
func TestClose(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	var all sync.WaitGroup
	done := make(chan string, 200)
	for i := range cap(done) {
		all.Go(func() {
			turn, _, err := j.Admit(t.Context(), journal.Admission{Session: fmt.Sprint(i)})
			switch {
			case err == nil:
				done <- turn.ID
			case !errors.Is(err, journal.ErrClosed):
				t.Error(err)
			}
		})
	}
	first := <-done
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	close(done)
	j = openAt(t, path)
	for id := range done {
		if _, err := j.Turn(t.Context(), id); err != nil {
			t.Errorf("acknowledged and lost: %v", err)
		}
	}
	if _, err := j.Turn(t.Context(), first); err != nil {
		t.Errorf("acknowledged and lost: %v", err)
	}
}

// TestPlans checks that no statement of the writer reads a whole table: its
// work must not grow with the journal.
func TestPlans(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	j := openAt(t, path)
	for _, session := range []string{"a", "a", "b"} {
		if err := plainTurn(t.Context(), j, session, fmt.Sprint(session, j.Stats().Writes)); err != nil {
			t.Fatal(err)
		}
	}
	turn, queued := admit(t, j, "a"), admit(t, j, "a")
	if err := settle(t.Context(), j, journal.Attempt{ID: 99}); !errors.Is(err, journal.ErrNotFound) {
		t.Fatal(err)
	}
	if err := appendEvents(t.Context(), j, turn.ID, texts(1, 1, "shown")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := j.Next(t.Context(), queued.SessionID); err != nil {
		t.Fatal(err)
	}
	must(t, toolTurn(t.Context(), j, "tools", 1))
	again, err := resume(t, j, "tools", newest(t, j), journal.RelationRetry)
	must(t, err, summarise(t, j, again.ID, 0, "x"), addCalls(t.Context(), j, again.ID, 1, "", "open", "asked"),
		ask(t.Context(), j, callID(again.ID, 1, 2)), startCalls(t.Context(), j, callID(again.ID, 1, 1)),
		answer(t.Context(), j, callID(again.ID, 1, 2), journal.ApprovalDenied))
	must(t, discard(t, j, interrupted(t, j, "d").ID))
	checkPlans(t, j)
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkPlans(t, openAt(t, path))
}

func checkPlans(t *testing.T, j *journal.Journal) {
	t.Helper()
	statements, err := j.Statements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// An index of unfinished turns may be read whole: it has no others.
	allowed := regexp.MustCompile(`USING (COVERING )?INDEX turns_(running|queued)|CONSTANT ROW|VALUES CLAUSE`)
	for _, sql := range statements {
		plan, err := j.Plan(t.Context(), sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		for _, step := range plan {
			if strings.HasPrefix(step, "SCAN") && !allowed.MatchString(step) {
				t.Errorf("%s\n%s", step, sql)
			}
		}
	}
}
