package mcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Protocol versions. A session is begun with initialize, which nearly all
// servers know; one that refuses it is asked the way of the versions since
// 2026-07-28, which have no sessions.
const (
	settled = "2025-11-25"
	newest  = "2026-07-28"
)

// carrier is the way to a server: a child process, or HTTP.
type carrier interface {
	sdk.Transport
	// abort ends all that goes on, at once and without waiting.
	abort()
	// close ends it in good order and waits until nothing is left; it takes a
	// few times Grace at most.
	close()
	// last says how it ended, after close; nil if there is nothing to say.
	last() error
}

// link is a connection to a server that has answered.
type link struct {
	session       *sdk.ClientSession
	carrier       carrier
	name, version string // of the server, by its own word
	hasTools      bool

	listChanged chan struct{}
	died        chan struct{} // closed when the connection is over
	cause       error         // why; to be read once died is closed

	grace, patience time.Duration
	silent          chan struct{} // closed when a ping was not answered

	mu               sync.Mutex
	doubted, closing bool // a ping is under way; there are no more
	probe            sync.WaitGroup

	// ending ends the calls that run; onClose is told when it is called.
	ending  context.CancelFunc
	onClose func(f func()) (stop func() bool)
}

// open starts the server and waits for its answer, until ctx ends.
func (s *Server) open(ctx context.Context) (*link, error) {
	l, err := s.connect(ctx, s.protocol)
	var refusal *jsonrpc.Error
	if s.protocol == settled && errors.As(err, &refusal) && refusesVersion(refusal.Code) && ctx.Err() == nil {
		if l, other := s.connect(ctx, newest); other == nil {
			s.protocol = newest
			return l, nil
		}
	}
	return l, err
}

// refusesVersion tells whether a server that answers initialize with this code
// may be one that has no initialize.
func refusesVersion(code int64) bool {
	return slices.Contains([]int64{
		sdk.CodeUnsupportedProtocolVersion, jsonrpc.CodeMethodNotFound,
		jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams,
	}, code)
}

func (s *Server) connect(ctx context.Context, protocol string) (*link, error) {
	c := s.carrier()
	life, ending := context.WithCancel(context.WithoutCancel(ctx))
	l := &link{
		carrier: c, grace: s.cfg.Grace, patience: min(probing, s.cfg.Timeout),
		listChanged: make(chan struct{}, 1), died: make(chan struct{}), silent: make(chan struct{}),
		ending: ending, onClose: func(f func()) func() bool { return context.AfterFunc(life, f) },
	}
	// Not every step of the SDK's ends with ctx; without a connection all do.
	stop := context.AfterFunc(ctx, c.abort)
	defer stop()
	client := sdk.NewClient(&sdk.Implementation{Name: "zchost", Version: s.cfg.Version}, &sdk.ClientOptions{
		Logger:                 slog.New(slog.DiscardHandler),
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { s.announced(l) },
	})
	session, err := client.Connect(ctx, c, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		ending()
		c.close()
		if _, refuses := answered(err); !refuses && c.last() != nil {
			err = c.last() // that the other end is closed says less
		}
		return nil, err
	}
	l.session = session
	if r := session.InitializeResult(); r != nil {
		l.hasTools = r.Capabilities != nil && r.Capabilities.Tools != nil
		if r.ServerInfo != nil {
			l.name, l.version = clip(r.ServerInfo.Name, maxLabel), clip(r.ServerInfo.Version, maxLabel)
		}
	}
	go func() {
		defer close(l.died)
		l.cause = session.Wait()
	}()
	return l, nil
}

// maxLabel is the longest name or version that a server says of itself, in
// bytes.
const maxLabel = 100

// carrier returns the way to the server that the config names.
func (s *Server) carrier() carrier {
	switch {
	case s.cfg.carry != nil:
		return s.cfg.carry(s)
	case len(s.cfg.Command) > 0:
		return newChild(s)
	}
	return newWeb(s)
}

// probing is how long a server that has not answered a call may take to answer
// a ping.
const probing = 10 * time.Second

// doubt asks a server that has not answered a call in time whether it is still
// there. One that does not answer that either is given up.
func (l *link) doubt(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.doubted {
		return
	}
	l.doubted = true
	l.probe.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.patience)
		defer cancel()
		stop := l.onClose(cancel)
		defer stop()
		if err := l.session.Ping(ctx, nil); err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			close(l.silent)
			return // for good
		}
		l.mu.Lock()
		l.doubted = l.closing
		l.mu.Unlock()
	})
}

// announced notes that a server has said that its list of tools has changed.
func (s *Server) announced(l *link) {
	select {
	case l.listChanged <- struct{}{}:
	default:
	}
	s.change(func(n *state) {
		if n.link == l {
			n.stale = true
		}
	})
}

// close ends the connection and the server behind it: calls are cancelled
// first, then the session is ended, then what is still there.
func (l *link) close() {
	l.mu.Lock()
	l.closing, l.doubted = true, true
	l.mu.Unlock()
	l.ending()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.session.Close() // what matters is that it is over
	}()
	timer := time.NewTimer(l.grace)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
		l.carrier.abort()
		<-closed
	}
	<-l.died
	l.probe.Wait()
	l.carrier.close()
}

// end is close for a connection that is over or given up; it returns why it is.
func (l *link) end() error {
	l.close()
	last := l.carrier.last()
	select {
	case <-l.silent:
		return errors.New("it does not answer any more")
	default:
	}
	switch {
	case last != nil:
		return last
	case l.cause != nil:
		return l.cause
	}
	return errors.New("it has closed the connection")
}
