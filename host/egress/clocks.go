package egress

import (
	"context"
	"io"
	"sync/atomic"
	"time"
)

// Clocks bound the waits of one request (STR-3). A field that is 0 means its
// default.
type Clocks struct {
	// Header bounds connecting and waiting for the response head together; 60 s.
	Header time.Duration
	// Idle bounds the wait for the next byte of the body; 300 s.
	Idle time.Duration
	// Progress bounds the waits between two calls of Frames.Progress together,
	// whatever bytes come; 10 min.
	Progress time.Duration
	// FinishSilence takes the place of Idle after Frames.Finished; 5 s.
	FinishSilence time.Duration
}

func (c Clocks) orDefaults() Clocks {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&c.Header, time.Minute)
	set(&c.Idle, 5*time.Minute)
	set(&c.Progress, 10*time.Minute)
	set(&c.FinishSilence, 5*time.Second)
	return c
}

// watch ends a request when one of its clocks runs out. The clocks of the body
// run only while a read waits: a caller that is slow to take what has arrived
// is not the server's silence. One timer serves all; none runs between reads.
type watch struct {
	cancel context.CancelCauseFunc
	cause  func() error // why the request's context ended, or nil

	clocks Clocks
	timer  *time.Timer
	due    atomic.Pointer[clockError] // what the timer says when it fires

	idle, progress clockError
	waited         time.Duration // by reads, since the last event
}

// newWatch returns a watch over a context that it can end, and starts the clock
// for the response head.
func newWatch(ctx context.Context, clocks Clocks) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	clocks = clocks.orDefaults()
	w := &watch{
		cancel:   cancel,
		cause:    func() error { return context.Cause(ctx) },
		clocks:   clocks,
		idle:     clockError{ClockIdle, clocks.Idle},
		progress: clockError{ClockProgress, clocks.Progress},
	}
	w.due.Store(&clockError{ClockConnect, clocks.Header})
	w.timer = time.AfterFunc(clocks.Header, func() { w.cancel(w.due.Load()) })
	return ctx, w
}

// connected says that the connection stands.
func (w *watch) connected() { w.due.Store(&clockError{ClockHeader, w.clocks.Header}) }

// head says that the response head is there.
func (w *watch) head() { w.timer.Stop() }

// event says that an event was seen.
func (w *watch) event() { w.waited = 0 }

// finish says that a finish reason was seen.
func (w *watch) finish() {
	if w.clocks.FinishSilence < w.idle.after {
		w.idle = clockError{ClockFinish, w.clocks.FinishSilence}
	}
}

// read reads with the clocks running.
func (w *watch) read(from io.Reader, p []byte) (int, error) {
	due := &w.idle
	wait := w.idle.after
	if left := w.progress.after - w.waited; left < wait {
		due, wait = &w.progress, left
	}
	w.due.Store(due)
	start := time.Now()
	w.timer.Reset(wait)
	n, err := from.Read(p)
	w.timer.Stop()
	w.waited += time.Since(start)
	return n, err
}
