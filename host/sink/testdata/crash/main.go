// Command crash takes two turns of one session from admission to their end, and
// says what it has promised as soon as it has promised it. Built with
// failpoints, it dies on the way.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/sink"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) error {
	j, err := journal.Open(ctx, path, journal.Options{Version: "crash"})
	if err != nil {
		return err
	}
	hub := sink.NewHub(j)
	first, err := admit(ctx, j)
	if err != nil {
		return err
	}
	if _, err := admit(ctx, j); err != nil {
		return err
	}
	if err := answer(ctx, j, hub, first); err != nil {
		return err
	}
	second, _, err := j.Next(ctx, first.SessionID)
	if err != nil {
		return err
	}
	if err := answer(ctx, j, hub, second); err != nil {
		return err
	}
	hub.Close()
	return j.Close(ctx)
}

func admit(ctx context.Context, j *journal.Journal) (journal.Turn, error) {
	turn, _, err := j.Admit(ctx, journal.Admission{Session: "s", Text: "question"})
	if err == nil {
		fmt.Println("accepted", turn.ID)
	}
	return turn, err
}

// answer makes a request that fails and one that answers.
func answer(ctx context.Context, j *journal.Journal, hub *sink.Hub, turn journal.Turn) error {
	s := hub.Open(turn)
	var reader sync.WaitGroup
	defer reader.Wait()
	reader.Go(func() { show(ctx, s) })
	failed, err := request(ctx, j, turn.ID, 1)
	if err != nil {
		return err
	}
	failed.Outcome = string(abi.FailureNetwork)
	if err := j.Write(ctx, journal.StepSettle, func(tx *journal.Tx) error { return tx.SettleAttempt(failed) }); err != nil {
		return err
	}
	fmt.Println("settled", failed.ID)
	good, err := request(ctx, j, turn.ID, 2)
	if err != nil {
		return err
	}
	for _, word := range []string{"The ", "total ", "is ", "4."} {
		if err := s.Append(ctx, good.ID, journal.Event{Type: abi.EventText, Text: word}); err != nil {
			return err
		}
		time.Sleep(2 * sink.FlushWithin) // so that each word is written by itself
	}
	good.Outcome = journal.OutcomeComplete
	err = s.Finish(ctx, func(tx *journal.Tx) error {
		if err := tx.SettleAttempt(good); err != nil {
			return err
		}
		return tx.FinishTurn(journal.Finish{Turn: turn.ID, State: journal.Complete})
	}, journal.Event{Type: journal.EventTurnEnded})
	if err == nil {
		fmt.Println("ended", turn.ID)
	}
	return err
}

func request(ctx context.Context, j *journal.Journal, turn string, number int) (journal.Attempt, error) {
	a := journal.Attempt{Turn: turn, Iteration: 1, Number: number, Provider: "p", Model: "m"}
	err := j.Write(ctx, journal.StepAttempt, func(tx *journal.Tx) (err error) {
		a.ID, err = tx.InsertAttempt(a)
		return err
	})
	if err == nil {
		fmt.Println("requested", a.ID)
	}
	return a, err
}

// show is a surface.
func show(ctx context.Context, s *sink.Sink) {
	r := s.Reader(0)
	for {
		events, err := r.Next(ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Println("error", err)
			}
			return
		}
		for _, e := range events {
			if e.Type == abi.EventText {
				fmt.Println("shown", s.Turn(), e.Attempt, e.Text)
			}
		}
	}
}
