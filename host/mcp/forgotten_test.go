package mcp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zchost/zchost/host/tool"
)

// However a server says that it does not know the session, a new one is begun
// and the refused call is sent again; another 400 is the call's own.
func TestSessionUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"404 with a JSON-RPC error": {404, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Session not found"}}`, true},
		"404 with a page":           {404, "<html>%.0s", true},
		"400 with a JSON-RPC error": {400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`, true},
		"400 for another reason":    {400, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"I do not like it"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := handler(greeter(t))
			var forgotten atomic.Value // the session that is not known any more
			forgotten.Store("")
			conf := web(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				session := r.Header.Get("Mcp-Session-Id")
				if r.Method != http.MethodPost {
					inner.ServeHTTP(w, r)
					return
				}
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				if strings.Contains(string(body), `"tools/call"`) && forgotten.CompareAndSwap("", session) || session != "" && session == forgotten.Load() {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(c.status)
					_, _ = fmt.Fprintf(w, c.body, between(string(body), `"id":`, ","))
					return
				}
				inner.ServeHTTP(w, r)
			}))
			conf.RestartMin, conf.RestartMax = time.Nanosecond, time.Minute // a session that has lived that long is begun anew at once
			s := setup(t, conf)
			got, err := pick(t, s, "greet").Call(t.Context(), tool.Call{})
			if c.want != (err == nil && got.Content == "hello") || c.want != (s.Status().Starts == 2) {
				t.Errorf("greet gives %q, %v; %d sessions", got.Content, err, s.Status().Starts)
			}
		})
	}
}

// between returns what is between two texts.
func between(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return strings.TrimRight(s, "}")
}
