package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits bound one call.
type Limits struct {
	// Timeout is how long a call may take; 0 means 60 s.
	Timeout time.Duration
	// ResultBytes is how much of a result the model gets; 0 means 64 KiB.
	ResultBytes int
	// Redact removes secrets from a result; nil removes none.
	Redact func(string) string
}

// Defaults and bounds of a call.
const (
	DefaultTimeout     = 60 * time.Second
	DefaultResultBytes = 64 << 10
	// grace is how long a tool may go on after its context has ended. Then it
	// is left behind, and what it still gives is dropped.
	grace = 2 * time.Second
)

// Outcome is how a call went.
type Outcome struct {
	// Result is what the model is told, also when the call failed.
	Result
	// Failed is set when the tool gave no result.
	Failed *Error
	// Took is how long it ran.
	Took time.Duration
}

// Run runs a call of a tool until it ends, its time is up, or ctx ends. A panic
// is a failure of that call only.
func Run(ctx context.Context, t Tool, c Call, l Limits) Outcome {
	began := time.Now()
	limit := l.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if own := t.Spec().Timeout; own > 0 {
		limit = own
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		result Result
		err    error
	}
	answers := make(chan answer, 1) // room for one that comes too late
	go func() {
		r, err := guarded(within, t, c)
		answers <- answer{r, err}
	}()
	var a answer
	select {
	case a = <-answers:
	case <-within.Done():
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case a = <-answers:
		case <-timer.C:
			a.err = within.Err()
		}
	}
	out := Outcome{Result: a.result, Took: time.Since(began)}
	if a.err != nil {
		out.Failed = failed(ctx, a.err, limit)
		out.Content, out.IsError = "The call failed: "+out.Failed.Message, true
	}
	size := l.ResultBytes
	if size <= 0 {
		size = DefaultResultBytes
	}
	if l.Redact != nil {
		out.Content = l.Redact(out.Content) // before a cut could leave half of one
	}
	out.Content = bound(out.Content, size)
	return out
}

// guarded turns a panic into an error.
func guarded(ctx context.Context, t Tool, c Call) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Class: Failed, Message: fmt.Sprintf("the tool broke: %v", p)}
		}
	}()
	return t.Call(ctx, c)
}

// failed says what kind of failure an error is.
func failed(ctx context.Context, err error, limit time.Duration) *Error {
	var e *Error
	switch {
	case ctx.Err() != nil:
		return &Error{Class: Cancelled, Message: "it was stopped", Err: err}
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Class: Timeout, Unknown: true, Message: fmt.Sprintf("it took longer than %s; what it did until then is not known", limit), Err: err}
	}
	return &Error{Class: Failed, Message: err.Error(), Err: err}
}

// bound cuts a result that is too long, at the end of a line if there is one in
// its last quarter, and says so.
func bound(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	end := n
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	if at := strings.LastIndexByte(s[:end], '\n'); at >= n*3/4 {
		end = at + 1
	}
	return fmt.Sprintf("%s\n[cut: %d of %d bytes are shown]", strings.TrimSuffix(s[:end], "\n"), end, len(s))
}
