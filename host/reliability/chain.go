package reliability

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// errDeadline is the cause of a context that ended with turn_deadline.
var errDeadline = errors.New("turn deadline")

// Chain is a profile's list of candidates (REL-1).
type Chain struct {
	// Candidates are tried in this order; there is at least one.
	Candidates []*Candidate
	// Deadline bounds the whole chain. Default 10 min.
	Deadline time.Duration
	// Random gives numbers in [0, 1) for the jitter; nil means math/rand.
	Random func() float64
	// Budget is asked before each request. A *BudgetError ends the chain with
	// nothing sent; a warning, if not empty, is noted once (CST-5). nil allows
	// everything.
	Budget func(ctx context.Context, turn string) (warning string, err error)
	// Price fills in what a settled attempt cost (CST-3); nil leaves it
	// unpriced.
	Price func(a *journal.Attempt)
}

// run is one walk through the chain.
type run struct {
	chain     *Chain
	rec       Recorder
	record    context.Context //nolint:containedctx // the run's own: records go on after a cancellation
	prompt    *Prompt
	turn      string
	iteration int
	number    int
	made      []*attempt
	recovered bool // the one request after an empty answer was made (REL-5)
	skipped   []skip
	unsaid    []journal.Event // of the last attempt, which the journal refused
	refused   error           // what the budget said, if it refused
	warned    bool            // the budget's warning is noted
}

// skip is a candidate that was not asked, and why.
type skip struct {
	cand  *Candidate
	class abi.FailureClass // of what it is left out for
	why   string
	wait  time.Duration
}

// step is what follows an attempt.
type step int

const (
	stepEnd  step = iota // the chain is over
	stepSame             // the same candidate is asked again
	stepNext             // the next candidate is asked
)

// verdict is what follows an attempt, and the rule that says so.
type verdict struct {
	step step
	wait time.Duration
	free bool // the next attempt does not count against the budget
	rule string
	why  string
}

// Run asks until there is an answer, or a reason why there is none. The error
// is not nil only if the journal failed; the Answer is then Interrupted or
// Failed all the same, and nothing more was sent.
func (c *Chain) Run(ctx context.Context, rec Recorder, turn string, iteration int, p *Prompt) (Answer, error) {
	deadline := c.Deadline
	if deadline <= 0 {
		deadline = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, errDeadline)
	defer cancel()
	r := &run{
		chain: c, rec: rec, prompt: p, turn: turn, iteration: iteration,
		number: p.Earlier, record: context.WithoutCancel(ctx),
	}
	last, err := r.walk(ctx)
	return r.answer(ctx, last, err), err
}

// walk makes the attempts. It returns the last one, nil if there was none.
func (r *run) walk(ctx context.Context) (last *attempt, err error) {
	stream := !r.prompt.NoStream
	for i, c := range r.chain.Candidates {
		budget, err := r.budget(c, i, stream)
		if err != nil {
			return last, err
		}
		if budget == 0 {
			continue
		}
		var a *attempt
		var next step
		a, next, err = r.ask(ctx, c, budget, stream, i+1 < len(r.chain.Candidates))
		if a != nil {
			last = a
			stream = false // REL-2, REL-3: only the first attempt streams
		}
		if err != nil || next == stepEnd || ctx.Err() != nil {
			return last, err
		}
	}
	return last, nil
}

// budget is how many attempts the candidate gets: the one that streams, if it
// is the chain's first, and then Retries+1 that do not (REL-3); a single one if
// it is a probe; none while its breaker is open, unless it is the last and
// nobody was asked (REL-10).
func (r *run) budget(c *Candidate, i int, stream bool) (int, error) {
	full := c.Policy.Retries + 1
	if stream {
		full++
	}
	only := i == len(r.chain.Candidates)-1 && len(r.made) == 0
	switch ok, probe := c.Breaker.Allow(); {
	case only, ok && !probe:
		return full, nil
	case ok:
		return 1, nil
	}
	return 0, r.skip(skip{cand: c, class: abi.FailureServer, why: fmt.Sprintf("it failed %d times in a row and is left out for a while", breakerFailures)}, "REL-10")
}

// skip notes a candidate that is not asked, for the error and for `why`.
func (r *run) skip(s skip, rule string) error {
	r.skipped = append(r.skipped, s)
	return r.rec.Append(r.record, 0, event(journal.EventDecision, Decision{Rule: rule, Text: s.cand.Name() + " is not asked: " + s.why}))
}

// ask makes the attempts at one candidate, at most budget.
func (r *run) ask(ctx context.Context, c *Candidate, budget int, stream, more bool) (last *attempt, next step, err error) {
	var v verdict
	for n := 1; n <= budget; n++ {
		began := time.Now()
		if !sleep(ctx, v.wait) {
			c.Breaker.Forget()
			return last, stepEnd, nil
		}
		if err := r.afford(ctx, c); err != nil || r.refused != nil {
			c.Breaker.Forget()
			return last, stepEnd, err
		}
		key, s, err := r.key(ctx, c, more)
		if key == nil {
			return last, s, err
		}
		last, err = r.do(ctx, c, key, stream, time.Since(began))
		if err != nil {
			return last, stepEnd, err
		}
		v = r.decide(last, key, n, budget)
		last.verdict = v
		if v.step == stepEnd {
			return last, stepEnd, nil
		}
		if err := r.settle(last); err != nil {
			return last, stepEnd, err
		}
		if v.step == stepNext {
			return last, stepNext, nil
		}
		stream = false
		if v.free {
			n--
		}
	}
	return last, stepNext, nil
}

// key waits for a key of the candidate's provider (REL-8).
func (r *run) key(ctx context.Context, c *Candidate, more bool) (*Lease, step, error) {
	patience := c.Policy.RetryAfterMax
	if !more {
		patience = max(patience, 10*time.Minute)
	}
	key, wait, ok := c.Keys.Acquire(ctx, c.Model, c.Policy.RetryAfterMax, patience)
	s := skip{cand: c, class: abi.FailureAuth, why: "none of its keys can be used", wait: wait}
	if wait > 0 {
		s.class = abi.FailureRateLimited
		s.why = fmt.Sprintf("its key has to wait %s", wait.Round(time.Second))
	}
	switch {
	case ok:
		return key, stepSame, nil
	case cancelled(ctx):
		c.Breaker.Forget()
		return nil, stepEnd, nil
	}
	c.Breaker.Forget()
	return nil, stepNext, r.skip(s, "REL-8")
}

// decide says what follows attempt number n of its candidate. The order of the
// questions is the rule: cancelled, visible, empty, and then the failure table.
func (r *run) decide(a *attempt, key *Lease, n, budget int) verdict {
	failed := a.failure != nil
	switch {
	case a.ctxErr != nil:
		return verdict{rule: "REL-7", why: "cancelled: nothing is asked again"}
	case failed && a.visible:
		return verdict{rule: "REL-4", why: "output was visible: nothing is asked again"}
	case failed:
		return r.react(a, key, n, budget)
	case a.empty() && a.visible:
		return verdict{rule: "REL-5", why: "no text, but other output was visible: nothing is asked again"}
	case a.empty() && a.answer.finish == abi.FinishContentFilter:
		return verdict{step: stepNext, rule: "REL-7", why: "the answer was filtered"}
	case a.incomplete():
		return verdict{rule: "STR-5", why: "the provider ended the answer early: " + string(a.answer.finish)}
	case a.empty() && a.cand.Policy.Retries > 0 && !r.recovered && n < budget:
		r.recovered = true
		return verdict{step: stepSame, rule: "REL-5", why: "the answer was empty: one request without streaming"}
	case a.empty():
		return verdict{step: stepNext, rule: "REL-5", why: "the answer was empty"}
	}
	return verdict{rule: "STR-1", why: "complete"}
}

// react looks the failure up in the table and finds the wait (REL-6).
func (r *run) react(a *attempt, key *Lease, n, budget int) verdict {
	p, to := a.cand.Policy, reactionTo(a.failure.Class)
	class := string(a.failure.Class)
	switch {
	case a.late:
		return verdict{rule: "REL-6", why: "turn_deadline was reached: nothing is asked again"}
	case to.stop:
		return verdict{rule: "REL-7", why: class + ": no other candidate is asked"}
	case r.afterEmpty(a):
		return verdict{step: stepNext, rule: "REL-5", why: "the one request after an empty answer failed: " + class}
	case to.nextKey && !to.retry && key.More(a.cand.Model, 0):
		// Each such failure takes its key out of use, so this ends.
		return verdict{step: stepSame, free: true, rule: "REL-8", why: class + ": the next key is used"}
	case n >= budget:
		return verdict{step: stepNext, rule: "REL-3", why: fmt.Sprintf("%s: no attempt is left (provider_retries = %d)", class, p.Retries)}
	case to.nextKey && key.More(a.cand.Model, p.RetryAfterMax):
		return verdict{step: stepSame, rule: "REL-8", why: class + ": the next key is used"}
	case !to.retry:
		return verdict{step: stepNext, rule: "REL-7", why: class + " is not retried"}
	case a.wait > p.RetryAfterMax:
		return verdict{step: stepNext, rule: "REL-6", why: fmt.Sprintf("the provider asks to wait %s, longer than retry_after_max = %s", a.wait, p.RetryAfterMax)}
	}
	wait := max(a.wait, backoff(p.Backoff, to.floor, n, r.random))
	return verdict{step: stepSame, wait: wait, rule: "REL-3", why: class + " before any output: the same candidate again, without streaming"}
}

// afterEmpty reports whether the attempt before a was an empty answer of the
// same candidate.
func (r *run) afterEmpty(a *attempt) bool {
	for i := len(r.made) - 1; i > 0; i-- {
		if r.made[i] == a {
			b := r.made[i-1]
			return b.cand == a.cand && b.outcome() == OutcomeEmpty
		}
	}
	return false
}

func (r *run) random() float64 {
	if r.chain.Random != nil {
		return r.chain.Random()
	}
	return rand.Float64() //nolint:gosec // jitter, not a secret
}

// settle stores how an attempt went, and what follows from it.
func (r *run) settle(a *attempt) error {
	if err := r.rec.SettleAttempt(r.record, a.row); err != nil {
		return fmt.Errorf("store outcome of attempt: %w", err)
	}
	a.settled = true
	events := a.closing()
	err := r.rec.Append(r.record, a.row.ID, events...)
	if err != nil {
		r.unsaid = events
	}
	return err
}

// sleep waits for d and reports whether the context is still good.
func sleep(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		pause(ctx, d, nil)
	}
	return !cancelled(ctx)
}

func cancelled(ctx context.Context) bool { return ctx.Err() != nil }

// answer tells how the walk ended.
func (r *run) answer(ctx context.Context, last *attempt, err error) Answer {
	ans := Answer{Events: r.unsaid, Attempts: r.number}
	if last != nil {
		ans.Visible = last.visible
		ans.Finish, ans.RawFinish = last.answer.finish, last.answer.raw
		ans.Parts, ans.Broken = last.answer.result(func(n int) string {
			return fmt.Sprintf("%s.%d.%d", r.turn, r.iteration, n)
		})
		if !last.settled {
			row := last.row
			ans.Unsettled, ans.Events = &row, last.closing()
		}
		if last.visible || (last.failure == nil && last.ctxErr == nil && !last.empty()) {
			ans.Candidate = last.cand
			ans.Fallback = last.cand != r.chain.Candidates[0]
		}
	}
	ans.State = r.state(ctx, last, err)
	if ans.State != Complete && ans.State != Incomplete {
		ans.Err = r.chainError(ctx, err)
	}
	return ans
}

func (r *run) state(ctx context.Context, last *attempt, err error) State {
	stopped := cancelled(ctx) && !errors.Is(context.Cause(ctx), errDeadline)
	switch {
	case last == nil && stopped:
		return Cancelled
	case last == nil:
		return Failed
	case err != nil && last.visible:
		return Interrupted
	case err != nil:
		return Failed
	case last.ctxErr != nil:
		return Cancelled
	case last.failure == nil && last.incomplete():
		return Incomplete
	case last.failure == nil && !last.empty():
		return Complete
	case last.visible:
		return Interrupted
	case stopped:
		return Cancelled
	}
	return Failed
}
