package core_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/tool/core"
)

// web is a workspace with fetch_url, for which every name leads to a server.
func web(t *testing.T, answer http.HandlerFunc, change ...func(*core.Options)) box {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	client := egress.New(egress.Options{
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if strings.HasPrefix(host, "inner.") {
				return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("93.184.215.14")}, nil
		},
	})
	t.Cleanup(client.Close)
	return setup(t, nil, append([]func(*core.Options){func(o *core.Options) { o.Fetch.Client = client }}, change...)...)
}

func TestFetchURL(t *testing.T) {
	t.Setenv("NO_PROXY", "*")
	b := web(t, func(w http.ResponseWriter, r *http.Request) {
		kind, body := "text/html; charset=utf-8", ""
		switch r.URL.Path {
		case "/html":
			body = "<html><head><title>A &amp; B</title><script>evil()</script></head><body><p>One <b>two</b>.</p></body></html>"
		case "/json":
			kind, body = "application/json", `{"a":[1,2]}`
		case "/latin":
			kind, body = "text/plain; charset=ISO-8859-1", "caf\xe9"
		case "/png":
			kind, body = "image/png", "\x89PNG\x00"
		case "/lies":
			kind, body = "text/plain", "\x00\x01\x02"
		case "/gone":
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(http.StatusNotFound)
			body = "<p>No such page</p>"
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			var zipped bytes.Buffer
			z := gzip.NewWriter(&zipped)
			_, _ = z.Write([]byte("unzipped"))
			_ = z.Close()
			kind, body = "text/plain", zipped.String()
		case "/inner":
			http.Redirect(w, r, "http://inner.example.com/", http.StatusFound)
			return
		case "/far":
			http.Redirect(w, r, "http://other.example.com/json", http.StatusFound)
			return
		case "/héllo wörld":
			kind, body = "text/plain", r.URL.RawQuery
		case "/empty":
			kind = "text/plain"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(body))
	})
	for url, want := range map[string]string{
		"http://example.com/html":                        "http://example.com/html (status 200, text/html)\n\nA & B\n\nOne two.\n",
		"http://example.com/json#part":                   "http://example.com/json (status 200, application/json)\n\n{\"a\":[1,2]}",
		" http://example.com/latin ":                     "http://example.com/latin (status 200, text/plain)\n\ncafé",
		"http://example.com/gzip":                        "http://example.com/gzip (status 200, text/plain)\n\nunzipped",
		"http://example.com/far":                         "http://other.example.com/json (status 200, application/json)\n\n{\"a\":[1,2]}",
		"http://example.com/héllo wörld?q=ä b":           "http://example.com/h%C3%A9llo%20w%C3%B6rld (status 200, text/plain)\n\nq=%C3%A4%20b",
		"http://example.com/empty":                       "http://example.com/empty (status 200, text/plain)\n\n\n[there is no text]",
		"http://example.com/gone":                        "!http://example.com/gone (status 404, text/html)\n\nNo such page\n",
		"http://example.com/png":                         "!http://example.com/png is image/png, which is not text.",
		"http://example.com/lies":                        "!http://example.com/lies is not text.",
		"http://example.com/inner":                       "!The page was not fetched: request to http://inner.example.com/ refused: inner.example.com has the address 10.1.2.3, which is not a public one.",
		"http://inner.example.com/json":                  "!The page was not fetched: request to http://inner.example.com/json refused: inner.example.com has the address 10.1.2.3, which is not a public one.",
		"http://169.254.169.254/latest/meta-data":        "!The page was not fetched: request to http://169.254.169.254/latest/meta-data refused: 169.254.169.254 has the address 169.254.169.254, which is not a public one.",
		"http://[::1]/":                                  "!The page was not fetched: request to http://[::1]/ refused: ::1 has the address ::1, which is not a public one.",
		"file:///etc/passwd":                             "!file:///etc/passwd is not an address. Write it like https://example.com/page.",
		"ftp://example.com/x":                            "!The page was not fetched: its URL does not begin with http:// or https://.",
		"example.com":                                    "!example.com is not an address. Write it like https://example.com/page.",
		"http://u:p@example.com/":                        "!The page was not fetched: its URL holds a user or password.",
		"http://example.com/?k={{secret:api_key}}":       "!The address holds a placeholder for a secret.",
		"http://example.com/%7B%7Bsecret:api_key%7D%7D/": "!The page was not fetched: it names the secret \"api_key\", which it was not granted.",
	} {
		if got := b.run(t, core.FetchURL, args{"url": url}); got != want {
			t.Errorf("%s gave %q, want %q", url, got, want)
		}
	}
}

// A long page comes in parts, a huge one is not read to its end.
func TestFetchURLIsBounded(t *testing.T) {
	t.Setenv("NO_PROXY", "*")
	b := web(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		n := 100
		if r.URL.Path == "/huge" {
			n = 2_000_000
		}
		for i := range n {
			if _, err := fmt.Fprintf(w, "line %d\n", i); err != nil {
				return
			}
		}
	}, func(o *core.Options) { o.Fetch.OutputBytes = 60 })
	head := "http://example.com/ (status 200, text/plain)\n\n"
	if got, want := b.run(t, core.FetchURL, args{"url": "http://example.com/"}), head+"line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\n[bytes 0 to 56 of 790; go on with offset 56]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := b.run(t, core.FetchURL, args{"url": "http://example.com/", "offset": 774}), head+"line 98\nline 99\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.run(t, core.FetchURL, args{"url": "http://example.com/huge"}); !strings.Contains(got, "the page is larger than 5 MiB: the rest was not read]") {
		t.Errorf("got %q", got)
	}
}
