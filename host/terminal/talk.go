package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// ErrLeave says that the person asked twice to leave, or the process was told
// to end and the turn did not settle in time.
var ErrLeave = errors.New("left before the turn had ended")

// Message is what a person sends.
type Message struct {
	// Session is the session's key.
	Session string
	// Agent is the agent's name; empty means the default.
	Agent string
	// Text is the message.
	Text string
	// Attachments are images and files that belong to it.
	Attachments []journal.Attachment
	// NoStream asks for the answer in one piece.
	NoStream bool
	// After is the id of a turn that this one goes on from, or asks again;
	// How says which. Session, Agent, Text and Attachments are then that
	// turn's.
	After string
	How   journal.Relation
	// CanApprove says that Host.Answer will be called for calls that need an
	// approval. Talk sets it.
	CanApprove bool
}

// Host runs turns.
type Host interface {
	// Send admits a message, or goes on after a turn. When it returns, the
	// message is stored.
	Send(ctx context.Context, m Message) (journal.Turn, error)
	// Events reads the events of a turn after the one numbered after.
	Events(ctx context.Context, turn string, after int64) (Events, error)
	// Answer says whether a call that waits for an approval may run.
	Answer(ctx context.Context, call string, allow bool, by string) error
	// Cancel stops a turn on behalf of its person.
	Cancel(turn string) bool
	// End stops a turn because the process is told to end.
	End(turn string) bool
	// Wait returns the turn when it has ended.
	Wait(ctx context.Context, turn string) (journal.Turn, error)
}

// Events is a reader of a turn's sink.
type Events interface {
	// Next waits for events; io.EOF follows the last one.
	Next(ctx context.Context) ([]journal.Event, error)
}

// Talk sends messages and shows the answers, while Ctrl-C is heard.
type Talk struct {
	// Host runs the turns.
	Host Host
	// Interrupts receives SIGINT.
	Interrupts <-chan os.Signal
	// Tick is how often View.Waiting is called, and Health, while nothing
	// happens; 0 means never.
	Tick time.Duration
	// Health returns why nothing can be stored at present, or nil; may be nil.
	Health func() error
	// Approver asks the person about tool calls; nil means that nobody can be
	// asked, and such calls are refused.
	Approver *Approver
}

// patience is how long nothing has to happen before a person is told why.
const patience = 2 * time.Second

// settleTime is how long a turn gets to settle when the process is told to end.
const settleTime = 10 * time.Second

// Turn runs one turn to its end. The first interrupt stops the turn, the second
// stops waiting for it: then the error is ErrLeave. When ctx ends, the turn is
// stopped and shown to its end, for which it gets settleTime.
func (t *Talk) Turn(ctx context.Context, m Message, v View) (journal.Turn, error) {
	m.CanApprove = t.Approver != nil
	turn, err := t.Host.Send(ctx, m)
	if err != nil {
		return journal.Turn{}, &RefusedError{Err: err}
	}
	following, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	var heard sync.WaitGroup
	id := turn.ID
	heard.Go(func() { t.hear(ctx, following, id, stop) })
	err = t.follow(following, id, v)
	if err == nil {
		turn, err = t.Host.Wait(following, id)
	}
	if following.Err() != nil {
		err = ErrLeave
	}
	stop(nil)
	heard.Wait()
	if err != nil {
		return journal.Turn{ID: id}, fmt.Errorf("follow turn %s: %w", id, err)
	}
	return turn, v.End(turn)
}

// hear passes on interrupts, and that ctx ended, while the turn is followed.
func (t *Talk) hear(ctx, following context.Context, turn string, leave func(error)) {
	stopped, ended := false, ctx.Done()
	var late <-chan time.Time
	for {
		select {
		case <-t.Interrupts:
			if stopped {
				leave(ErrLeave)
				return
			}
			t.Host.Cancel(turn)
		case <-ended:
			ended = nil
			t.Host.End(turn)
			late = time.After(settleTime)
		case <-late:
			leave(ErrLeave)
			return
		case <-following.Done():
			return
		}
		stopped = true
	}
}

// follow shows the events of a turn until the last one.
func (t *Talk) follow(ctx context.Context, turn string, v View) error {
	events, err := t.Host.Events(ctx, turn, 0)
	if err != nil {
		return err
	}
	var question *asking
	defer func() { _ = question.end() }() // what is not told by events any more is of no use
	quiet, told := time.Now(), ""
	for {
		batch, err := t.next(ctx, events)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errQuiet):
			if told, err = t.wait(v, time.Since(quiet), told); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if question, err = t.show(ctx, question, batch, v); err != nil {
			return err
		}
		quiet = time.Now()
	}
}

// show shows events, after a question that they end and before one that they
// ask: only one of both writes at a time.
func (t *Talk) show(ctx context.Context, question *asking, batch []journal.Event, v View) (*asking, error) {
	if question != nil && ends(batch) {
		if err := question.end(); err != nil {
			if err := v.Notice(err.Error()); err != nil {
				return nil, err
			}
		}
		question = nil
	}
	if err := v.Show(batch); err != nil {
		return question, err
	}
	return t.ask(ctx, question, batch)
}

// wait shows that a turn is still going on, and tells why it cannot, unless
// that was told last. It returns what was told last.
func (t *Talk) wait(v View, since time.Duration, told string) (string, error) {
	if t.Health != nil && since >= patience {
		if err := t.Health(); err != nil && err.Error() != told {
			told = err.Error()
			if err := v.Notice(told + "; waiting; Ctrl-C twice leaves"); err != nil {
				return told, err
			}
		}
	}
	v.Waiting(since)
	return told, nil
}

var errQuiet = errors.New("nothing happened")

// next waits for events, but no longer than a tick.
func (t *Talk) next(ctx context.Context, events Events) ([]journal.Event, error) {
	if t.Tick == 0 {
		return events.Next(ctx)
	}
	tick, cancel := context.WithTimeoutCause(ctx, t.Tick, errQuiet)
	defer cancel()
	batch, err := events.Next(tick)
	if err != nil && ctx.Err() == nil && tick.Err() != nil {
		return nil, errQuiet
	}
	return batch, err
}

// Hearing runs f until it ends or an interrupt comes: then the context of f
// ends, and unless f has succeeded all the same the error is ErrInterrupt.
func (t *Talk) Hearing(ctx context.Context, f func(context.Context) error) error {
	reading, stop := context.WithCancelCause(ctx)
	var heard sync.WaitGroup
	heard.Go(func() {
		select {
		case <-t.Interrupts:
			stop(ErrInterrupt)
		case <-reading.Done():
		}
	})
	err := f(reading)
	stop(nil)
	heard.Wait()
	if err != nil && errors.Is(context.Cause(reading), ErrInterrupt) {
		return ErrInterrupt
	}
	return err
}

// RefusedError says that a message was not accepted: there is no turn.
type RefusedError struct{ Err error }

// Error is the cause: that it was not accepted is what the caller tells.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }
