package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// script is what the fake vendor answers to one request.
type script struct {
	status  int               // 200 if 0
	headers map[string]string // Content-Type is text/event-stream if not named
	pieces  []string          // each is a write of its own
	gap     time.Duration     // between the pieces
	end     ending
	late    time.Duration // before the head
}

// ending is how a scripted answer ends.
type ending int

const (
	clean   ending = iota // the chunked body's last chunk
	reset                 // the connection is reset
	closing               // the connection is closed without the last chunk
	silence               // nothing more, until the client goes
)

// vendor is a server of chat completions. It finds the script by the request's
// model, and its number among that model's requests; the last one serves for
// all that follow.
type vendor struct {
	*httptest.Server
	scripts map[string][]script

	mu       sync.Mutex
	requests map[string][]request
	gone     sync.WaitGroup // handlers that run
}

// request is what the vendor got.
type request struct {
	Stream    bool
	MaxTokens int64 `json:"max_tokens"`
	Key       string
	Messages  []struct {
		Role    string
		Content json.RawMessage
	}
}

func startVendor(t *testing.T, scripts map[string][]script) *vendor {
	t.Helper()
	v := &vendor{scripts: scripts, requests: map[string][]request{}}
	v.Server = httptest.NewServer(v)
	t.Cleanup(func() {
		v.CloseClientConnections()
		v.Close()
		v.gone.Wait()
	})
	return v
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.gone.Add(1)
	defer v.gone.Done()
	body, err := io.ReadAll(r.Body)
	var in struct {
		request
		Model string
	}
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in.Key = r.Header.Get("Authorization")
	v.mu.Lock()
	n := len(v.requests[in.Model])
	v.requests[in.Model] = append(v.requests[in.Model], in.request)
	scripts := v.scripts[in.Model]
	v.mu.Unlock()
	if len(scripts) == 0 {
		http.Error(w, `{"error":{"code":"model_not_found","message":"no such model"}}`, http.StatusNotFound)
		return
	}
	scripts[min(n, len(scripts)-1)].play(w, r)
}

func (s script) play(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for name, value := range s.headers {
		w.Header().Set(name, value)
	}
	select {
	case <-time.After(s.late):
	case <-r.Context().Done():
		return
	}
	w.WriteHeader(max(s.status, http.StatusOK))
	flush := http.NewResponseController(w)
	_ = flush.Flush()
	for i, p := range s.pieces {
		if i > 0 && s.gap > 0 {
			select {
			case <-time.After(s.gap):
			case <-r.Context().Done():
				return
			}
		}
		_, _ = io.WriteString(w, p)
		_ = flush.Flush()
	}
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

func (v *vendor) asked(model string) []request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.requests[model]
}

// The shorthand of cases.md for chat completions.

func chunk(delta, finish string) string {
	return fmt.Sprintf(`data: {"id":"r1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func txt(s string) string { return chunk(`{"content":`+quote(s)+`}`, "null") }
func fin(r string) string { return chunk("{}", quote(r)) }
func tc(d string) string  { return chunk(`{"tool_calls":[`+d+`]}`, "null") }

func use(p, c int) string {
	return fmt.Sprintf(`data: {"id":"r1","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", p, c, p+c)
}

const doneSignal = "data: [DONE]\n\n"

// bytewise cuts s into pieces of one byte.
func bytewise(s string) []string {
	var all []string
	for i := range len(s) {
		all = append(all, s[i:i+1])
	}
	return all
}

// whole is an answer that is not streamed.
func whole(text string) script {
	return script{
		headers: map[string]string{"Content-Type": "application/json"},
		pieces:  []string{`{"id":"r2","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":` + quote(text) + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`},
	}
}

// startHost starts a host in an empty home with this config. Compiled plugins
// are shared between tests.
func startHost(t *testing.T, config string, env ...string) *host.Host {
	t.Helper()
	home := newHome(t, config)
	h, err := host.Start(t.Context(), host.Options{Home: home, Env: env, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func newHome(t testing.TB, config string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	shared := filepath.Join(os.TempDir(), "zchost-test-cache")
	if err := os.MkdirAll(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(shared, filepath.Join(home, "cache")); err != nil {
		t.Fatal(err)
	}
	return home
}

// ask runs one turn to its end.
func ask(t *testing.T, h *host.Host, agent, text string) (journal.Turn, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := h.Send(ctx, turn.Message{Session: agent, Agent: agent, Surface: "cli", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Events(ctx, got.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for {
		events, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Type == "text" {
				shown.WriteString(e.Text)
			}
		}
	}
	if got, err = h.Wait(ctx, got.ID); err != nil {
		t.Fatal(err)
	}
	return got, shown.String()
}

// outcomes lists how the turn's attempts went: "stream truncated; whole complete".
func outcomes(t *testing.T, h *host.Host, turnID string) (string, []journal.Attempt) {
	t.Helper()
	attempts, err := h.Journal().Attempts(t.Context(), turnID)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, a := range attempts {
		mode := "whole"
		if a.Streaming {
			mode = "stream"
		}
		all = append(all, mode+" "+a.Outcome)
	}
	return strings.Join(all, "; "), attempts
}
