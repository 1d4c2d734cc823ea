package egress_test

import (
	"bufio"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

// raw starts a server on loopback that reads a request's head and hands the
// connection over; it closes the connection afterwards. It returns its base
// URL.
func raw(tb testing.TB, serve func(net.Conn)) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					_, _ = io.Copy(io.Discard, req.Body)
					serve(conn)
				}
			})
		}
	})
	tb.Cleanup(func() {
		listener.Close()
		conns.Wait()
	})
	return "http://" + listener.Addr().String()
}

func get(tb testing.TB, c *egress.Client, base string) (*egress.Response, error) {
	tb.Helper()
	return c.Send(tb.Context(), egress.Endpoint{BaseURL: base}, egress.Request{URL: base + "/v1/chat?k=v", Body: [][]byte{[]byte("{}")}})
}

// An error says what failed, where, and what to do.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	c := egress.New(egress.Options{})
	t.Cleanup(c.Close)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := "http://" + listener.Addr().String()
	listener.Close()
	_, err = get(t, c, refused)
	wantError(t, err, abi.FailureNetwork, "cannot connect to "+refused+"/v1/chat: connection refused: is the server running? base_url is "+refused)
	e := asError(t, err)
	if e.Sent {
		t.Error("nothing can have been sent")
	}

	_, err = get(t, c, "http://no-such-host.invalid")
	wantError(t, err, abi.FailureNetwork, "cannot find the host of http://no-such-host.invalid/v1/chat: ")
	if e := asError(t, err); e.Sent {
		t.Error("nothing can have been sent")
	}

	quiet := httptest.NewUnstartedServer(http.NotFoundHandler())
	quiet.Config.ErrorLog = discardLog()
	quiet.StartTLS()
	defer quiet.Close()
	_, err = get(t, c, quiet.URL)
	wantError(t, err, abi.FailureNetwork, "cannot trust "+quiet.URL+"/v1/chat: ")

	pool := x509.NewCertPool()
	pool.AddCert(quiet.Certificate())
	trusting := egress.New(egress.Options{RootCAs: pool})
	defer trusting.Close()
	other := strings.Replace(quiet.URL, "127.0.0.1", "localhost", 1)
	_, err = get(t, trusting, other)
	wantError(t, err, abi.FailureNetwork, "base_url ("+other+") must have the name that the certificate is for")

	_, plain, _ := setup(t, nil)
	_, err = get(t, c, "https"+strings.TrimPrefix(plain.URL, "http"))
	wantError(t, err, abi.FailureNetwork, "the server seems to speak plain HTTP: does base_url begin with http:// ?")

	closing := raw(t, func(net.Conn) {})
	_, err = get(t, c, closing)
	wantError(t, err, abi.FailureNetwork, "connection to "+closing+"/v1/chat broke before a response came")
	if e := asError(t, err); !e.Sent {
		t.Error("the request was sent")
	}
	if _, err = c.Send(t.Context(), egress.Endpoint{BaseURL: "x"}, egress.Request{URL: "x"}); err == nil {
		t.Error("a wrong base_url is accepted")
	}
	wantError(t, err, abi.FailureInvalidRequest, "base_url")
}

// C016: a body that is cut is truncated, not complete; a reset too.
func TestCutBody(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"chunked": head + chunk("data: 1\n\n"), "in a chunk": head + "40\r\ndata: 1\n\nda", "length": "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: 1\n\n",
	} {
		for _, hard := range []bool{false, true} {
			base := raw(t, func(conn net.Conn) {
				write(conn, body)
				if hard {
					reset(conn)
				}
			})
			c := egress.New(egress.Options{})
			resp, err := get(t, c, base)
			if err != nil {
				if !hard { // a reset may overtake the head
					t.Fatal(err)
				}
				continue
			}
			got, err := drain(resp.Frames(abi.FramingSSE))
			wantError(t, err, abi.FailureTruncated, "answer from "+base+"/v1/chat was cut off")
			if !hard && len(got) != 1 {
				t.Errorf("%s: frames %q", name, got)
			}
			c.Close()
		}
	}
	// Without a length and chunks, the end of the connection is the end.
	base := raw(t, func(conn net.Conn) { write(conn, "HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n") })
	c := egress.New(egress.Options{})
	defer c.Close()
	resp, err := get(t, c, base)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := drain(resp.Frames(abi.FramingSSE)); err != io.EOF || len(got) != 1 { //nolint:errorlint // io.EOF itself
		t.Errorf("frames %q, %v", got, err)
	}
}

func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // then Close resets
	}
}

// A connection is used again only if the body was read to its end.
func TestReuse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		use   func(*egress.Response)
		conns int64
	}{
		"body read":     {func(r *egress.Response) { _, _ = r.Body(1 << 20) }, 1},
		"frames read":   {func(r *egress.Response) { _, _ = drain(r.Frames(abi.FramingSSE)) }, 1},
		"closed early":  {func(r *egress.Response) { _, _ = r.Frames(abi.FramingSSE).Next() }, 3},
		"closed unread": {func(*egress.Response) {}, 3},
		"over limit":    {func(r *egress.Response) { _, _ = r.Body(100) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var conns atomic.Int64
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "data: 1\n\n")
				flush(w)
				_, _ = io.WriteString(w, strings.Repeat("data: 2\n\n", 100_000))
			}))
			server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					conns.Add(1)
				}
			}
			server.Start()
			defer server.Close()
			client := egress.New(egress.Options{})
			defer client.Close()
			for range 3 {
				resp, err := get(t, client, server.URL)
				if err != nil {
					t.Fatal(err)
				}
				c.use(resp)
				resp.Close()
			}
			if n := conns.Load(); n != c.conns {
				t.Errorf("%d connections, want %d", n, c.conns)
			}
		})
	}
}

// CST-1: each request is a row in the ledger, so one that may have arrived is
// not sent again behind our back, not even with an idempotency key.
func TestNothingIsSentTwice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key", "X-Other"} {
		var count atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if count.Add(1) > 1 {
				if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
					conn.Close()
				}
			}
		}))
		c := egress.New(egress.Options{})
		send := func() (*egress.Response, error) {
			return c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL}, egress.Request{
				URL: server.URL, Headers: []abi.Header{{Name: name, Value: "1"}}, Body: [][]byte{[]byte("{}")},
			})
		}
		resp, err := send()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resp.Body(10); err != nil { // the connection is kept
			t.Fatal(err)
		}
		_, err = send()
		wantError(t, err, abi.FailureNetwork, "broke before a response came")
		if n := count.Load(); n != 2 || !asError(t, err).Sent {
			t.Errorf("%s: %d requests", name, n)
		}
		c.Close()
		server.Close()
	}
}

// HTTP/2: frames, secrets and cancelling work, and a cancelled stream leaves
// the connection to others.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{}, 1)
	var conns atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "data: "+r.Proto+" "+string(body)+" "+r.Header.Get("X-Key")+"\n\n")
		flush(w)
		<-r.Context().Done()
		gone <- struct{}{}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	c := egress.New(egress.Options{RootCAs: pool})
	defer c.Close()
	for range 3 {
		resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL, Secrets: secrets()}, egress.Request{
			URL: server.URL, Body: [][]byte{[]byte("bo"), []byte("dy")}, Headers: []abi.Header{{Name: "x-key", Value: "{{secret:api_key}}"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := resp.Frames(abi.FramingSSE).Next()
		if err != nil || string(list[0].Data) != "HTTP/2.0 body [redacted]" {
			t.Errorf("frames %q, %v", list, err)
		}
		resp.Close()
		<-gone // the server sees the stream end
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A server that answers before it has read the body does not confuse, and the
// body's pieces are no longer looked at when the response is closed.
func TestAnswerBeforeBodyIsRead(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = io.WriteString(w, "too much")
	}))
	defer server.Close()
	c := egress.New(egress.Options{})
	defer c.Close()
	body := make([]byte, 32<<20)
	resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL}, egress.Request{URL: server.URL, Body: [][]byte{body}})
	if err != nil {
		// The server closes the connection while we still write: what it said
		// is lost now and then, as with any client.
		wantError(t, err, abi.FailureNetwork, "broke before a response came")
		clear(body)
		return
	}
	if b, err := resp.Body(1 << 20); resp.Status != http.StatusRequestEntityTooLarge || string(b) != "too much" && err == nil {
		t.Errorf("status %d, body %q, %v", resp.Status, b, err)
	}
	resp.Close()
	clear(body) // the race detector would see a reader
}

// C014: an empty body is the end at once, and an empty body.
func TestEmptyBody(t *testing.T) {
	t.Parallel()
	c, server, _ := setup(t, nil)
	resp, err := get(t, c, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resp.Frames(abi.FramingSSE).Next(); err != io.EOF { //nolint:errorlint // io.EOF itself
		t.Error(err)
	}
	if resp, err = get(t, c, server.URL); err != nil {
		t.Fatal(err)
	}
	if b, err := resp.Body(1 << 20); len(b) != 0 || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

func TestHeadersOfResponse(t *testing.T) {
	t.Parallel()
	c, server, _ := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "Text/Event-Stream; Charset=utf-8")
		w.Header()["X-Many"] = []string{"b", "a", "\xff"}
		w.Header().Set("Retry-After", "7")
	})
	resp, err := get(t, c, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	if resp.MediaType() != "text/event-stream" || resp.Header("retry-after") != "7" || resp.Header("none") != "" {
		t.Errorf("headers %v", resp.Headers)
	}
	var many []string
	for i, h := range resp.Headers {
		if i > 0 && h.Name < resp.Headers[i-1].Name {
			t.Errorf("not sorted: %v", resp.Headers)
		}
		if h.Name == "x-many" {
			many = append(many, h.Value)
		}
	}
	if strings.Join(many, " ") != "b a \uFFFD" {
		t.Errorf("x-many %q", many)
	}
	if err := errors.Join(resp.Close(), resp.Close()); err != nil {
		t.Error(err)
	}
}
