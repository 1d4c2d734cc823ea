package turn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/failpoint"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/tool"
)

// maxParallel is how many calls of one iteration run at the same time.
const maxParallel = 8

// call is one call of the iteration.
type call struct {
	row   journal.ToolCall
	tool  tool.Tool // nil if it is refused
	begun bool      // that it runs is stored
	took  time.Duration
}

// batch is the calls of one iteration.
type batch struct {
	all  []*call
	todo []*call // those that are to run
	// together says that they run side by side.
	together bool
	// left counts those of todo whose end is not stored yet. With the last one
	// the results are stored, too: one for each call, in order.
	left    int
	results []abi.Part
}

// useTools runs the calls of an answer, and adds the answer and the results to
// the history (STR-6). A stop is not nil if the turn ends with it; the error is
// that of the journal.
func (w *work) useTools(ctx context.Context, iteration int, a *reliability.Answer) (stop *ending, err error) {
	record := context.WithoutCancel(ctx)
	list, stop := w.sort(iteration, a)
	b := w.plan(list)
	if err := w.note(record, a, b); err != nil {
		return nil, err
	}
	if err := w.runAll(ctx, b); err != nil {
		return nil, err
	}
	if b.results == nil {
		if err := w.store(record, b); err != nil {
			return nil, err
		}
	}
	w.history.add(abi.Message{Role: abi.RoleAssistant, Parts: a.Parts}, a.Candidate.Provider)
	w.history.add(abi.Message{Role: abi.RoleTool, Parts: b.results}, "")
	if ctx.Err() != nil && stop == nil {
		e := end(reliability.Answer{State: reliability.Cancelled, Candidate: a.Candidate, Fallback: a.Fallback}, context.Cause(ctx))
		return &e, nil
	}
	return stop, nil
}

// sort makes the rows of the calls, and refuses those that cannot run.
func (w *work) sort(iteration int, a *reliability.Answer) ([]*call, *ending) {
	var list []*call
	for _, p := range a.Parts {
		if p.Type != abi.PartToolCall {
			continue
		}
		c := &call{row: journal.ToolCall{
			ID: p.CallID, Turn: w.turn.ID, Iteration: iteration, N: len(list) + 1, Name: p.Name, Arguments: p.Arguments,
			State: journal.CallRequested,
		}}
		w.find(c, a)
		list = append(list, c)
	}
	stop := w.habits.judge(list, iteration, w.iterations(), a)
	return list, stop
}

func (w *work) iterations() int {
	if w.agent.MaxIterations > 0 {
		return w.agent.MaxIterations
	}
	return defaultIterations
}

// find looks the call's tool up and checks the arguments.
func (w *work) find(c *call, a *reliability.Answer) {
	var t tool.Tool
	ok := false
	if w.tools != nil {
		t, ok = w.tools.Find(c.row.Name)
	}
	if ok {
		spec := t.Spec()
		c.row.Effect, c.row.Source = spec.Effect, spec.Source
	}
	for _, id := range a.Broken {
		if id == c.row.ID {
			c.refuse("invalid", "The call was cut off, or its arguments are not a JSON object. It was not run. Send it again, whole.")
			return
		}
	}
	if w.tools == nil {
		c.refuse("invalid", "There are no tools. Answer without them.")
		return
	}
	if err := w.tools.Check(c.row.Name, c.row.Arguments); err != nil {
		c.refuse("invalid", err.Error())
		return
	}
	c.tool = t
}

// refuse ends a call before it runs; text is for the model.
func (c *call) refuse(reason, text string) {
	c.tool = nil
	c.row.State, c.row.Reason, c.row.Result, c.row.IsError = journal.CallRefused, reason, text, true
}

// plan says which calls run, and how: side by side if all only read and none
// needs a person's word, else one after the other.
func (w *work) plan(list []*call) *batch {
	b := &batch{all: list, together: true}
	for _, c := range list {
		if c.tool == nil {
			continue
		}
		b.todo = append(b.todo, c)
		b.together = b.together && !ApproveWrite.asks(c.row.Effect) && !w.agent.Approve.asks(c.row.Effect)
	}
	b.left = len(b.todo)
	b.together = b.together && len(b.todo) > 1
	return b
}

// first returns the calls that begin as soon as they are stored.
func (w *work) first(b *batch) []*call {
	switch {
	case b.together:
		return b.todo
	case len(b.todo) > 0 && !w.agent.Approve.asks(b.todo[0].row.Effect):
		return b.todo[:1]
	}
	return nil
}

// note stores the answer with its calls before any of them runs.
func (w *work) note(ctx context.Context, a *reliability.Answer, b *batch) error {
	rows := make([]journal.ToolCall, len(b.all))
	for i, c := range b.all {
		rows[i] = c.row
	}
	first := w.first(b)
	step := journal.StepCalls
	if len(first) > 0 && ApproveWrite.asks(first[0].row.Effect) {
		step = journal.StepCallStart // on the disk before anything is changed
	}
	err := w.engine.journal.Write(ctx, step, func(tx *journal.Tx) error {
		if a.Unsettled != nil {
			if err := tx.SettleAttempt(*a.Unsettled); err != nil {
				return err
			}
		}
		m := journal.Message{Turn: w.turn.ID, Role: abi.RoleAssistant, Parts: a.Parts, Candidate: a.Candidate.Name()}
		if _, err := tx.AddMessage(m); err != nil {
			return err
		}
		if err := tx.AddCalls(rows); err != nil {
			return err
		}
		return tx.StartCalls(ids(first)...)
	})
	if err != nil {
		return fmt.Errorf("store tool calls: %w", err)
	}
	a.Unsettled = nil
	if err := w.tell(ctx, a); err != nil {
		return err
	}
	var events []journal.Event
	for _, c := range b.all {
		if c.tool == nil {
			events = append(events, ended(&c.row, 0))
		}
	}
	for _, c := range first {
		c.begun = true
		events = append(events, started(&c.row))
	}
	return w.rec.Append(ctx, 0, events...)
}

func ids(list []*call) []string {
	all := make([]string, len(list))
	for i, c := range list {
		all[i] = c.row.ID
	}
	return all
}

// runAll runs the calls.
func (w *work) runAll(ctx context.Context, b *batch) error {
	if b.together {
		return w.together(ctx, b)
	}
	for _, c := range b.todo {
		if ctx.Err() != nil && !c.begun {
			return nil
		}
		if err := w.one(ctx, b, c); err != nil {
			return err
		}
	}
	return nil
}

// one runs one call, after a person's word if it needs one.
func (w *work) one(ctx context.Context, b *batch, c *call) error {
	record := context.WithoutCancel(ctx)
	if w.agent.Approve.asks(c.row.Effect) {
		ok, err := w.approve(ctx, b, c)
		if err != nil || !ok {
			return err
		}
	}
	if !c.begun {
		if err := w.start(record, c); err != nil {
			return err
		}
	}
	w.call(ctx, c)
	return w.store(record, b, c)
}

// together runs calls side by side. They only read, so the results may be
// stored together: whatever is lost with a crash can be read again.
func (w *work) together(ctx context.Context, b *batch) error {
	var wait sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for _, c := range b.todo {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			w.call(ctx, c)
		})
	}
	wait.Wait()
	return w.store(context.WithoutCancel(ctx), b, b.todo...)
}

// start stores that a call runs, before it does.
func (w *work) start(ctx context.Context, c *call) error {
	err := w.engine.journal.Write(ctx, journal.StepCallStart, func(tx *journal.Tx) error { return tx.StartCalls(c.row.ID) })
	if err != nil {
		return fmt.Errorf("store start of tool call: %w", err)
	}
	return w.rec.Append(ctx, 0, started(&c.row))
}

// call runs the tool. A call that was stopped has the marker for a result: what
// it did until then is not known.
func (w *work) call(ctx context.Context, c *call) {
	if ctx.Err() != nil { // stopped while it waited for its place, or was noted
		c.row.State, c.row.Reason, c.row.IsError = journal.CallCancelled, string(tool.Cancelled), true
		c.row.Result = marker.English(marker.ToolInterrupted)
		return
	}
	failpoint.Hit(failpoint.ToolBeforeRun)
	out := tool.Run(ctx, c.tool, tool.Call{
		ID: c.row.ID, Session: w.turn.Session, Agent: w.turn.Agent, Turn: w.turn.ID, Arguments: abi.Raw(c.row.Arguments),
	}, w.agent.Limits)
	failpoint.Hit(failpoint.ToolAfterRun)
	c.took = out.Took
	c.row.State, c.row.Result, c.row.IsError = journal.CallDone, out.Content, out.IsError
	if out.Failed != nil {
		c.row.Reason, c.row.IsError = string(out.Failed.Class), true
		if out.Failed.Unknown && c.row.Effect == abi.EffectWrite {
			c.row.State = journal.CallUnknown
		}
	}
	if out.Failed != nil && ctx.Err() != nil {
		c.row.State, c.row.Result = journal.CallCancelled, marker.English(marker.ToolInterrupted)
	}
}

// store stores results before anybody uses them; what was done is not forgotten
// because the disk is full for a while (C104). With the last one, or with
// none, it also stores the tool message, with one result for each call: those
// that did not come to run are told so.
func (w *work) store(ctx context.Context, b *batch, list ...*call) error {
	events := make([]journal.Event, len(list))
	for i, c := range list {
		events[i] = ended(&c.row, c.took)
	}
	b.left -= len(list)
	last := b.left <= 0 || len(list) == 0
	err := w.engine.persist(func(ctx context.Context) error {
		return w.engine.journal.Write(ctx, journal.StepCallEnd, func(tx *journal.Tx) (err error) {
			for _, c := range list {
				if err := tx.EndCall(c.row); err != nil {
					return err
				}
			}
			if last {
				b.results, err = tx.CloseCalls(w.turn.ID, journal.CloseLive)
			}
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("store result of tool call: %w", err)
	}
	return w.rec.Append(ctx, 0, events...)
}
