package turn_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/turn"
)

// Close stops the turns that run and waits until their ends are stored, or its
// context ends; afterwards nothing is taken any more.
func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m := &model{answer: func(ctx context.Context, _ string) ([]abi.Event, error) {
			<-ctx.Done()
			<-gate // it takes a while to let go
			return nil, context.Cause(ctx)
		}}
		s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
		first, queued := s.send(t, "s", "a"), s.send(t, "s", "b")
		synctest.Wait() // the first one asks
		ctx, cancel := context.WithCancel(t.Context())
		closed := make(chan error, 1)
		go func() { closed <- s.Close(ctx) }()
		synctest.Wait()
		select {
		case err := <-closed:
			t.Fatalf("Close did not wait: %v", err)
		default:
		}
		if _, _, err := s.Submit(t.Context(), turn.Message{Session: "s", Text: "c"}); !errors.Is(err, turn.ErrClosed) {
			t.Errorf("a message was taken while closing: %v", err)
		}
		cancel()
		if err := <-closed; !errors.Is(err, context.Canceled) {
			t.Errorf("Close whose context ended: %v", err)
		}
		close(gate)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{first.ID, queued.ID} {
			if got, err := s.journal.Turn(t.Context(), id); err != nil || got.State != journal.Interrupted || got.Marker != string(marker.InterruptedByRestart) {
				t.Errorf("turn %s, marker %q, %v", got.State, got.Marker, err)
			}
		}
		if all, err := s.journal.Turns(t.Context(), journal.TurnFilter{}); err != nil || len(all) != 2 || len(m.prompts) != 1 {
			t.Errorf("%d turns, %d requests, %v; want 2 and 1", len(all), len(m.prompts), err)
		}
	})
}

// A message whose Submit is on its way when the host closes is admitted, its
// turn is stopped before it asks anybody, and Close waits for that.
func TestCloseDuringSubmit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &model{answer: func(context.Context, string) ([]abi.Event, error) { return say("Hi"), nil }}
		s := start(t, filepath.Join(t.TempDir(), "journal.db"), m)
		gate := make(chan struct{})
		go func() { // holds the journal's writer
			_ = s.journal.Write(t.Context(), journal.StepDeltas, func(*journal.Tx) error {
				<-gate
				return nil
			})
		}()
		synctest.Wait()
		var got journal.Turn
		submitted, closed := make(chan error, 1), make(chan error, 1)
		go func() {
			var err error
			got, _, err = s.Submit(t.Context(), turn.Message{Session: "s", Text: "a"})
			submitted <- err
		}()
		synctest.Wait()
		go func() { closed <- s.Close(t.Context()) }()
		synctest.Wait()
		close(gate)
		if err := errors.Join(<-submitted, <-closed); err != nil {
			t.Fatal(err)
		}
		got, err := s.journal.Turn(t.Context(), got.ID)
		if err != nil || got.State != journal.Interrupted || got.Marker != string(marker.InterruptedByRestart) || len(m.prompts) != 0 {
			t.Errorf("turn %s, marker %q after %d requests, %v", got.State, got.Marker, len(m.prompts), err)
		}
	})
}
