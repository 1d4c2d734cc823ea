package egress_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// C142, STR-9: many streams of each kind of ending leave no goroutine, file or
// connection behind. ZCHOST_STREAMS sets how many of each kind; 5,000 is what
// the case asks for.
//
//nolint:paralleltest // it counts what the whole process holds
func TestEndingsLeaveNothing(t *testing.T) {
	streams := 200
	if n, err := strconv.Atoi(os.Getenv("ZCHOST_STREAMS")); err == nil {
		streams = n
	}
	var open sync.WaitGroup // connections, as the server sees them
	server := httptest.NewUnstartedServer(http.HandlerFunc(ending))
	server.Config.ErrorLog = discardLog()
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		switch s {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed, http.StateHijacked:
			open.Done()
		case http.StateActive, http.StateIdle:
		}
	}
	server.Start()
	defer server.Close()
	c := egress.New(egress.Options{})
	goroutines, files := runtime.NumGoroutine(), countFiles(t)
	for _, kind := range []string{"done", "eof", "cut", "429", "cancel", "close", "stall", "no answer", "refused"} {
		start := time.Now()
		var running sync.WaitGroup
		for worker := range 8 {
			running.Go(func() {
				for i := worker; i < streams; i += 8 {
					stream(t, c, server.URL, kind)
				}
			})
		}
		running.Wait()
		t.Logf("%s: %d in %s", kind, streams, time.Since(start).Round(time.Millisecond))
	}
	c.Close()
	open.Wait() // the server has seen every connection close
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > goroutines+2 || countFiles(t) > files+2 {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d files; %d, %d before", runtime.NumGoroutine(), countFiles(t), goroutines, files)
		}
		runtime.Gosched()
	}
}

// ending answers in the way that the request's path names.
func ending(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	send := func(s string) {
		_, _ = io.WriteString(w, s)
		flush(w)
	}
	switch r.URL.Path {
	case "/429":
		w.WriteHeader(http.StatusTooManyRequests)
	case "/eof":
		send("data: 1\n\n")
	case "/cut":
		send("data: 1\n\n")
		panic(http.ErrAbortHandler)
	case "/no answer":
		<-r.Context().Done()
	default: // open until the client goes
		send("data: 1\n\n")
		<-r.Context().Done()
	}
}

func stream(t *testing.T, c *egress.Client, base, kind string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	to := base
	if kind == "refused" {
		to = "http://127.0.0.1:1"
	}
	clocks := egress.Clocks{}
	switch kind {
	case "stall":
		clocks.Idle = 2 * time.Millisecond
	case "no answer":
		clocks.Header = 20 * time.Millisecond
	}
	resp, err := c.Send(ctx, egress.Endpoint{BaseURL: to, Clocks: clocks}, egress.Request{URL: to + "/" + kindPath(kind), Body: [][]byte{[]byte("{}")}})
	if kind == "no answer" || kind == "refused" {
		if err == nil {
			t.Errorf("%s: a response", kind)
			resp.Close()
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", kind, err)
		return
	}
	defer resp.Close()
	if kind == "429" {
		_, err = resp.Body(1 << 20)
		report(t, kind, err == nil, err)
		return
	}
	frames := resp.Frames(abi.FramingSSE)
	if list, err := frames.Next(); err != nil && kind != "stall" || err == nil && len(list) != 1 {
		t.Errorf("%s: %v, %v", kind, list, err)
	}
	switch kind {
	case "done": // its signal was seen: resp.Close
	case "close":
		time.AfterFunc(0, func() { _ = resp.Close() })
		_, err = frames.Next()
		report(t, kind, errors.Is(err, egress.ErrClosed), err)
	case "cancel":
		time.AfterFunc(0, cancel)
		_, err = frames.Next()
		report(t, kind, errors.Is(err, context.Canceled), err)
	default:
		_, err = frames.Next()
		want := map[string]string{"eof": "eof", "cut": "truncated", "stall": "timeout"}[kind]
		report(t, kind, outcome(err) == want, err)
	}
}

func kindPath(kind string) string {
	if kind == "no answer" {
		return "no%20answer"
	}
	return kind
}

func report(t *testing.T, kind string, ok bool, err error) {
	t.Helper()
	if !ok {
		t.Errorf("%s: %v", kind, err)
	}
}

// countFiles counts the open files of this process, where the system tells.
func countFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(list)
}

// STR-9: cancelling while a connection is being opened, or TLS being agreed on,
// ends that too; net/http alone would go on with it.
func TestCancelWhileConnecting(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "https"} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		accepted, closed := make(chan struct{}), make(chan error, 1)
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				closed <- err
				return
			}
			defer conn.Close()
			close(accepted)
			_, err = io.Copy(io.Discard, conn) // returns when the client closes
			closed <- err
		}()
		ctx, cancel := context.WithCancel(t.Context())
		c := egress.New(egress.Options{})
		base := fmt.Sprintf("%s://%s", scheme, listener.Addr())
		go func() {
			<-accepted
			cancel()
		}()
		_, err = c.Send(ctx, egress.Endpoint{BaseURL: base}, egress.Request{URL: base})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", scheme, err)
		}
		if err := <-closed; err != nil {
			t.Errorf("%s: the server saw %v", scheme, err)
		}
		listener.Close()
		c.Close()
	}
}
