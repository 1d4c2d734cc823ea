// Package mcp makes the tools of Model Context Protocol servers tools of the
// host. A server is a command that speaks over its standard input and output,
// or an address that speaks streamable HTTP. See docs/mcp.md, and
// https://modelcontextprotocol.io/specification for the protocol.
//
// Start returns at once; the server is started, and started again when it
// dies, by a goroutine of its own:
//
//	Starting ──► Ready          it answered and listed its tools
//	Starting ──► Waiting        it could not be started
//	Ready    ──► Waiting        it died
//	Waiting  ──► Starting       the delay is over: 1 s, growing to 1 min
//	any      ──► Closed         Close
//
// Tools lists what there is when a turn begins. A call goes to the server that
// runs then, and never waits for one that is down: it fails with a
// *tool.Error of class unavailable, which says when the server is tried again.
// A call whose server dies fails likewise, and says that it is not known
// whether the call took effect; it is not sent again.
//
// A server gets what the config gives it and no more: a few variables of the
// host's environment, no roots, no sampling, no elicitation. What it says is
// bounded in size and number, and free of the secrets that it was given.
package mcp

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
)

// Config says what a server is. Exactly one of Command and URL is set.
type Config struct {
	// Name is that of the [mcp.NAME] table: a-z, A-Z, 0-9, "_" and "-", at most
	// MaxName.
	Name string

	// Command is the program with its arguments; no shell reads it.
	Command []string
	// Dir is where it runs; empty means the host's own directory.
	Dir string
	// Environ is the host's environment, as os.Environ returns it. The command
	// gets only the variables that Inherited names.
	Environ []string
	// Env are more variables for the command.
	Env map[string]Value

	// URL is the address of a server that speaks streamable HTTP.
	URL string
	// Transport sends the requests to URL, and adds the headers that the server
	// wants; required with URL. Redirects to another origin are not followed.
	Transport http.RoundTripper

	// Trust lets the server's word count that a tool only reads. Without it
	// every tool has the effect write.
	Trust bool
	// Timeout is how long one call may take; 0 means 1 min.
	Timeout time.Duration

	// Version is the host's, told to the server; may be empty.
	Version string
	// Redactor takes secrets out of results, errors and the log. It learns those
	// of Env; those that Transport sends it has to know already. Nil means one
	// of its own.
	Redactor *secret.Redactor
	// Logger gets what the server writes to its standard error, and what
	// becomes of it; nil drops them.
	Logger hclog.Logger

	// StartTimeout is how long the server may take to answer and to list its
	// tools; 0 means 1 min.
	StartTimeout time.Duration
	// Patience is how long Tools waits for a server that is starting; 0 means
	// 10 s.
	Patience time.Duration
	// RestartMin and RestartMax bound the delay before a server is started
	// again; 0 means 1 s and 1 min. It begins again with RestartMin when the
	// server has lived for RestartMax.
	RestartMin, RestartMax time.Duration
	// Grace is how long a command may take to end: after its input was closed,
	// and once more after SIGTERM. Then it is killed. 0 means 2 s.
	Grace time.Duration

	carry func(*Server) carrier // another way to the server, in tests
}

// Value is the value of a variable: a secret, or plain text.
type Value struct {
	// Secret is used unless it is empty.
	Secret secret.Value
	// Text is plain text, which may be logged.
	Text string
}

func (v Value) reveal() string {
	if v.Secret.Empty() {
		return v.Text
	}
	return v.Secret.Reveal()
}

// Bounds that no config changes.
const (
	// MaxName is the longest name of a server.
	MaxName = 32
	// MaxTools is how many tools of a server are used.
	MaxTools = 128
	// maxCalls is how many calls of a server run side by side; more wait.
	maxCalls = 16
)

func (c Config) withDefaults() Config {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&c.Timeout, tool.DefaultTimeout)
	set(&c.StartTimeout, time.Minute)
	set(&c.Patience, 10*time.Second)
	set(&c.RestartMin, time.Second)
	set(&c.RestartMax, time.Minute)
	set(&c.Grace, 2*time.Second)
	if c.Logger == nil {
		c.Logger = hclog.NewNullLogger()
	}
	if c.Redactor == nil {
		c.Redactor = secret.NewRedactor()
	}
	for _, v := range c.Env {
		c.Redactor.Add(v.Secret)
	}
	return c
}

// Phase is where a server is in its life.
type Phase string

// The phases.
const (
	Starting Phase = "starting" // it was started, and has not listed its tools yet
	Ready    Phase = "ready"    // it can be called
	Waiting  Phase = "waiting"  // it could not be started or died, and is started again soon
	Closed   Phase = "closed"   // Close was called
)

// Status is how a server is.
type Status struct {
	Phase Phase
	// Name and Version are what a server that is ready says of itself.
	Name, Version string
	// Tools is how many tools it has, LeftOut says which are not used and why.
	Tools   int
	LeftOut []string
	// Failure says why it is Waiting, or why it had to be started again; may
	// be empty.
	Failure string
	// Retry is when it is started again; zero unless it is Waiting.
	Retry time.Time
	// Starts is how often it was started.
	Starts int
}

// Server is one server of the config. Its methods may be called by several
// goroutines at once.
type Server struct {
	cfg      Config
	stop     context.CancelFunc
	done     chan struct{} // closed when the life is over
	calls    chan struct{} // an entry for each call that runs
	protocol string        // the version to begin with; used in life alone

	mu    sync.Mutex
	now   state
	moved chan struct{} // closed with every change of now
}

// Start starts a server and returns at once. Whether the server can be started
// is seen by Tools and Status, and in the log. The server lives until Close, or
// until ctx ends.
func Start(ctx context.Context, c Config) *Server {
	ctx, stop := context.WithCancel(ctx)
	s := &Server{
		cfg:  c.withDefaults(),
		stop: stop, done: make(chan struct{}),
		calls: make(chan struct{}, maxCalls),
		now:   state{phase: Starting}, moved: make(chan struct{}),
		protocol: settled,
	}
	go s.life(ctx)
	return s
}

// Close ends the server and waits until nothing of it is left. A command has
// Grace to end by itself once its input is closed, as long again after SIGTERM;
// then its process group is killed. Calls that run fail.
func (s *Server) Close() {
	s.stop()
	<-s.done
}

// Tools returns the tools of the server as it listed them last. It waits for a
// server that is being started for the first time, but at most Patience. The
// error is a *tool.Error, which says why there are none.
func (s *Server) Tools(ctx context.Context) ([]tool.Tool, error) {
	patience := time.NewTimer(s.cfg.Patience)
	defer patience.Stop()
	for {
		now, moved := s.look()
		switch {
		case now.phase == Ready && !now.stale:
			return slices.Clone(now.tools), nil
		case now.phase != Ready && (now.phase != Starting || now.failure != ""):
			return nil, s.unavailable(now)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, &tool.Error{Class: tool.Cancelled, Message: "it was stopped", Err: ctx.Err()}
		case <-patience.C:
			if now.phase == Ready { // its new list is late
				return slices.Clone(now.tools), nil
			}
			return nil, s.unavailable(now)
		}
	}
}

// Status tells how the server is.
func (s *Server) Status() Status {
	now, _ := s.look()
	st := Status{
		Phase: now.phase, Tools: len(now.tools), LeftOut: slices.Clone(now.leftOut),
		Failure: now.failure, Retry: now.retry, Starts: now.starts,
	}
	if now.link != nil {
		st.Name, st.Version = now.link.name, now.link.version
	}
	return st
}
