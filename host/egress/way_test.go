package egress_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/secret"
)

// A server that the operator named may be private and gets the headers; another
// one gets nothing.
func TestWay(t *testing.T) {
	t.Parallel()
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Host+r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get("X-Team")+" "+r.Header.Get("Mcp-Session-Id"))
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, "http://other.example/x", http.StatusTemporaryRedirect)
		case "/user":
			http.Redirect(w, r, "http://u:p@mcp.lan/x", http.StatusTemporaryRedirect)
		case "/here":
			http.Redirect(w, r, "/x", http.StatusTemporaryRedirect)
		case "/zip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, "unzipped")
			_ = z.Close()
		default:
			_, _ = io.WriteString(w, "plain")
		}
	}))
	defer server.Close()
	c := egress.New(egress.Options{
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
	})
	defer c.Close()
	way, err := c.Way("http://mcp.lan/mcp", secret.New(key), map[string]secret.Value{"X-Team": secret.New("blue")})
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: way}
	for path, want := range map[string]string{
		"/plain": "mcp.lan/plain Bearer " + key + " blue s-1 = plain",
		"/zip":   "mcp.lan/zip Bearer " + key + " blue s-1 = unzipped",
		"/here":  "mcp.lan/here Bearer " + key + " blue s-1, mcp.lan/x Bearer " + key + " blue s-1 = plain",
		"/away":  "mcp.lan/away Bearer " + key + " blue s-1 = it is not for http://mcp.lan, but would go to http://other.example",
		"/user":  "mcp.lan/user Bearer " + key + " blue s-1 = it is not for http://mcp.lan, but would go to http://mcp.lan",
	} {
		seen = nil
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://mcp.lan"+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Mcp-Session-Id", "s-1")
		text := ""
		resp, err := client.Do(req)
		if err == nil {
			var b []byte
			b, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			text = string(b)
		}
		if err != nil {
			text = err.Error()
		}
		got := strings.Join(seen, ", ") + " = " + text
		if got != want && (err == nil || !strings.HasSuffix(got, want[strings.Index(want, "= ")+2:])) {
			t.Errorf("%s: %s\nwant %s", path, got, want)
		}
	}
}

// What is wrong with an address is said without repeating it.
func TestWayAddress(t *testing.T) {
	t.Parallel()
	c := egress.New(egress.Options{})
	defer c.Close()
	for _, address := range []string{"", "ftp://h/" + key, "http://u:" + key + "@h/", "http:///" + key, "http://h/ " + key, "/" + key} {
		if _, err := c.Way(address, secret.Value{}, nil); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
