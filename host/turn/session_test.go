package turn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// The session takes a queued message up the moment it is committed, which can
// be before Submit has noted its turn. The turn waits for that: it keeps its
// --no-stream, and who reads or waits gets its end.
func TestTurnOvertakesItsSubmit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m := &model{answer: func(_ context.Context, text string) ([]abi.Event, error) {
			<-gate
			return say("re " + text), nil
		}}
		s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
		first := s.send(t, "s", "a")
		second, _, err := s.journal.Admit(t.Context(), journal.Admission{Session: "s", Agent: "main", Text: "b"})
		if err != nil {
			t.Fatal(err)
		}
		close(gate)
		s.wait(t, first.ID)
		synctest.Wait()
		if got, err := s.journal.Turn(t.Context(), second.ID); err != nil || got.State != journal.Running || len(m.prompts) != 1 {
			t.Fatalf("the second turn is %s after %d requests, %v; it must wait for its Submit", got.State, len(m.prompts), err)
		}
		s.Enter(second, turn.Message{NoStream: true})
		got := s.wait(t, second.ID)
		if got.State != journal.Complete || m.streams != 1 {
			t.Errorf("state %s, %d streaming requests of 2; the second was not to stream", got.State, m.streams)
		}
		if s.Cancel(second.ID, turn.ByUser()) {
			t.Error("Cancel says that the turn has not ended")
		}
		r, err := s.hub.Reader(t.Context(), second.ID, got.Events)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("a reader of the ended turn gets %v", err)
		}
	})
}

// Many send to the same sessions, and none is forgotten (ADM-4).
func TestManySenders(t *testing.T) {
	t.Parallel()
	m := &model{answer: func(_ context.Context, text string) ([]abi.Event, error) { return say("re " + text), nil }}
	s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 10 {
				got, _, err := s.Submit(t.Context(), turn.Message{Session: fmt.Sprint("s", i%2), Text: fmt.Sprint(n), NoStream: true})
				if err == nil {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					got, err = s.Wait(ctx, got.ID)
					cancel()
				}
				if err != nil || got.State != journal.Complete {
					t.Errorf("state %s, %v", got.State, err)
					return
				}
			}
		})
	}
	all.Wait()
	if len(m.prompts) != 80 || m.streams != 0 {
		t.Errorf("%d requests, %d of them streaming; want 80 and none", len(m.prompts), m.streams)
	}
}

// A message that is cancelled while it waits stays in what the model is shown,
// as it does after a restart (MRK-4).
func TestCancelledWhileQueuedStaysInHistory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	gate := make(chan struct{})
	m := &model{started: make(chan string, 10), answer: func(_ context.Context, text string) ([]abi.Event, error) {
		<-gate
		return say("re " + text), nil
	}}
	s := start(t, path, m)
	a, b := s.send(t, "s", "a"), s.send(t, "s", "b")
	<-m.started
	s.Cancel(b.ID, turn.ByUser())
	close(gate)
	s.wait(t, a.ID)
	s.wait(t, b.ID)
	s.wait(t, s.send(t, "s", "c").ID)
	want := "user: a|assistant: re a|user: b|assistant: [interrupted by user]|user: c"
	if got := m.prompt(); got != want {
		t.Errorf("prompt %q, want %q", got, want)
	}
	s.stop(t)
	s = start(t, path, m)
	s.wait(t, s.send(t, "s", "d").ID)
	if got := m.prompt(); !strings.HasPrefix(got, want) {
		t.Errorf("prompt after a restart %q, want %q and more", got, want)
	}
}
