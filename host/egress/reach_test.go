package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/secret"
)

// public is an address of the internet that the test's net leads to a server.
const public = "93.184.215.14"

// fakeNet is an internet: names with addresses, and a server behind every public
// address. Loopback is loopback.
type fakeNet struct {
	names  map[string][]string
	server *httptest.Server
	closed chan struct{} // told of each connection that is closed
	mu     sync.Mutex
	dialed []string
	seen   []string // method, host and path of each request, then its credentials
}

// spyConn tells when it is closed.
type spyConn struct {
	net.Conn
	once   sync.Once
	closed chan<- struct{}
}

func (c *spyConn) Close() error {
	c.once.Do(func() { c.closed <- struct{}{} })
	return c.Conn.Close()
}

func internet(t *testing.T, names map[string][]string, answer http.HandlerFunc) (*egress.Client, *fakeNet) {
	t.Helper()
	n := &fakeNet{names: names, closed: make(chan struct{}, 100)}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		n.mu.Lock()
		n.seen = append(n.seen, strings.Join([]string{r.Method, r.Host + r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("X-Key"), string(body)}, " "))
		n.mu.Unlock()
		answer(w, r)
	})
	n.server = httptest.NewServer(handler)
	t.Cleanup(n.server.Close)
	c := egress.New(egress.Options{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			n.mu.Lock()
			n.dialed = append(n.dialed, address)
			n.mu.Unlock()
			if host, _, _ := net.SplitHostPort(address); egress.Public(netip.MustParseAddr(host)) || strings.HasPrefix(host, "10.") {
				address = n.server.Listener.Addr().String()
			}
			conn, err := new(net.Dialer).DialContext(ctx, network, address)
			return &spyConn{Conn: conn, closed: n.closed}, err
		},
		Resolve: func(_ context.Context, host string) (all []netip.Addr, err error) {
			list, ok := n.names[strings.ToLower(host)]
			if !ok {
				return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
			}
			for _, a := range list {
				all = append(all, netip.MustParseAddr(a))
			}
			return all, nil
		},
	})
	t.Cleanup(c.Close)
	return c, n
}

func fetch(t *testing.T, c *egress.Client, reach egress.Reach, r egress.Request) (string, error) {
	t.Helper()
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	resp, err := c.Fetch(t.Context(), reach, r)
	if err != nil {
		return "", err
	}
	body, err := resp.Body(1 << 20)
	return string(body), err
}

// What is not a public address is refused, whatever form it comes in.
func TestPublic(t *testing.T) {
	t.Parallel()
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.8", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1",
		"2002:7f00:1::", "3fff::1", "fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1",
	} {
		if egress.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as public", a)
		}
	}
	for _, a := range []string{"8.8.8.8", public, "::ffff:8.8.8.8", "64:ff9b::808:808", "2606:4700:4700::1111", "2a00:1450::1"} {
		if !egress.Public(netip.MustParseAddr(a)) {
			t.Errorf("%s counts as private", a)
		}
	}
}

// Listed hosts only, and only those of their addresses that are public.
func TestReach(t *testing.T) {
	t.Parallel()
	names := map[string][]string{
		"api.example.com": {public}, "deep.api.example.com": {public}, "evil.example": {public}, "inner.example.com": {"10.1.2.3"},
		"both.example.com": {"192.168.0.1", public}, "meta.example.com": {"169.254.169.254"}, "none.example.com": {},
	}
	for name, c := range map[string]struct {
		hosts, private []string
		url            string
		want           string // part of the error, "" for success
	}{
		"listed":              {[]string{"api.example.com"}, nil, "http://api.example.com/x", ""},
		"in another case":     {[]string{"API.example.com"}, nil, "http://Api.Example.COM/x", ""},
		"with a dot":          {[]string{"api.example.com"}, nil, "http://evil.example./x", "not among those allowed"},
		"not listed":          {[]string{"api.example.com"}, nil, "http://evil.example/x", "not among those allowed"},
		"a suffix":            {[]string{"example.com"}, nil, "http://api.example.com/x", "not among those allowed"},
		"wildcard":            {[]string{"*.example.com"}, nil, "http://deep.api.example.com/x", ""},
		"wildcard's own":      {[]string{"*.api.example.com"}, nil, "http://api.example.com/x", "not among those allowed"},
		"wildcard and suffix": {[]string{"*.example.com"}, nil, "http://notexample.com/x", "not among those allowed"},
		"another port":        {[]string{"api.example.com"}, nil, "http://api.example.com:8080/x", "not among those allowed"},
		"listed port":         {[]string{"api.example.com:8080"}, nil, "http://api.example.com:8080/x", ""},
		"not the listed port": {[]string{"api.example.com:8080"}, nil, "http://api.example.com/x", "not among those allowed"},
		"everything":          {[]string{"*"}, nil, "http://evil.example:9000/x", ""},
		"private":             {[]string{"*"}, nil, "http://inner.example.com/x", "has the address 10.1.2.3, which is not a public one"},
		"private, allowed":    {[]string{"*"}, []string{"inner.example.com"}, "http://inner.example.com/x", ""},
		"private, star":       {[]string{"*"}, []string{"*"}, "http://inner.example.com/x", "not a public one"},
		"private, port":       {[]string{"*"}, []string{"inner.example.com"}, "http://inner.example.com:81/x", "not a public one"},
		"metadata":            {[]string{"*"}, nil, "http://meta.example.com/latest", "not a public one"},
		"one of two":          {[]string{"*"}, nil, "http://both.example.com/x", ""},
		"no address":          {[]string{"*"}, nil, "http://none.example.com/x", "cannot find the host"},
		"unknown":             {[]string{"*"}, nil, "http://gone.example.com/x", "cannot find the host"},
		"loopback":            {[]string{"*"}, nil, "http://127.0.0.1/x", "not a public one"},
		"loopback in decimal": {[]string{"*"}, nil, "http://2130706433/x", "cannot find the host"},
		"loopback, mapped":    {[]string{"*"}, nil, "http://[::ffff:127.0.0.1]/x", "not a public one"},
		"localhost":           {[]string{"*"}, nil, "http://localhost/x", "cannot find the host"},
		"user":                {[]string{"*"}, nil, "http://u:p@api.example.com/x", "holds a user or password"},
		"another scheme":      {[]string{"*"}, nil, "file:///etc/passwd", "does not begin with http"},
		"no scheme":           {[]string{"*"}, nil, "api.example.com", "does not begin with http"},
		"no host":             {[]string{"*"}, nil, "http:///x", "has no host"},
		"nothing allowed":     {nil, nil, "http://api.example.com/x", "not among those allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, n := internet(t, names, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
			got, err := fetch(t, client, egress.Reach{Hosts: c.hosts, Private: c.private}, egress.Request{URL: c.url})
			if c.want == "" {
				if got != "hello" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if len(n.dialed) > 0 {
				t.Errorf("connected to %v", n.dialed)
			}
			var e *egress.Error
			if !errors.As(err, &e) || e.Sent {
				t.Errorf("error is %#v", err)
			}
		})
	}
}

// A second answer of the name server does not lead elsewhere: what was checked
// is what is connected to.
func TestReachAgainstRebinding(t *testing.T) {
	t.Parallel()
	names := map[string][]string{"api.example.com": {public}}
	client, n := internet(t, names, func(w http.ResponseWriter, r *http.Request) {
		names["api.example.com"] = []string{"127.0.0.1"} // no request resolves it at this moment
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	_, err := fetch(t, client, egress.Reach{Hosts: []string{"api.example.com"}}, egress.Request{URL: "http://api.example.com/"})
	wantError(t, err, abi.FailurePlugin, "has the address 127.0.0.1, which is not a public one")
	if diff := cmp.Diff([]string{public + ":80"}, n.dialed); diff != "" {
		t.Error(diff)
	}
}

// Redirects are checked again, and carry no credentials to another host.
func TestReachRedirects(t *testing.T) {
	t.Parallel()
	names := map[string][]string{"api.example.com": {public}, "cdn.example.com": {public}, "inner.example.com": {"10.1.2.3"}}
	for name, c := range map[string]struct {
		status   int
		location string
		want     string // the second request, or part of the error
	}{
		"same host":        {307, "/two", "POST api.example.com/two Bearer " + key + " plain body"},
		"another host":     {307, "http://cdn.example.com/two", "POST cdn.example.com/two   body"},
		"another port":     {308, "http://api.example.com:443/two", "POST api.example.com:443/two   body"},
		"becomes GET":      {302, "http://cdn.example.com/two", "GET cdn.example.com/two   "},
		"303 becomes GET":  {303, "/two", "GET api.example.com/two Bearer " + key + " plain "},
		"not listed":       {302, "http://evil.example/two", "redirect from http://api.example.com/one to http://evil.example not followed: its target is at a host that is not among those allowed"},
		"private":          {302, "http://inner.example.com/two", "has the address 10.1.2.3, which is not a public one"},
		"another scheme":   {302, "ftp://api.example.com/two", "does not begin with http"},
		"with a password":  {302, "http://u:p@cdn.example.com/two", "holds a user or password"},
		"no URL":           {302, "http://cdn.example.com/\\two", "its target is not a URL"},
		"for ever":         {302, "/one", "gave up after 5 redirects"},
		"fragment dropped": {302, "/two#part", "GET api.example.com/two Bearer " + key + " plain "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, n := internet(t, names, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/one" {
					w.Header().Set("Location", c.location)
					w.WriteHeader(c.status)
				}
			})
			reach := egress.Reach{
				Hosts:   []string{"*.example.com"},
				Private: []string{"api.example.com"}, // a secret may go there without TLS
				Secrets: map[string]secret.Value{"k": secret.New(key)},
			}
			_, err := fetch(t, client, reach, egress.Request{
				Method: http.MethodPost, URL: "http://api.example.com/one", Body: [][]byte{[]byte("body")},
				Headers: []abi.Header{{Name: "Authorization", Value: "Bearer {{secret:k}}"}, {Name: "X-Key", Value: "plain"}},
			})
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %q", err, c.want)
				}
				return
			}
			if len(n.seen) != 2 || n.seen[1] != c.want {
				t.Errorf("the server saw %q, want %q", n.seen, c.want)
			}
		})
	}
}

// A redirect from TLS to plain HTTP is not followed.
func TestReachStaysWithTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://example.com/", http.StatusFound)
	}))
	defer server.Close()
	pool := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs //nolint:errcheck,forcetypeassert // what httptest gives
	c := egress.New(egress.Options{
		RootCAs: pool,
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(public)}, nil
		},
	})
	defer c.Close()
	_, err := fetch(t, c, egress.Reach{Hosts: []string{"*"}}, egress.Request{URL: "https://example.com/"})
	wantError(t, err, abi.FailureInvalidRequest, "it leads from https to http")
}

// Placeholders: granted ones only, where they may be, and not without TLS.
func TestReachSecrets(t *testing.T) {
	t.Parallel()
	names := map[string][]string{"api.example.com": {public}, "inner.example.com": {"10.1.2.3"}}
	header := func(v string) []abi.Header { return []abi.Header{{Name: "Authorization", Value: v}} }
	for name, c := range map[string]struct {
		request egress.Request
		want    string
	}{
		"without TLS":        {egress.Request{URL: "http://api.example.com/", Headers: header("{{secret:k}}")}, "without TLS"},
		"in a query":         {egress.Request{URL: "http://api.example.com/?a={{secret:k}}"}, "without TLS"},
		"escaped":            {egress.Request{URL: "http://api.example.com/%7B%7Bsecret:k%7D%7D"}, "without TLS"},
		"not granted":        {egress.Request{URL: "http://inner.example.com/", Headers: header("{{secret:other}}")}, "was not granted"},
		"in the body":        {egress.Request{URL: "http://inner.example.com/", Body: [][]byte{[]byte("{{secret:k}}")}}, "in its body"},
		"in the host":        {egress.Request{URL: "http://{{secret:k}}.example.com/"}, "cannot be parsed"},
		"to a private host":  {egress.Request{URL: "http://inner.example.com/", Headers: header("{{secret:k}}")}, ""},
		"a host in a header": {egress.Request{URL: "http://inner.example.com/", Headers: []abi.Header{{Name: "Host", Value: "x"}}}, "the host's to set"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, n := internet(t, names, func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte("you sent " + r.Header.Get("Authorization")))
			})
			reach := egress.Reach{
				Hosts: []string{"*.example.com"}, Private: []string{"inner.example.com"}, Secrets: map[string]secret.Value{"k": secret.New(key)},
			}
			got, err := fetch(t, client, reach, c.request)
			if c.want == "" {
				if got != "you sent "+secret.Mask || err != nil || len(n.seen) != 1 || !strings.Contains(n.seen[0], key) {
					t.Errorf("got %q, %v; the server saw %q", got, err, n.seen)
				}
				return
			}
			wantError(t, err, abi.FailurePlugin, c.want)
			if len(n.seen) > 0 {
				t.Errorf("the server saw %q", n.seen)
			}
		})
	}
}

// STR-9: no connection stays, whether the body was read or not.
func TestReachLeavesNothing(t *testing.T) {
	t.Parallel()
	client, n := internet(t, map[string][]string{"api.example.com": {public}}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
	})
	for _, read := range []bool{true, false} {
		resp, err := client.Fetch(t.Context(), egress.Reach{Hosts: []string{"*"}}, egress.Request{Method: http.MethodGet, URL: "http://api.example.com/"})
		if err != nil {
			t.Fatal(err)
		}
		if read {
			_, err = resp.Body(2 << 20)
		} else {
			err = resp.Close()
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case <-n.closed:
		case <-time.After(10 * time.Second):
			t.Fatal("the connection stays open")
		}
	}
}

// A deadline ends a request that waits.
func TestReachDeadline(t *testing.T) {
	t.Parallel()
	client, _ := internet(t, map[string][]string{"api.example.com": {public}}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Fetch(ctx, egress.Reach{Hosts: []string{"*"}}, egress.Request{Method: http.MethodGet, URL: "http://api.example.com/"})
	wantError(t, err, abi.FailureTimeout, "stopped at the caller's deadline")
}

// Behind a proxy, what can be seen of a name from here is checked; a name that
// cannot be resolved here is left to the proxy.
func TestReachBehindProxy(t *testing.T) {
	t.Parallel()
	if os.Getenv(childVariable) != "reach" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestReachBehindProxy$", "-test.v")
		cmd.Env = append(os.Environ(), childVariable+"=reach", "NO_PROXY=direct.example.com", "HTTP_PROXY=http://10.9.9.9:3128")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	names := map[string][]string{"api.example.com": {public}, "inner.example.com": {"10.1.2.3"}, "direct.example.com": {"10.9.9.9"}}
	client, n := internet(t, names, func(http.ResponseWriter, *http.Request) {})
	for url, want := range map[string]string{
		"http://api.example.com/":    "",
		"http://far.example.com/":    "",
		"http://inner.example.com/":  "not a public one",
		"http://127.0.0.1:1/":        "not a public one",
		"http://direct.example.com/": "not a public one",
	} {
		_, err := fetch(t, client, egress.Reach{Hosts: []string{"*"}}, egress.Request{URL: url})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
	if diff := cmp.Diff([]string{"10.9.9.9:3128", "10.9.9.9:3128"}, n.dialed); diff != "" {
		t.Error(diff)
	}
}

// STR-9, over HTTP/2: the connection ends with the response there, too.
func TestReachLeavesNothingOfHTTP2(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		_, _ = w.Write([]byte(strings.Repeat("x", 1<<20)))
		if r.URL.Path == "/endless" {
			flush(w)
			<-r.Context().Done()
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	closed := make(chan struct{}, 100)
	c := egress.New(egress.Options{
		RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, //nolint:errcheck,forcetypeassert // what httptest gives
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
			return &spyConn{Conn: conn, closed: closed}, err
		},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr(public)}, nil
		},
	})
	t.Cleanup(c.Close)
	for _, path := range []string{"/", "/unread", "/endless"} {
		resp, err := c.Fetch(t.Context(), egress.Reach{Hosts: []string{"*"}}, egress.Request{Method: http.MethodGet, URL: "https://example.com" + path})
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header("x-proto") != "HTTP/2.0" {
			t.Fatalf("it speaks %s", resp.Header("x-proto"))
		}
		if path == "/" {
			_, err = resp.Body(2 << 20)
		} else {
			err = resp.Close()
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case <-closed:
		case <-time.After(20 * time.Second):
			t.Fatalf("after %s the connection stays open", path)
		}
	}
}

// Of several public addresses the next is tried when one does not answer; those
// that are not public are not tried at all.
func TestReachTriesTheNextAddress(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	t.Cleanup(server.Close)
	var dialed []string
	c := egress.New(egress.Options{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialed = append(dialed, address)
			if address != public+":80" {
				return nil, errors.New("no route")
			}
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		},
		Resolve: func(context.Context, string) (all []netip.Addr, err error) {
			for _, a := range []string{"2606:4700::1", "127.0.0.1", "8.8.8.8", public} {
				all = append(all, netip.MustParseAddr(a))
			}
			return all, nil
		},
	})
	t.Cleanup(c.Close)
	got, err := fetch(t, c, egress.Reach{Hosts: []string{"*"}}, egress.Request{URL: "http://example.com/"})
	if got != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"[2606:4700::1]:80", "8.8.8.8:80", public + ":80"}, dialed); diff != "" {
		t.Error(diff)
	}
}
