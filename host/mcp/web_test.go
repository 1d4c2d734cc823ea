package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
)

func greeter(t *testing.T) *sdk.Server {
	s := local(t, nil)
	add(s, "greet", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("hello") })
	return s
}

// A server at an address has its tools, whether it answers with streams or
// with JSON, with sessions or without, and with initialize or without.
func TestWeb(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*sdk.StreamableHTTPOptions{
		"streams":   nil,
		"JSON":      {JSONResponse: true},
		"stateless": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := greeter(t)
			c := web(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, o))
			s := setup(t, c)
			for range 3 {
				if got := call(t, s, "greet", ""); got != "hello" {
					t.Errorf("greet gives %s", got)
				}
			}
			s.Close()
		})
	}
}

// A server that is not there yet has no tools, and has them later.
func TestWebDown(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	s := setup(t, mcp.Config{URL: "http://" + l.Addr().String() + "/?user=me-alone", Transport: transport})
	if _, err := s.Tools(t.Context()); err == nil {
		t.Fatal("a server that is not there has tools")
	} else {
		wantError(t, err, tool.Unavailable, "files is down", "connection refused", "started again")
		if strings.Contains(err.Error(), "me-alone") {
			t.Errorf("the error repeats the whole address: %v", err)
		}
	}
	if l, err = net.Listen("tcp", l.Addr().String()); err != nil {
		t.Skip("the port was taken: ", err)
	}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler(greeter(t))}}
	srv.Start()
	defer srv.Close()
	eventually(t, "it is ready", func() bool { return s.Status().Phase == mcp.Ready })
	if got := call(t, s, "greet", ""); got != "hello" {
		t.Errorf("greet gives %s", got)
	}
	s.Close()
}

// A session that the server has forgotten is begun anew, and the call that was
// refused for it is sent again: it was not run.
func TestSessionExpires(t *testing.T) {
	t.Parallel()
	server := greeter(t)
	var now atomic.Pointer[http.Handler]
	forget := func() { h := handler(server); now.Store(&h) }
	forget()
	c := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*now.Load()).ServeHTTP(w, r) }))
	c.RestartMin, c.RestartMax = time.Nanosecond, time.Minute // a session that has lived that long is begun anew at once
	s := setup(t, c)
	for i := range 3 {
		if got := call(t, s, "greet", ""); got != "hello" {
			t.Errorf("call %d gives %s", i, got)
		}
		forget()
	}
	if n := s.Status().Starts; n != 3 {
		t.Errorf("%d sessions", n)
	}
}

// A status that refuses says that the call was not run, others leave it open.
func TestStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		401: "status 401; it was not run", 403: "it was not run", 413: "it was not run", 429: "it was not run", 503: "it was not run",
		500: "the HTTP status 500; whether the call took effect is unknown", 502: "unknown", 504: "unknown",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			inner := handler(greeter(t))
			var bad atomic.Bool
			s := setup(t, web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if bad.Load() && r.Method == http.MethodPost {
					http.Error(w, strings.Repeat("<html>", 100_000), status)
					return
				}
				inner.ServeHTTP(w, r)
			})))
			greet := pick(t, s, "greet")
			bad.Store(true)
			_, err := greet.Call(t.Context(), tool.Call{})
			wantError(t, err, tool.Unavailable, want)
		})
	}
}

// A connection that breaks while a call runs leaves its outcome open.
func TestWebBreaks(t *testing.T) {
	t.Parallel()
	server := greeter(t)
	inner := handler(server)
	var bad atomic.Bool
	s := setup(t, web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if bad.Load() && r.Method == http.MethodPost {
			panic(http.ErrAbortHandler)
		}
		inner.ServeHTTP(w, r)
	})))
	greet := pick(t, s, "greet")
	bad.Store(true)
	_, err := greet.Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Unavailable, "broke off while the call ran", "unknown")
	bad.Store(false)
	if got := call(t, s, "greet", ""); got != "hello" {
		t.Errorf("greet gives %s", got)
	}
}

// A server that never answers the request for its stream of notifications, or
// refuses it in whatever way, can be used all the same.
func TestNoStream(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]http.HandlerFunc{
		"404":    http.NotFound,
		"500":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"HTML":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"break":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := handler(greeter(t))
			c := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					refuse(w, r)
					return
				}
				inner.ServeHTTP(w, r)
			}))
			c.StartTimeout = 4 * time.Second
			s := setup(t, c)
			if got := call(t, s, "greet", ""); got != "hello" || s.Status().Starts != 1 {
				t.Errorf("greet gives %s, %d starts", got, s.Status().Starts)
			}
		})
	}
}

// keyed adds a header to every request, wherever it goes.
type keyed struct {
	http.RoundTripper
	key string
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("X-Key", k.key)
	return k.RoundTripper.RoundTrip(r)
}

// A key goes to the server of the config and nowhere else, and is in no result,
// error or line of the log.
func TestKey(t *testing.T) {
	t.Parallel()
	const key = "sk-very-secret-1234567890"
	var other atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other.Add(1) }))
	defer thief.Close()
	server := local(t, nil)
	add(server, "tell", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("your key is " + r.Extra.Header.Get("X-Key"))
	})
	add(server, "refuse", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("the key %s is bad", key)
	})
	inner := handler(server)
	var redirect atomic.Bool
	c := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Key") != key:
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case redirect.Load():
			http.Redirect(w, r, thief.URL+"/?key="+key, http.StatusTemporaryRedirect)
		case r.URL.Path == "/mcp": // as servers do that want a slash
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
		default:
			inner.ServeHTTP(w, r)
		}
	}))
	var l log
	c.Logger = l.logger()
	c.Transport = keyed{c.Transport, key}
	c.Redactor = secret.NewRedactor()
	c.Redactor.Add(secret.New(key))
	s := setup(t, c)
	if got := call(t, s, "tell", ""); got != "your key is [redacted]" {
		t.Errorf("tell gives %s", got)
	}
	_, err := pick(t, s, "refuse").Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Failed, "refuses the call", "[redacted] is bad")
	tell := pick(t, s, "tell")
	redirect.Store(true)
	_, err = tell.Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Unavailable)
	if strings.Contains(err.Error(), key) || strings.Contains(l.String(), key) || strings.Contains(s.Status().Failure, key) {
		t.Errorf("the key is told: %v\n%s", err, &l)
	}
	if other.Load() > 0 {
		t.Error("a redirect to another server was followed")
	}
}

// A wrong key is what the operator is told.
func TestUnauthorized(t *testing.T) {
	t.Parallel()
	s := setup(t, web(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })))
	_, err := s.Tools(t.Context())
	wantError(t, err, tool.Unavailable, "files is down", "Unauthorized")
}

// Close does not wait for a server that does not answer any more.
func TestCloseWeb(t *testing.T) {
	t.Parallel()
	inner := handler(greeter(t))
	var stuck atomic.Bool
	came, free := make(chan struct{}, 10), make(chan struct{})
	c := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if stuck.Load() {
			came <- struct{}{}
			<-free
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { close(free) })
	c.Grace = 100 * time.Millisecond
	s := setup(t, c)
	greet := pick(t, s, "greet")
	stuck.Store(true)
	failed := make(chan error, 1)
	go func() {
		_, err := greet.Call(t.Context(), tool.Call{})
		failed <- err
	}()
	<-came
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %s", took)
	}
	wantError(t, <-failed, tool.Unavailable)
}

// A response without end is cut off.
func TestHugeResponse(t *testing.T) {
	t.Parallel()
	inner := handler(greeter(t))
	var bad atomic.Bool
	s := setup(t, web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !bad.Load() || r.Method != http.MethodPost {
			inner.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for line := []byte("data: " + strings.Repeat("x", 1<<20)); ; {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})))
	greet := pick(t, s, "greet")
	bad.Store(true)
	_, err := greet.Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Unavailable, "unknown")
}
