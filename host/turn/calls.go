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
	row  journal.ToolCall
	tool tool.Tool // nil if it is refused
	took time.Duration
}

// useTools runs the calls of an answer, and adds the answer and the results to
// the history (STR-6). A stop is not nil if the turn ends with it; the error is
// that of the journal.
func (w *work) useTools(ctx context.Context, iteration int, a *reliability.Answer) (stop *ending, err error) {
	record := context.WithoutCancel(ctx)
	list, stop := w.sort(iteration, a)
	if err := w.note(record, a, list); err != nil {
		return nil, err
	}
	if err := w.runAll(ctx, list); err != nil {
		return nil, err
	}
	results, err := w.close(record)
	if err != nil {
		return nil, err
	}
	w.history.add(abi.Message{Role: abi.RoleAssistant, Parts: a.Parts}, a.Candidate.Provider)
	w.history.add(abi.Message{Role: abi.RoleTool, Parts: results}, "")
	if ctx.Err() != nil && stop == nil {
		e := end(reliability.Answer{State: reliability.Cancelled}, context.Cause(ctx))
		e.finish.Candidate, e.finish.Fallback = a.Candidate.Name(), a.Fallback
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

// note stores the answer with its calls before any of them runs.
func (w *work) note(ctx context.Context, a *reliability.Answer, list []*call) error {
	rows := make([]journal.ToolCall, len(list))
	for i, c := range list {
		rows[i] = c.row
	}
	err := w.engine.journal.Write(ctx, journal.StepCalls, func(tx *journal.Tx) error {
		if a.Unsettled != nil {
			if err := tx.SettleAttempt(*a.Unsettled); err != nil {
				return err
			}
		}
		m := journal.Message{Turn: w.turn.ID, Role: abi.RoleAssistant, Parts: a.Parts, Candidate: a.Candidate.Name()}
		if _, err := tx.AddMessage(m); err != nil {
			return err
		}
		return tx.AddCalls(rows)
	})
	if err != nil {
		return fmt.Errorf("store tool calls: %w", err)
	}
	if err := w.tell(ctx, a); err != nil {
		return err
	}
	for _, c := range list {
		if c.tool == nil {
			if err := w.rec.Append(ctx, 0, ended(&c.row, 0)); err != nil {
				return err
			}
		}
	}
	return nil
}

// runAll runs the calls: side by side if all only read and none needs a
// person's word, else one after the other.
func (w *work) runAll(ctx context.Context, list []*call) error {
	var todo []*call
	together := true
	for _, c := range list {
		if c.tool == nil {
			continue
		}
		todo = append(todo, c)
		together = together && !ApproveWrite.asks(c.row.Effect) && !w.agent.Approve.asks(c.row.Effect)
	}
	if together && len(todo) > 1 {
		return w.together(ctx, todo)
	}
	for _, c := range todo {
		if ctx.Err() != nil {
			return nil
		}
		if err := w.one(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// one runs one call, after a person's word if it needs one.
func (w *work) one(ctx context.Context, c *call) error {
	record := context.WithoutCancel(ctx)
	if w.agent.Approve.asks(c.row.Effect) {
		ok, err := w.approve(ctx, c)
		if err != nil || !ok {
			return err
		}
	}
	if err := w.start(record, c); err != nil {
		return err
	}
	w.call(ctx, c)
	return w.store(record, c)
}

// together runs calls side by side. They only read, so the results may be
// stored together: whatever is lost with a crash can be read again.
func (w *work) together(ctx context.Context, list []*call) error {
	record := context.WithoutCancel(ctx)
	if err := w.start(record, list...); err != nil {
		return err
	}
	var wait sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for _, c := range list {
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			w.call(ctx, c)
		})
	}
	wait.Wait()
	return w.store(record, list...)
}

// start stores that calls run, before they do.
func (w *work) start(ctx context.Context, list ...*call) error {
	ids := make([]string, len(list))
	events := make([]journal.Event, len(list))
	for i, c := range list {
		ids[i], events[i] = c.row.ID, started(&c.row)
	}
	err := w.engine.journal.Write(ctx, journal.StepCallStart, func(tx *journal.Tx) error { return tx.StartCalls(ids...) })
	if err != nil {
		return fmt.Errorf("store start of tool call: %w", err)
	}
	return w.rec.Append(ctx, 0, events...)
}

// call runs the tool. A call that was stopped has the marker for a result: what
// it did until then is not known.
func (w *work) call(ctx context.Context, c *call) {
	failpoint.Hit(failpoint.ToolBeforeRun)
	out := tool.Run(ctx, c.tool, tool.Call{
		ID: c.row.ID, Session: w.turn.Session, Agent: w.turn.Agent, Turn: w.turn.ID, Arguments: abi.Raw(c.row.Arguments),
	}, w.agent.Limits)
	failpoint.Hit(failpoint.ToolAfterRun)
	c.took = out.Took
	c.row.State, c.row.Result, c.row.IsError = journal.CallDone, out.Content, out.IsError
	if out.Failed != nil {
		c.row.Reason, c.row.IsError = string(out.Failed.Class), true
	}
	if out.Failed != nil && ctx.Err() != nil {
		c.row.State, c.row.Result = journal.CallCancelled, marker.English(marker.ToolInterrupted)
	}
}

// store stores results before anybody uses them.
func (w *work) store(ctx context.Context, list ...*call) error {
	events := make([]journal.Event, len(list))
	for i, c := range list {
		events[i] = ended(&c.row, c.took)
	}
	err := w.engine.journal.Write(ctx, journal.StepCallEnd, func(tx *journal.Tx) error {
		for _, c := range list {
			if err := tx.EndCall(c.row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store result of tool call: %w", err)
	}
	return w.rec.Append(ctx, 0, events...)
}

// close stores the tool message, with one result for each call: those that did
// not come to run are told so.
func (w *work) close(ctx context.Context) (results []abi.Part, err error) {
	err = w.engine.journal.Write(ctx, journal.StepCallEnd, func(tx *journal.Tx) error {
		results, err = tx.CloseCalls(w.turn.ID, journal.CloseLive)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store tool results: %w", err)
	}
	return results, nil
}
