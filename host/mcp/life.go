package mcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/host/tool"
)

// state is what is known of the server.
type state struct {
	phase   Phase
	link    *link // to the server that is Ready, else nil
	tools   []tool.Tool
	leftOut []string
	stale   bool // the server says that its list has changed
	failure string
	retry   time.Time
	starts  int
}

// relist is how far apart two lists are that a server announces.
const relist = time.Second

// look returns the state, and what is closed when it changes.
func (s *Server) look() (state, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.moved
}

// change changes the state.
func (s *Server) change(f func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.now)
	close(s.moved)
	s.moved = make(chan struct{})
}

// life starts the server again and again, until ctx ends.
func (s *Server) life(ctx context.Context) {
	defer close(s.done)
	defer s.change(func(n *state) { *n = state{phase: Closed, starts: n.starts} })
	failures := 0
	for {
		s.change(func(n *state) { n.phase, n.retry, n.starts = Starting, time.Time{}, n.starts+1 })
		lived, err := s.serve(ctx)
		if ctx.Err() != nil {
			return
		}
		if lived >= s.cfg.RestartMax {
			failures = 0
		}
		if errors.Is(err, sdk.ErrSessionMissing) && lived >= s.cfg.RestartMin {
			s.cfg.Logger.Info("MCP server has ended the session; a new one is begun", "server", s.cfg.Name)
			s.change(func(n *state) { *n = state{phase: Starting, starts: n.starts} })
			continue
		}
		wait := s.delay(failures)
		failures++
		why := s.tidy(err.Error())
		s.cfg.Logger.Warn("MCP server is down", "server", s.cfg.Name, "why", why, "again_in", wait.Round(time.Millisecond))
		s.change(func(n *state) {
			*n = state{phase: Waiting, failure: why, retry: time.Now().Add(wait), starts: n.starts}
		})
		if !pause(ctx, wait) {
			return
		}
	}
}

// delay returns how long to wait after so many failures in a row: twice as long
// with each, and somewhere in the upper half of that.
func (s *Server) delay(failures int) time.Duration {
	top := s.cfg.RestartMax
	if failures < 16 {
		top = min(top, 2*s.cfg.RestartMin<<failures)
	}
	return max(s.cfg.RestartMin, top/2+rand.N(top/2+1)) //nolint:gosec // so that servers do not start all at once; nobody guesses it
}

// pause waits; it returns false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// serve starts the server and stays with it until it has died. It returns for
// how long the server was ready, and why it is no longer.
func (s *Server) serve(ctx context.Context) (time.Duration, error) {
	l, found, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	s.change(func(n *state) {
		*n = state{phase: Ready, link: l, tools: found.tools, leftOut: found.leftOut, failure: n.failure, starts: n.starts}
	})
	s.cfg.Logger.Info("MCP server is ready", "server", s.cfg.Name, "tools", len(found.tools), "its_name", s.tidy(l.name), "its_version", s.tidy(l.version))
	for {
		select {
		case <-ctx.Done():
			l.close()
			return time.Since(began), ctx.Err()
		case <-l.died:
			return time.Since(began), l.end()
		case <-l.silent:
			return time.Since(began), l.end()
		case <-l.listChanged:
			s.refresh(ctx, l)
		}
	}
}

// begin starts the server and lists its tools, within StartTimeout.
func (s *Server) begin(ctx context.Context) (*link, found, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StartTimeout)
	defer cancel()
	l, err := s.open(ctx)
	if err != nil {
		return nil, found{}, s.late(ctx, err)
	}
	f, err := s.list(ctx, l)
	if err != nil {
		l.close()
		return nil, found{}, s.late(ctx, fmt.Errorf("list tools: %w", err))
	}
	return l, f, nil
}

// late says so when an error is that of the clock.
func (s *Server) late(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it does not answer within %s", s.cfg.StartTimeout)
	}
	return err
}

// refresh lists the tools again. If that fails the old list stays.
func (s *Server) refresh(ctx context.Context, l *link) {
	within, cancel := context.WithTimeout(ctx, s.cfg.StartTimeout)
	defer cancel()
	f, err := s.list(within, l)
	if err != nil && ctx.Err() == nil {
		s.cfg.Logger.Warn("MCP server does not list its changed tools", "server", s.cfg.Name, "why", s.tidy(err.Error()))
	}
	s.change(func(n *state) {
		n.stale = len(l.listChanged) > 0
		if err == nil {
			n.tools, n.leftOut = f.tools, f.leftOut
		}
	})
	if err == nil {
		s.cfg.Logger.Info("MCP server has changed its tools", "server", s.cfg.Name, "tools", len(f.tools))
	}
	// A server that changes them all the time is asked once in a while.
	timer := time.NewTimer(relist)
	defer timer.Stop()
	select {
	case <-within.Done():
	case <-timer.C:
	case <-l.died:
	case <-l.silent:
	}
}

// maxReason is how long an explanation is, in bytes.
const maxReason = 500

// tidy makes what a server or a connection says fit for one line. The query of
// the address, which errors repeat, may be meant for the server alone.
func (s *Server) tidy(text string) string {
	if _, query, _ := strings.Cut(s.cfg.URL, "?"); query != "" {
		text = strings.ReplaceAll(text, query, "…")
	}
	return clip(oneLine(s.cfg.Redactor.String(text)), maxReason)
}

// unavailable says that the server cannot be called, and when it is tried
// again.
func (s *Server) unavailable(now state) *tool.Error {
	msg := fmt.Sprintf("the MCP server %s ", s.cfg.Name)
	switch now.phase {
	case Closed:
		msg += "has been shut down"
	case Waiting:
		msg += "is down: " + now.failure
		if wait := time.Until(now.retry); wait > time.Second {
			msg += fmt.Sprintf("; it is started again in %s", wait.Round(time.Second))
		} else {
			msg += "; it is started again at once"
		}
	case Starting, Ready:
		msg += "is still starting"
		if now.failure != "" {
			msg = fmt.Sprintf("the MCP server %s is being started again; it was down: %s", s.cfg.Name, now.failure)
		}
	}
	return &tool.Error{Class: tool.Unavailable, Message: msg}
}
