package reliability

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/journal"
)

// ErrSilence is what Stream.Next returns when a finish reason was seen and
// then nothing came for a while on a connection that stayed open (STR-1).
var ErrSilence = errors.New("silence after the finish reason")

// WarnNoSignal is the warning of an attempt that had a finish reason but not
// the protocol's completion signal (STR-1).
const WarnNoSignal = "completion-signal-missing"

// Outcomes of an attempt in the ledger, besides the classes of failure and
// those of the journal.
const (
	OutcomeIncomplete = "incomplete"
	OutcomeEmpty      = "empty"
)

// maxProviderText bounds what is kept of a provider's own words (REL-12).
const maxProviderText = 500

// attempt is one request that was made, and how it went.
type attempt struct {
	row      journal.Attempt
	cand     *Candidate
	answer   collector
	failure  *abi.Failure // nil when the response is complete
	ctxErr   error        // set when it was cancelled
	unstored bool         // the journal refused an event: the request was cut off
	visible  bool
	late     bool          // turn_deadline ended it
	wait     time.Duration // what the provider asks for
	verdict  verdict
	settled  bool // the outcome is stored
}

// outcome is how the attempt went, in one word.
func (a *attempt) outcome() string {
	switch {
	case a.ctxErr != nil:
		return journal.OutcomeCancelled
	case a.unstored:
		return journal.OutcomeInterrupted
	case a.failure != nil:
		return string(a.failure.Class)
	case a.incomplete():
		return OutcomeIncomplete
	case a.empty():
		return OutcomeEmpty
	}
	return journal.OutcomeComplete
}

// empty reports whether the response has neither text nor a tool call (REL-5).
func (a *attempt) empty() bool {
	return !a.answer.has(abi.PartText) && !a.answer.has(abi.PartToolCall)
}

// incomplete reports whether the answer ended early (STR-5). One that ended in
// the middle of a tool call, though the provider gives another reason, is
// complete: the model is told which of its calls were broken (STR-6).
func (a *attempt) incomplete() bool {
	switch a.answer.finish {
	case abi.FinishLength, abi.FinishContentFilter, abi.FinishRefusal, abi.FinishPause:
		return true
	case abi.FinishStop, abi.FinishToolCalls, abi.FinishUnknown:
	}
	return false
}

// do makes one attempt: the row, the request, the events, the outcome. An
// error means that the journal could not take the row or an event; then the
// request is cut off, and nothing more is sent.
func (r *run) do(ctx context.Context, c *Candidate, key *Lease, stream bool, waited time.Duration) (*attempt, error) {
	r.number++
	a := &attempt{cand: c, row: journal.Attempt{
		Turn: r.turn, Iteration: r.iteration, Number: r.number,
		Profile: c.Profile, Provider: c.Provider, Model: c.Model, Fingerprint: c.Upstream.Fingerprint(),
		Streaming: stream, KeyLabel: key.Label, Started: time.Now(),
		Outcome: journal.OutcomeUnknown, Wait: waited,
	}}
	id, err := r.rec.StartAttempt(r.record, a.row)
	if err != nil {
		key.Cancelled()
		c.Breaker.Forget()
		return nil, fmt.Errorf("store attempt: %w", err)
	}
	a.row.ID = id
	if err := r.rec.Append(r.record, id, append(r.announce(c, waited), started(a))...); err != nil {
		key.Cancelled()
		c.Breaker.Forget()
		return nil, fmt.Errorf("store start of attempt: %w", err)
	}
	r.made = append(r.made, a)
	err = r.exchange(ctx, a, key)
	r.finish(a, key)
	return a, err
}

// exchange sends the request and takes the events in, until the response is
// complete or broken.
func (r *run) exchange(ctx context.Context, a *attempt, key *Lease) error {
	failpoint.Hit(failpoint.RequestBeforeSend)
	s, err := a.cand.Upstream.Open(ctx, Request{
		Prompt: r.prompt, Model: a.cand.Model, Sampling: a.cand.Sampling, Stream: a.row.Streaming, Key: key.Value,
	})
	if err != nil {
		a.fail(ctx, err)
		return nil
	}
	defer func() { _ = s.Close() }() // what matters has been read; an error here says nothing
	failpoint.Hit(failpoint.RequestAfterHead)
	key.Arrived()
	a.row.Status, a.row.RequestID = s.Head().Status, s.Head().RequestID
	for !a.answer.done && a.failure == nil {
		events, err := s.Next()
		if recErr := r.take(a, events); recErr != nil {
			a.unstored = true
			return recErr
		}
		if err != nil && !a.answer.done && a.failure == nil {
			a.ended(ctx, err)
			return nil
		}
	}
	return nil
}

// take stores the events and then lets them count: what the journal refused
// nobody has seen.
func (r *run) take(a *attempt, events []abi.Event) error {
	events = worth(events)
	if len(events) == 0 {
		return nil
	}
	rows := make([]journal.Event, len(events))
	for i := range events {
		rows[i] = stored(&events[i])
	}
	if err := r.rec.Append(r.record, a.row.ID, rows...); err != nil {
		return err
	}
	for i := range events {
		a.visible = a.visible || events[i].Type.Visible(events[i].Text)
		if f := a.answer.add(&events[i]); f != nil {
			a.reject(f)
			break
		}
	}
	return nil
}

// worth returns the events that say something, up to the one that ends the
// answer.
func worth(events []abi.Event) []abi.Event {
	out := make([]abi.Event, 0, len(events))
	for _, e := range events {
		if (e.Type == abi.EventText || e.Type == abi.EventReasoning) && e.Text == "" && e.Signature == "" && e.Opaque == "" {
			continue
		}
		out = append(out, e)
		if e.Type == abi.EventDone || e.Type == abi.EventFailure {
			break
		}
	}
	return out
}

// ended decides what the end of a body means that had no completion signal
// (STR-1).
func (a *attempt) ended(ctx context.Context, err error) {
	finished := a.answer.finish != ""
	lenient := !a.cand.Policy.StrictCompletion
	var f *abi.Failure
	switch {
	case ctx.Err() != nil:
		a.fail(ctx, err)
	case finished && lenient && brokeOff(err):
		a.row.Warning = WarnNoSignal
	case errors.As(err, &f):
		a.fail(ctx, err)
	case finished:
		a.failure = &abi.Failure{Class: abi.FailureTruncated, Message: "the answer ended without the protocol's completion signal"}
	default:
		a.failure = &abi.Failure{Class: abi.FailureTruncated, Message: "the answer ended without a finish reason"}
	}
}

// brokeOff reports whether err only says that the body is over, in whatever
// way, and not that its contents were wrong.
func brokeOff(err error) bool {
	var f *abi.Failure
	if !errors.As(err, &f) {
		return true
	}
	return f.Class == abi.FailureTruncated || f.Class == abi.FailureNetwork || f.Class == abi.FailureTimeout
}

// fail notes why there is no complete response.
func (a *attempt) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, errDeadline) {
			a.ctxErr = cause
			return
		}
		a.late = true
		err = &abi.Failure{Class: abi.FailureTimeout, Message: "the turn's deadline (turn_deadline) was reached"}
	}
	var f *abi.Failure
	if !errors.As(err, &f) {
		f = &abi.Failure{Class: abi.FailureUnknown, Message: err.Error()}
	}
	a.reject(f)
}

// reject notes the failure and the wait that it asks for.
func (a *attempt) reject(f *abi.Failure) {
	a.failure = bounded(f)
	a.wait = time.Duration(f.RetryAfterMS) * time.Millisecond
}

// bounded returns f with its texts cut to what is kept.
func bounded(f *abi.Failure) *abi.Failure {
	g := *f
	g.Message, g.Code = cut(g.Message, maxProviderText), cut(g.Code, 100)
	return &g
}

// cut shortens s to at most n characters.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// finish fills in the row and tells the key and the breaker.
func (r *run) finish(a *attempt, key *Lease) {
	a.row.Ended = time.Now()
	a.row.Outcome, a.row.Visible = a.outcome(), a.visible
	a.row.Served = a.answer.served
	a.row.RequestID = or(a.row.RequestID, a.answer.id)
	a.row.Usage, a.row.UsageSource = a.answer.usage, journal.UsageUnknown
	if a.answer.known {
		a.row.UsageSource = journal.UsageReported
	}
	if r.chain.Price != nil {
		r.chain.Price(&a.row)
	}
	switch {
	case a.ctxErr != nil, a.unstored:
		key.Cancelled()
		a.cand.Breaker.Forget()
	case a.failure != nil:
		a.row.Status = int(or64(a.failure.Status, int64(a.row.Status)))
		a.row.Code, a.row.Message = a.failure.Code, a.failure.Message
		key.Failed(a.failure.Class, a.wait, a.cand.Policy.KeyCooldown)
		if reactionTo(a.failure.Class).breaks {
			a.cand.Breaker.Report(false)
		} else {
			a.cand.Breaker.Forget()
		}
	default:
		a.cand.Breaker.Report(true)
	}
}

func or64(a, b int64) int64 {
	if a != 0 {
		return a
	}
	return b
}
