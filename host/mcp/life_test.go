package mcp_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/tool"
)

// A server that cannot be started is tried again after a delay that grows from
// 1 s to 1 min.
func TestDelayGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Time
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files"}, func() (io.ReadCloser, io.WriteCloser, error) {
			tries = append(tries, time.Now())
			return nil, nil, errors.New("nobody is there")
		})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		st := s.Status()
		_, err := s.Tools(t.Context())
		wantError(t, err, tool.Unavailable, "files is down: nobody is there; it is started again ")
		s.Close()
		if st.Phase != mcp.Waiting || !st.Retry.After(time.Now()) || st.Starts != len(tries) {
			t.Errorf("status %+v", st)
		}
		top := 2 * time.Second
		for i := 1; i < len(tries); i++ {
			if d := tries[i].Sub(tries[i-1]); d < top/2 || d > top {
				t.Errorf("delay %d is %s, want %s to %s", i, d, top/2, top)
			}
			top = min(2*top, time.Minute)
		}
		if len(tries) < 12 {
			t.Errorf("%d tries in ten minutes", len(tries))
		}
	})
}

// After a server has lived for a while its death counts as the first again.
func TestDelayIsReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Time
		server := newServer(nil)
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files"}, func() (io.ReadCloser, io.WriteCloser, error) {
			tries = append(tries, time.Now())
			if len(tries) < 5 {
				return nil, nil, errors.New("nobody is there")
			}
			return piped(t.Context(), server)()
		})
		defer s.Close()
		die := func(after time.Duration) {
			for s.Status().Phase != mcp.Ready {
				time.Sleep(time.Second)
			}
			time.Sleep(after)
			for session := range server.Sessions() {
				_ = session.Close()
			}
			synctest.Wait()
		}
		die(30 * time.Second)
		die(61 * time.Second)
		die(time.Hour)
		time.Sleep(time.Minute)
		s.Close()
		between := func(i int, least, most time.Duration) {
			t.Helper()
			if d := tries[i].Sub(tries[i-1]); d < least || d > most {
				t.Errorf("the start after %d came after %s", i, d)
			}
		}
		between(5, 30*time.Second+16*time.Second, 30*time.Second+33*time.Second) // the fifth delay: it had not lived long enough
		between(6, 62*time.Second, 64*time.Second)
		between(7, time.Hour+time.Second, time.Hour+3*time.Second)
	})
}

// A cancelled call returns at once, and the server is told.
func TestCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(nil)
		var stopped []string
		add(server, "wait", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			<-ctx.Done()
			stopped = append(stopped, string(r.Params.Arguments))
			return nil, ctx.Err()
		})
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files", Timeout: time.Minute}, piped(t.Context(), server))
		defer s.Close()
		wait := pick(t, s, "wait")

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		_, err := wait.Call(ctx, tool.Call{Arguments: []byte(`{"n":1}`)})
		wantError(t, err, tool.Cancelled, "the call was stopped", "unknown")
		if took := time.Since(began); took != time.Second {
			t.Errorf("returned after %s", took)
		}

		began = time.Now()
		_, err = wait.Call(t.Context(), tool.Call{Arguments: []byte(`{"n":2}`)})
		wantError(t, err, tool.Timeout, "files did not answer within 1m0s", "unknown")
		if took := time.Since(began); took != time.Minute {
			t.Errorf("returned after %s", took)
		}
		synctest.Wait()
		if want := []string{`{"n":1}`, `{"n":2}`}; !slices.Equal(stopped, want) {
			t.Errorf("the server was told to stop %v", stopped)
		}
		if s.Status().Starts != 1 {
			t.Error("a server that answers a ping was given up")
		}
	})
}

// More calls than a server may run wait for their turn, within their time.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(nil)
		add(server, "wait", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files", Timeout: 5 * time.Second}, piped(t.Context(), server))
		defer s.Close()
		wait := pick(t, s, "wait")
		var all sync.WaitGroup
		sent, unsent := 0, 0
		var mu sync.Mutex
		for i := range mcp.MaxCalls + 3 {
			if i == mcp.MaxCalls {
				synctest.Wait() // these come too late
			}
			all.Go(func() {
				limit := 10 * time.Second
				if i >= mcp.MaxCalls {
					limit = time.Second
				}
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				_, err := wait.Call(ctx, tool.Call{})
				mu.Lock()
				defer mu.Unlock()
				var e *tool.Error
				switch {
				case !errors.As(err, &e) || e.Class != tool.Timeout:
					t.Errorf("error %v", err)
				case strings.Contains(e.Message, "nothing was sent"):
					unsent++
				default:
					sent++
				}
			})
		}
		all.Wait()
		if sent != mcp.MaxCalls || unsent != 3 {
			t.Errorf("%d sent, %d not", sent, unsent)
		}
	})
}

// A server that does not read blocks nobody: a call ends with its time, and
// then the server is given up.
func TestDeaf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(nil)
		add(server, "greet", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("hello") })
		var deaf chan struct{}
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files", Timeout: 5 * time.Second}, func() (io.ReadCloser, io.WriteCloser, error) {
			deaf = make(chan struct{})
			in, out, err := piped(t.Context(), server)()
			return in, &gate{WriteCloser: out, shut: deaf, closed: make(chan struct{})}, err
		})
		defer s.Close()
		greet := pick(t, s, "greet")
		close(deaf)
		_, err := greet.Call(t.Context(), tool.Call{})
		wantError(t, err, tool.Timeout, "within 5s")
		time.Sleep(time.Minute)
		if st := s.Status(); st.Starts != 2 || st.Phase != mcp.Ready {
			t.Errorf("status %+v", st)
		}
		if got := call(t, s, "greet", ""); got != "hello" {
			t.Errorf("greet gives %s", got)
		}
	})
}

// gate lets nothing through once it is shut.
type gate struct {
	io.WriteCloser
	shut   chan struct{}
	closed chan struct{}
	once   sync.Once
}

func (g *gate) Write(p []byte) (int, error) {
	select {
	case <-g.shut:
		<-g.closed
		return 0, io.ErrClosedPipe
	default:
		return g.WriteCloser.Write(p)
	}
}

func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return g.WriteCloser.Close()
}

// A list that changes is read again; one that changes all the time, once a
// second.
func TestListChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lists atomic.Int32
		server := newServer(nil)
		server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				if method == "tools/list" {
					lists.Add(1)
				}
				return next(ctx, method, r)
			}
		})
		hello := func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("hello") }
		add(server, "one", hello)
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files"}, piped(t.Context(), server))
		defer s.Close()
		names := func() []string {
			var list []string
			for _, one := range tools(t, s) {
				list = append(list, one.Spec().Name)
			}
			return list
		}
		if got := names(); !slices.Equal(got, []string{"files__one"}) {
			t.Errorf("tools %v", got)
		}
		gone := pick(t, s, "one")
		add(server, "two", hello)
		server.RemoveTools("one")
		time.Sleep(time.Second) // the SDK waits for more changes before it tells of one
		if got := names(); !slices.Equal(got, []string{"files__two"}) {
			t.Errorf("tools %v", got)
		}
		_, err := gone.Call(t.Context(), tool.Call{})
		wantError(t, err, tool.Failed, `unknown tool "one"`)
		before := lists.Load()
		for range 50 { // five seconds
			add(server, "three", hello)
			time.Sleep(100 * time.Millisecond)
		}
		if n := lists.Load() - before; n < 3 || n > 7 {
			t.Errorf("listed %d times in five seconds", n)
		}
	})
}

// A server is offered nothing: no roots, no sampling, no elicitation. What it
// asks for is refused.
func TestOffersNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(nil)
		add(server, "ask", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			c := r.Session.InitializeParams().Capabilities
			if c.RootsV2 != nil || c.Sampling != nil || c.Elicitation != nil { //nolint:staticcheck // old servers look at them
				t.Errorf("offered %+v", c)
			}
			if _, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "password?"}); err == nil {
				t.Error("a question was answered")
			}
			if _, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 1}); err == nil { //nolint:staticcheck // old servers ask for it
				t.Error("a message was made")
			}
			return say("asked")
		})
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files", Version: "0.1"}, piped(t.Context(), server))
		defer s.Close()
		if got := call(t, s, "ask", ""); got != "asked" {
			t.Errorf("ask gives %s", got)
		}
	})
}

// A server that knows only the protocol without initialize can be used, and is
// asked that way from then on.
func TestNewestProtocol(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files"}, func() (io.ReadCloser, io.WriteCloser, error) {
			dials++
			in, theirOut := io.Pipe()
			theirIn, out := io.Pipe()
			go modern(theirIn, theirOut)
			return in, out, nil
		})
		defer s.Close()
		if got := call(t, s, "greet", "{}"); got != "hello" || dials != 2 {
			t.Errorf("greet gives %s after %d dials", got, dials)
		}
	})
}

// A server that asks and asks, and does not read the answers, is given up.
func TestAsksTooMuch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l log
		s := mcp.StartPiped(t.Context(), mcp.Config{Name: "files", Logger: l.logger(), StartTimeout: 5 * time.Second}, func() (io.ReadCloser, io.WriteCloser, error) {
			in, theirOut := io.Pipe()
			_, out := io.Pipe()
			go func() {
				for {
					if _, err := io.WriteString(theirOut, `{"jsonrpc":"2.0","id":"a","method":"ping"}`+"\n"); err != nil {
						return
					}
				}
			}()
			return in, out, nil
		})
		defer s.Close()
		time.Sleep(30 * time.Second)
		if st := s.Status(); st.Starts < 2 || st.Failure == "" {
			t.Errorf("status %+v", st)
		}
	})
}
