package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/host/tool"
)

// remote is a tool of a server.
type remote struct {
	s    *Server
	name string // by which the server knows it
	spec tool.Spec
}

// Spec describes the tool.
func (t *remote) Spec() tool.Spec { return t.spec }

// Call calls the tool. A call that is cancelled or takes too long returns at
// once, and the server is told that it need not go on.
func (t *remote) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, t.s.cfg.Timeout)
	defer cancel()
	select {
	case t.s.calls <- struct{}{}:
		defer func() { <-t.s.calls }()
	case <-within.Done():
		return tool.Result{}, t.stopped(ctx, began, false)
	}
	for again := false; ; again = true {
		now, _ := t.s.look()
		if now.link == nil {
			return tool.Result{}, t.s.unavailable(now)
		}
		m := &mark{}
		res, err := t.send(within, now.link, m, json.RawMessage(c.Arguments))
		if err == nil {
			return t.s.render(res), nil
		}
		if !again && m.status.Load() == http.StatusNotFound && t.s.successor(within, now.link) {
			continue // the session had expired, so the call was refused
		}
		return tool.Result{}, t.failed(ctx, within, attempt{now.link, m, began}, err)
	}
}

// send sends the call over one connection. It ends with it.
func (t *remote) send(ctx context.Context, l *link, m *mark, args json.RawMessage) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancel(withMark(ctx, m))
	defer cancel()
	stop := l.onClose(cancel)
	defer stop()
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	return l.session.CallTool(ctx, &sdk.CallToolParams{Name: t.name, Arguments: args})
}

// successor waits for a connection that takes the place of l, whose session
// has expired. It returns false if the server is down instead.
func (s *Server) successor(ctx context.Context, l *link) bool {
	for {
		now, moved := s.look()
		switch {
		case now.phase == Ready && now.link != l:
			return true
		case now.phase == Waiting || now.phase == Closed:
			return false
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

// attempt is a call that was made over a connection.
type attempt struct {
	link  *link
	mark  *mark
	began time.Time
}

// stopped is the failure of a call whose context has ended.
func (t *remote) stopped(ctx context.Context, began time.Time, sent bool) *tool.Error {
	what := "nothing was sent"
	if sent {
		what = "whether it took effect is unknown"
	}
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &tool.Error{Class: tool.Cancelled, Message: "the call was stopped; " + what, Err: ctx.Err()}
	}
	return &tool.Error{
		Class:   tool.Timeout,
		Unknown: sent,
		Message: fmt.Sprintf("the MCP server %s did not answer within %s; %s", t.s.cfg.Name, time.Since(began).Round(10*time.Millisecond), what),
		Err:     context.DeadlineExceeded,
	}
}

// failed says why a call has no result.
func (t *remote) failed(ctx, within context.Context, a attempt, err error) *tool.Error {
	sent := a.mark.sent.Load()
	if within.Err() != nil {
		stopped := t.stopped(ctx, a.began, sent)
		if stopped.Class == tool.Timeout && sent {
			a.link.doubt(ctx)
		}
		return stopped
	}
	if e, ok := answered(err); ok {
		return &tool.Error{Class: tool.Failed, Message: t.s.tidy(fmt.Sprintf("the MCP server %s refuses the call: %s", t.s.cfg.Name, e.Message)), Err: err}
	}
	fails := func(what string) *tool.Error {
		return &tool.Error{Class: tool.Unavailable, Message: fmt.Sprintf("the MCP server %s %s", t.s.cfg.Name, what), Err: err}
	}
	switch status := int(a.mark.status.Load()); {
	case refused(status):
		return fails(fmt.Sprintf("refuses the call with the HTTP status %d; it was not run", status))
	case status >= http.StatusBadRequest:
		return unknown(fails(fmt.Sprintf("fails with the HTTP status %d; whether the call took effect is unknown", status)))
	case !sent:
		now, _ := t.s.look()
		if now.phase == Waiting || now.phase == Closed {
			return t.s.unavailable(now)
		}
		return fails("cannot be reached: " + t.s.tidy(err.Error()))
	}
	return unknown(fails("broke off while the call ran; whether it took effect is unknown"))
}

// unknown notes that nobody knows whether the call took effect.
func unknown(e *tool.Error) *tool.Error {
	e.Unknown = true
	return e
}

// refused tells whether an HTTP status says that a request was not carried out.
func refused(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// answered returns the error that a server answered with. The SDK has errors of
// its own of the same type, with codes that it has chosen.
func answered(err error) (*jsonrpc.Error, bool) {
	const clientClosing, serverClosing, rejected = -32003, -32004, -32005
	var e *jsonrpc.Error
	if !errors.As(err, &e) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil, false
	}
	return e, e.Code != clientClosing && e.Code != serverClosing && e.Code != rejected
}
