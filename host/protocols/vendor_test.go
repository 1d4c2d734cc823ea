package protocols

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// script is what the fake vendor answers to one request.
type script struct {
	status  int               // 200 if 0
	headers map[string]string // Content-Type is text/event-stream if not named
	pieces  []string          // each is a write of its own
	gap     time.Duration     // between the pieces
	end     ending
	late    time.Duration // before the head
	forever string        // sent again and again after the pieces, every 10 ms
}

// ending is how a scripted answer ends.
type ending int

const (
	clean   ending = iota // the chunked body's last chunk
	reset                 // the connection is reset
	closing               // the connection is closed without the last chunk
	silence               // nothing more, until the client goes
)

// vendor is a server for many tests at once: the request's model is the test's
// name. A test's scripts are played in order, the last one for all requests
// that follow.
type vendor struct {
	*httptest.Server
	wire wire

	mu       sync.Mutex
	scripts  map[string][]script
	judges   map[string]func(request) *script // asked before the script is played
	requests map[string][]request
	gone     sync.WaitGroup // handlers that run
}

func startVendor(t testing.TB, w wire) *vendor {
	t.Helper()
	v := &vendor{wire: w, scripts: map[string][]script{}, judges: map[string]func(request) *script{}, requests: map[string][]request{}}
	v.Server = httptest.NewServer(v)
	t.Cleanup(func() {
		v.CloseClientConnections()
		v.Close()
		v.gone.Wait()
	})
	return v
}

// plays sets the scripts of a test.
func (v *vendor) plays(name string, scripts ...script) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.scripts[name] = scripts
}

// judge sets a check of a test's requests: what it returns is played in place
// of the script, which stays for the next request.
func (v *vendor) judge(name string, f func(request) *script) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.judges[name] = f
}

// base is the base_url.
func (v *vendor) base() string { return v.URL + v.wire.suffix() }

// asked returns the requests of a test.
func (v *vendor) asked(name string) []request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.requests[name]
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.gone.Add(1)
	defer v.gone.Done()
	body, err := io.ReadAll(r.Body)
	in := v.wire.read(r, body)
	in.body = string(body)
	name := in.model
	v.mu.Lock()
	scripts := v.scripts[name]
	n := len(v.requests[name])
	v.requests[name] = append(v.requests[name], in)
	judge := v.judges[name]
	v.mu.Unlock()
	if err != nil || len(scripts) == 0 {
		http.Error(w, "no script", http.StatusTeapot)
		return
	}
	if judge != nil {
		if refused := judge(in); refused != nil {
			refused.play(w, r)
			return
		}
	}
	scripts[min(n, len(scripts)-1)].play(w, r)
}

func (s script) play(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for name, value := range s.headers {
		w.Header().Set(name, value)
	}
	if !wait(r, s.late) {
		return
	}
	w.WriteHeader(max(s.status, http.StatusOK))
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for i, p := range s.pieces {
		if i > 0 && !wait(r, s.gap) {
			return
		}
		_, _ = io.WriteString(w, p)
		_ = flush.Flush()
	}
	for s.forever != "" {
		if !wait(r, 10*time.Millisecond) {
			return
		}
		_, _ = io.WriteString(w, s.forever)
		_ = flush.Flush()
	}
	s.finish(flush, r)
}

func (s script) finish(flush *http.ResponseController, r *http.Request) {
	switch s.end {
	case clean:
	case silence:
		<-r.Context().Done()
	case reset, closing:
		if conn, _, err := flush.Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok && s.end == reset {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		}
	}
}

// wait waits for d and reports whether the client is still there.
func wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return r.Context().Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// bytewise cuts s into pieces of one byte.
func bytewise(s string) []string {
	all := make([]string, len(s))
	for i := range len(s) {
		all[i] = s[i : i+1]
	}
	return all
}

// gzipped compresses pieces, each flushed by itself.
func gzipped(pieces ...string) []string {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	var out []string
	for _, p := range pieces {
		_, _ = w.Write([]byte(p))
		_ = w.Flush()
		out = append(out, buf.String())
		buf.Reset()
	}
	_ = w.Close()
	return append(out, buf.String())
}
