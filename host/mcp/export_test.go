package mcp

import (
	"context"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds that tests go up to.
const (
	MaxAsked       = maxAsked
	MaxCalls       = maxCalls
	MaxDescription = maxDescription
	MaxJunk        = maxJunk
	MaxList        = maxList
	MaxMessage     = maxMessage
	MaxNotes       = maxNotes
	MaxResult      = maxResult
	MaxSchema      = maxSchema
)

// ExposedNames is exposedNames.
func ExposedNames(server string, tools []*sdk.Tool) []string { return exposedNames(server, tools) }

// Delay is delay.
func (s *Server) Delay(failures int) time.Duration { return s.delay(failures) }

// pair is a carrier over two pipes that are already there.
type pair struct {
	s    *Server
	dial func() (io.ReadCloser, io.WriteCloser, error)

	mu   sync.Mutex
	in   io.Closer
	conn *pipes
}

func (p *pair) Connect(context.Context) (sdk.Connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in, out, err := p.dial()
	if err != nil {
		return nil, err
	}
	p.in, p.conn = in, newPipes(in, out, newNotes(p.s).junk)
	return p.conn, nil
}

func (p *pair) abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.conn != nil {
		_ = p.conn.Close()
	}
}

func (p *pair) close() {
	p.abort()
	if p.conn != nil {
		_ = p.in.Close()
		p.conn.wait()
	}
}

func (*pair) last() error { return nil }

// StartPiped is Start for a server at the other end of the pipes that dial
// returns: the server's output, and its input.
func StartPiped(ctx context.Context, c Config, dial func() (io.ReadCloser, io.WriteCloser, error)) *Server {
	c.carry = func(s *Server) carrier { return &pair{s: s, dial: dial} }
	return Start(ctx, c)
}
