package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// asking is a question to the person while the events of the turn go on to be
// read: it may end in another way, by its time or with the turn.
type asking struct {
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// ask begins to ask what a batch of events asks for.
func (t *Talk) ask(ctx context.Context, now *asking, events []journal.Event) (*asking, error) {
	if t.Approver == nil {
		return nil, nil //nolint:nilnil // nobody can be asked, and nobody is
	}
	for i := range events {
		if events[i].Type != journal.EventApprovalAsked || ends(events[i+1:]) {
			continue
		}
		var q Question
		if err := json.Unmarshal(events[i].Data, &q); err != nil {
			return now, fmt.Errorf("decode %s event: %w", events[i].Type, err)
		}
		_ = now.end() // the host asks one thing at a time: it is over
		now = t.begin(ctx, q)
	}
	return now, nil
}

// begin asks in a goroutine of its own, and gives the answer to the host. When
// no answer can be read, it is no.
func (t *Talk) begin(ctx context.Context, q Question) *asking {
	ctx, stop := context.WithCancel(ctx)
	a := &asking{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		allow, by, err := t.Approver.Ask(ctx, q)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			by = "nobody: no key could be read"
		}
		a.err = errors.Join(err, t.Host.Answer(context.WithoutCancel(ctx), q.Call, allow && err == nil, by))
	}()
	return a
}

// end stops asking, and waits until nothing more is written. That the question
// was over already is no error: the events tell how.
func (a *asking) end() error {
	if a == nil {
		return nil
	}
	a.stop()
	<-a.done
	if errors.Is(a.err, journal.ErrAnswered) || fault.CodeOf(a.err) == fault.NotFound {
		return nil
	}
	return a.err
}

// ends reports whether the events say that a question is over.
func ends(events []journal.Event) bool {
	for i := range events {
		switch events[i].Type {
		case journal.EventApprovalAnswered, journal.EventToolEnded, journal.EventTurnEnded:
			return true
		default:
		}
	}
	return false
}
