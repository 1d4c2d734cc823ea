package turn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/sink"
)

// Engine runs turns: those of one session one after the other, those of
// different sessions side by side. It is safe for concurrent use.
type Engine struct {
	journal *journal.Journal
	hub     *sink.Hub
	agents  Agents
	log     hclog.Logger
	history *histories

	mu      sync.Mutex
	live    map[string]*live                 // by turn id: admitted and not ended
	asked   map[string]chan ApprovalAnswered // by call id: approvals that are waited for
	entered *sync.Cond                       // on mu: a turn was put into live
	closing chan struct{}                    // closed by Close
	work    sync.WaitGroup
}

// Agents finds the agent that answers. Every Agent that it returns is released
// by the engine.
type Agents interface {
	Agent(ctx context.Context, name string) (*Agent, error)
}

// live is a turn that has not ended.
type live struct {
	cancel     context.CancelCauseFunc
	ctx        context.Context //nolint:containedctx // the turn's life, which begins before it runs
	sink       *sink.Sink
	noStream   bool
	canApprove bool
	done       chan struct{}
}

// New returns an engine.
func New(j *journal.Journal, hub *sink.Hub, agents Agents, log hclog.Logger) *Engine {
	e := &Engine{
		journal: j, hub: hub, agents: agents, log: log, history: newHistories(),
		live: make(map[string]*live), asked: make(map[string]chan ApprovalAnswered), closing: make(chan struct{}),
	}
	e.entered = sync.NewCond(&e.mu)
	return e
}

// Submit admits a message. When it returns, the message is durable and its
// turn runs or waits for its session's earlier turns. repeated tells that the
// message was there before; then the turn is the first one's.
func (e *Engine) Submit(ctx context.Context, m Message) (t journal.Turn, repeated bool, err error) {
	return e.admit(ctx, m, journal.Admission{})
}

// admit admits a message; a has what the message does not say.
func (e *Engine) admit(ctx context.Context, m Message, a journal.Admission) (t journal.Turn, repeated bool, err error) {
	agent, err := e.agents.Agent(ctx, m.Agent)
	if err != nil {
		return t, false, err
	}
	plugins := agent.Plugins
	release(agent)
	if err := e.begin(); err != nil {
		return t, false, err
	}
	defer e.work.Done()
	a.Account, a.ExternalID, a.Session, a.Agent = m.Surface, m.IdempotencyKey, m.Session, agent.Name
	a.Surface, a.Text, a.Attachments, a.Plugins = m.Surface, m.Text, m.Attachments, plugins
	t, repeated, err = e.journal.Admit(ctx, a)
	if err != nil || repeated {
		return t, repeated, err
	}
	e.enter(t, m)
	if t.State == journal.Running {
		e.work.Add(1)
		go e.session(t)
	}
	return t, false, nil
}

// begin counts a piece of work, so that Close waits for it.
func (e *Engine) begin() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isClosing() {
		return ErrClosed
	}
	e.work.Add(1)
	return nil
}

// enter makes a turn known, so that it can be read and cancelled.
func (e *Engine) enter(t journal.Turn, m Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, cancel := context.WithCancelCause(context.Background())
	l := &live{
		ctx: ctx, cancel: cancel, sink: e.hub.Open(t),
		noStream: m.NoStream, canApprove: m.CanApprove, done: make(chan struct{}),
	}
	if e.isClosing() {
		cancel(ByShutdown())
	}
	e.live[t.ID] = l
	e.entered.Broadcast()
}

// entry waits until Submit, whose write was committed, has noted its turn.
func (e *Engine) entry(id string) *live {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.live[id] == nil {
		e.entered.Wait()
	}
	return e.live[id]
}

// leave forgets a turn that has ended.
func (e *Engine) leave(id string, l *live) {
	e.mu.Lock()
	delete(e.live, id)
	e.mu.Unlock()
	l.cancel(nil)
	close(l.done)
}

// session runs the turn and then those of its session that wait.
func (e *Engine) session(t journal.Turn) {
	defer e.work.Done()
	for {
		l := e.entry(t.ID)
		e.run(t, l)
		e.leave(t.ID, l)
		next, ok, err := e.next(t.SessionID)
		if err != nil {
			e.log.Error("cannot start the session's next turn; it is settled at the next start", "session", t.Session, "error", err)
			return
		}
		if !ok {
			return
		}
		t = next
	}
}

// next starts the session's oldest waiting turn.
func (e *Engine) next(session int64) (t journal.Turn, ok bool, err error) {
	err = e.persist(func(ctx context.Context) error {
		var err error
		t, ok, err = e.journal.Next(ctx, session)
		return err
	})
	return t, ok, err
}

// persist does a write that must not be lost: it is tried again, with a
// growing wait, while the journal cannot be written, until the engine closes.
func (e *Engine) persist(write func(context.Context) error) error {
	ctx := context.Background()
	for wait := 500 * time.Millisecond; ; wait = min(2*wait, 30*time.Second) {
		err := write(ctx)
		if err == nil || fault.CodeOf(err) != fault.Unavailable || e.isClosing() {
			return err
		}
		e.log.Error("the journal cannot be written; trying again", "wait", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-e.closing:
		}
	}
}

func (e *Engine) isClosing() bool {
	select {
	case <-e.closing:
		return true
	default:
		return false
	}
}

// Cancel stops a turn. It reports whether the turn had not ended.
func (e *Engine) Cancel(id string, cause *Cause) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.live[id]
	if l != nil {
		l.cancel(cause)
	}
	return l != nil
}

// Wait waits for the end of a turn and returns it as it is stored.
func (e *Engine) Wait(ctx context.Context, id string) (journal.Turn, error) {
	e.mu.Lock()
	l := e.live[id]
	e.mu.Unlock()
	if l != nil {
		select {
		case <-l.done:
		case <-ctx.Done():
			return journal.Turn{}, fmt.Errorf("wait for turn %s: %w", id, context.Cause(ctx))
		}
	}
	return e.journal.Turn(ctx, id)
}

// Close takes no more messages, stops what runs, and waits until all of it is
// stored or the context ends.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.isClosing() {
		close(e.closing)
	}
	for _, l := range e.live {
		l.cancel(ByShutdown())
	}
	e.mu.Unlock()
	done := make(chan struct{})
	go func() {
		e.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for running turns: %w", context.Cause(ctx))
	}
}
