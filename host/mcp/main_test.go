package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/tool"
)

func TestMain(m *testing.M) {
	if how := os.Getenv(childVariable); how != "" {
		os.Exit(serve(how))
	}
	goleak.VerifyTestMain(m)
}

// log is a log that tests read.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *log) logger() hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Level: hclog.Debug, Output: l})
}

// quick are times for servers that are well, which are not waited for.
func quick(c mcp.Config) mcp.Config {
	c.Name = "files"
	c.Patience = 20 * time.Second
	if c.RestartMin == 0 {
		c.RestartMin, c.RestartMax = 10*time.Millisecond, 100*time.Millisecond
	}
	return c
}

// setup starts a server of the config.
func setup(t *testing.T, c mcp.Config) *mcp.Server {
	t.Helper()
	s := mcp.Start(t.Context(), quick(c))
	t.Cleanup(s.Close)
	return s
}

// web is the config of a server that answers over HTTP.
func web(t *testing.T, h http.Handler) mcp.Config {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return mcp.Config{URL: srv.URL + "/mcp", Transport: transport}
}

// handler serves one SDK server over streamable HTTP.
func handler(s *sdk.Server) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

// piped connects to an SDK server over pipes in memory. Closing the host's end
// ends the session.
func piped(ctx context.Context, s *sdk.Server) func() (io.ReadCloser, io.WriteCloser, error) {
	return func() (io.ReadCloser, io.WriteCloser, error) {
		in, theirOut := io.Pipe()
		theirIn, out := io.Pipe()
		_, err := s.Connect(ctx, &sdk.IOTransport{Reader: theirIn, Writer: theirOut}, nil)
		return in, out, err
	}
}

// add adds a tool without arguments to an SDK server.
func add(s *sdk.Server, name string, f func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
	s.AddTool(&sdk.Tool{Name: name, Description: "Does " + name + ".", InputSchema: map[string]any{"type": "object"}}, f)
}

func newServer(o *sdk.ServerOptions) *sdk.Server {
	return sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1.2.3"}, o)
}

// local is an SDK server in this process, all of whose sessions end with the
// test.
func local(t *testing.T, o *sdk.ServerOptions) *sdk.Server {
	t.Helper()
	s := newServer(o)
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
	})
	return s
}

func say(text string) (*sdk.CallToolResult, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

// tools returns the tools of a server that has to have some.
func tools(t *testing.T, s *mcp.Server) []tool.Tool {
	t.Helper()
	list, err := s.Tools(t.Context())
	if err != nil {
		t.Fatalf("tools: %v", err)
	}
	return list
}

// pick returns the tool that the server calls name.
func pick(t *testing.T, s *mcp.Server, name string) tool.Tool {
	t.Helper()
	for _, one := range tools(t, s) {
		if mcp.Named(one, name) {
			return one
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

// call calls a tool that has to give a result; one that reports an error
// begins with "!".
func call(t *testing.T, s *mcp.Server, name, args string) string {
	t.Helper()
	r, err := pick(t, s, name).Call(t.Context(), tool.Call{Arguments: []byte(args)})
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	if r.IsError {
		return "!" + r.Content
	}
	return r.Content
}

// wantError checks the class of an error, and that its text has all of the
// pieces.
func wantError(t *testing.T, err error, class tool.Class, pieces ...string) {
	t.Helper()
	var e *tool.Error
	if !errors.As(err, &e) || e.Class != class {
		t.Fatalf("error %v, want the class %s", err, class)
	}
	for _, p := range pieces {
		if !strings.Contains(e.Message, p) {
			t.Errorf("error %q lacks %q", e.Message, p)
		}
	}
}

// eventually waits until f is true: what it looks at is another process.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(20 * time.Second); !f(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("it never happens that %s", what)
		}
	}
}
