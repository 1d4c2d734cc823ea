package egress_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/secret"
)

const (
	key   = "sk-live-51HqLyjWDarjtT1zdp7dc"
	token = `123456:AA/B?C#D%2F..&=+ "x\y`
)

func TestParseBaseURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://api.openai.com/v1":      "https://api.openai.com/v1",
		"HTTPS://API.OpenAI.com:443/v1/": "https://api.openai.com/v1",
		"http://localhost:80":            "http://localhost",
		"http://127.0.0.1:11434//":       "http://127.0.0.1:11434",
		"http://[::1]:8080/x%20y":        "http://[::1]:8080/x%20y",
		"https://xn--bcher-kva.example":  "https://xn--bcher-kva.example",
		"https://a.example:/V1":          "https://a.example/V1",
	} {
		if got, err := egress.ParseBaseURL(in); got != want || err != nil {
			t.Errorf("ParseBaseURL(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "api.openai.com/v1", "localhost:8080", "//host/v1", "/v1", "ftp://host", "file:///etc/passwd", "mailto:a@b",
		"https://", "https:///v1", "https://u:hunter22@host/v1", "https://host/v1?k=1", "https://host/v1?", "https://host/#x", "https://host/#",
		"https://host/v1/../v2", "https://host/%2e%2E/v2", "https://host/a b", "https://host\\@evil", "https://host/\x00", "https://bücher.example",
		"https://host/{{secret:k}}", "https://host/%zz", "https://host:port/", "https://[::1", "http:host/v1", "http://0%80", "http://h%2fx/", "http://a,b", "http://[fe80::1%25eth0]/",
	} {
		got, err := egress.ParseBaseURL(in)
		if err == nil {
			t.Errorf("ParseBaseURL(%q) = %q", in, got)
			continue
		}
		if fault.CodeOf(err) != fault.Config || fault.HintOf(err) == "" || strings.Contains(err.Error()+fault.HintOf(err), "hunter22") {
			t.Errorf("ParseBaseURL(%q): %v, hint %q", in, err, fault.HintOf(err))
		}
	}
}

func FuzzParseBaseURL(f *testing.F) {
	for _, s := range []string{"https://api.example.com/v1", "HTTP://[::1]:80//", "https://u@h", "x", "http://0%80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := egress.ParseBaseURL(s)
		if err != nil {
			return
		}
		again, err := egress.ParseBaseURL(got)
		if again != got || err != nil {
			t.Fatalf("%q is %q, which is %q, %v", s, got, again, err)
		}
		u, err := url.Parse(got)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" {
			t.Fatalf("%q: %v, %v", got, u, err)
		}
	})
}

// seen is what the server got.
type seen struct {
	uri    string
	header http.Header
	body   string
}

// setup starts a server whose every request is kept and answered by answer,
// which may be nil.
func setup(t *testing.T, answer http.HandlerFunc) (*egress.Client, *httptest.Server, func() []seen) {
	t.Helper()
	requests := make(chan seen, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests <- seen{r.RequestURI, r.Header, string(body)}
		if answer != nil {
			answer(w, r)
		}
	}))
	t.Cleanup(server.Close)
	c := egress.New(egress.Options{})
	t.Cleanup(c.Close)
	return c, server, func() (all []seen) {
		for len(requests) > 0 {
			all = append(all, <-requests)
		}
		return all
	}
}

func secrets() map[string]secret.Value {
	return map[string]secret.Value{"api_key": secret.New(key), "token": secret.New(token), "dots": secret.New(".."), "lines": secret.New("a\r\nb: c"), "empty": {}}
}

func wantError(t *testing.T, err error, class abi.FailureClass, text string) {
	t.Helper()
	e := asError(t, err)
	if e.Class != class || !strings.Contains(e.Error(), text) {
		t.Errorf("error of class %s: %s; want %s: %s", e.Class, e, class, text)
	}
	if strings.ContainsAny(e.Error(), "\r\n") || len(e.Error()) > 500 {
		t.Errorf("error is no bounded line: %q", e)
	}
}

func asError(t *testing.T, err error) *egress.Error {
	t.Helper()
	var e *egress.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not an *Error", err)
	}
	return e
}

func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() }

// The destination rule: nothing is sent unless the URL is at or below base_url.
func TestDestinationRefused(t *testing.T) {
	t.Parallel()
	c, server, requests := setup(t, nil)
	host := strings.TrimPrefix(server.URL, "http://")
	base := server.URL + "/v1"
	for _, in := range []string{
		"", "/v1/chat", "v1/chat", "//" + host + "/v1/chat", "http:/v1/chat", "http:" + host + "/v1", "http:///v1/chat",
		"https://" + host + "/v1/chat", "HTTPS://" + host + "/v1/chat", "ftp://" + host + "/v1/chat",
		"http://evil.example/v1/chat", "http://127.0.0.1/v1/chat", "http://127.0.0.1:1/v1/chat",
		"http://localhost" + strings.TrimPrefix(host, "127.0.0.1") + "/v1/chat", "http://127.0.0.1.evil.example/v1/chat", "http://" + host + ".evil.example/v1",
		"http://u@" + host + "/v1/chat", "http://u:p@" + host + "/v1/chat", "http://" + host + "@evil.example/v1/chat", "http://@" + host + "/v1",
		"http://" + host + "\\@evil.example/v1/chat", "http:\\\\evil.example\\v1", base + "\\..\\x", "http://evil.example\\" + host + "/v1",
		server.URL, server.URL + "/", server.URL + "/v1evil", server.URL + "/v1evil/chat", server.URL + "/v2/chat", server.URL + "/V1/chat", server.URL + "/%761/chat", server.URL + "//v1/chat",
		server.URL + "/v1%2Fchat", server.URL + "/v1;x/chat", server.URL + "/v1.",
		base + "/../v2", base + "/..", base + "/a/../../v2", base + "/.", base + "/./chat", base + "/%2e%2e/v2", base + "/%2E./v2", base + "/.%2e/v2",
		base + "/..%2fv2", base + "/a%2f..%2f..%2fv2", base + "/%252e%252e/v2", base + "/%25252e%25252e/v2", base + "/..%5cv2", base + "/%5c..%5c", base + "/..;/v2", base + "/%2525252525252e",
		base + "/chat#x", base + "/chat#", base + "/ chat", " " + base + "/chat", base + "/chat\r\nHost: x", base + "/\x00", base + "/a|b", base + "/\"", base + "/?q=<x>", base + "/\x7f", base + "/chät", base + "/%zz", base + "/chat?k=%zz",
		"http://ⓔvil.example/v1", "http://127。0。0。1/v1", "http://[" + host + "]/v1", "http://" + host + ":80/v1", "http://0177.0.0.1/v1/chat", "http://2130706433/v1/chat",
	} {
		_, err := c.Send(t.Context(), egress.Endpoint{BaseURL: base, Secrets: secrets()}, egress.Request{
			URL: in, Headers: []abi.Header{{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
		})
		if err == nil {
			t.Errorf("%q is sent", in)
			continue
		}
		wantError(t, err, abi.FailurePlugin, "plugin's request refused")
		if e := asError(t, err); e.Sent {
			t.Errorf("%q: the error says that it was sent", in)
		}
	}
	if got := requests(); len(got) != 0 {
		t.Errorf("the server got %v", got)
	}
}

func TestDestinationAllowed(t *testing.T) {
	t.Parallel()
	c, server, requests := setup(t, nil)
	upper := "HTTP://" + strings.TrimPrefix(server.URL, "http://")
	for in, want := range map[string]string{
		server.URL + "/v1":                                    "/v1",
		server.URL + "/v1/":                                   "/v1/",
		server.URL + "/v1?a=b&c":                              "/v1?a=b&c",
		upper + "/v1/chat/completions":                        "/v1/chat/completions",
		server.URL + "/v1/models/a%2Fb:stream?alt=sse":        "/v1/models/a%2Fb:stream?alt=sse",
		server.URL + "/v1/a..b/...":                           "/v1/a..b/...",
		server.URL + "/v1/100%25/%E6%BC%A2?q=%E6%BC%A2+x%20y": "/v1/100%25/%E6%BC%A2?q=%E6%BC%A2+x%20y",
		server.URL + "/v1//x":                                 "/v1//x",
		server.URL + "/v1/a?next=https://evil.example/../x":   "/v1/a?next=https://evil.example/../x",
	} {
		resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL + "/v1/"}, egress.Request{URL: in})
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		resp.Close()
		if got := requests(); len(got) != 1 || got[0].uri != want {
			t.Errorf("%q: the server got %v, want %s", in, got, want)
		}
		if want, _, _ := strings.Cut(strings.Replace(in, upper, server.URL, 1), "?"); resp.URL != want {
			t.Errorf("%q: URL %q, want %q", in, resp.URL, want)
		}
	}
}

// Secrets are put where placeholders may be, and stay where they were put.
func TestSecretsArePutIn(t *testing.T) {
	t.Parallel()
	c, server, requests := setup(t, nil)
	resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL, Secrets: secrets()}, egress.Request{
		URL: server.URL + "/bot{{secret:token}}/x%2Fy/%7B%7Bsecret%3Atoken%7D%7D?key={{secret:token}}&k2=a%7B%7Bsecret:api_key%7D%7D&plain=%2f",
		Headers: []abi.Header{
			{Name: "authorization", Value: "Bearer {{secret:api_key}}"},
			{Name: "X-Two", Value: "{{secret:api_key}}:{{secret:token}}"},
			{Name: "X-Braces", Value: "{{x}} }} {{secret"},
		},
		Body: [][]byte{[]byte("{"), []byte("{{secret:api_key}}"), []byte("}")}, Contents: [2]int{1, 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	resp.Close()
	got := requests()[0]
	u, err := url.ParseRequestURI(got.uri)
	if err != nil {
		t.Fatal(err)
	}
	segment := url.PathEscape(token)
	if want := "/bot" + segment + "/x%2Fy/" + segment; u.EscapedPath() != want {
		t.Errorf("path %s, want %s", u.EscapedPath(), want)
	}
	if diff := cmp.Diff(url.Values{"key": {token}, "k2": {"a" + key}, "plain": {"/"}}, u.Query()); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	if h := got.header; h.Get("Authorization") != "Bearer "+key || h.Get("X-Two") != key+":"+token || h.Get("X-Braces") != "{{x}} }} {{secret" {
		t.Errorf("headers %v", h)
	}
	// What people wrote is sent as it is.
	if got.body != "{{{secret:api_key}}}" {
		t.Errorf("body %s", got.body)
	}
	if want := server.URL + "/bot{{secret:token}}/x%2Fy/{{secret%3Atoken}}"; resp.URL != want {
		t.Errorf("URL %s, want %s", resp.URL, want)
	}
}

// A placeholder anywhere else, one that is not granted, and one that is not
// whole are the plugin's failure, and nothing is sent.
func TestPlaceholderRefused(t *testing.T) {
	t.Parallel()
	c, server, requests := setup(t, nil)
	at := func(path string) egress.Request { return egress.Request{URL: server.URL + path} }
	header := func(name, value string) egress.Request {
		return egress.Request{URL: server.URL, Headers: []abi.Header{{Name: name, Value: value}}}
	}
	body := func(pieces ...string) egress.Request {
		r := at("/")
		for _, p := range pieces {
			r.Body = append(r.Body, []byte(p))
		}
		return r
	}
	for name, r := range map[string]egress.Request{
		"method":               {Method: "{{secret:api_key}}", URL: server.URL},
		"scheme":               {URL: "{{secret:api_key}}://x"},
		"host":                 {URL: "http://{{secret:api_key}}/v1"},
		"user":                 {URL: strings.Replace(server.URL, "://", "://{{secret:api_key}}@", 1)},
		"port":                 {URL: "http://127.0.0.1:{{secret:api_key}}/"},
		"fragment":             at("/#{{secret:api_key}}"),
		"query name":           at("/?{{secret:api_key}}=1"),
		"query name alone":     at("/?{{secret:api_key}}"),
		"escaped query name":   at("/?%7b%7Bsecret%3Aapi_key%7D%7D"),
		"header name":          header("X-{{secret:api_key}}", "x"),
		"body":                 body(`{"key":"{{secret:api_key}}"}`),
		"last piece of body":   body("{", "x", "{{secret:api_key}}"),
		"unknown":              header("X-Key", "{{secret:other}}"),
		"another case":         header("X-Key", "{{secret:API_KEY}}"),
		"no name":              header("X-Key", "{{secret:}}"),
		"space":                header("X-Key", "{{secret: api_key}}"),
		"nested":               header("X-Key", "{{secret:{{secret:api_key}}}}"),
		"not whole":            header("X-Key", "{{secret:api_key}"),
		"unknown in path":      at("/{{secret:other}}"),
		"over two segments":    at("/{{secret:api/_key}}"),
		"empty":                header("X-Key", "{{secret:empty}}"),
		"line break in secret": header("X-Key", "{{secret:lines}}"),
		"dots as a segment":    at("/a/{{secret:dots}}/b"),
	} {
		_, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL, Secrets: secrets()}, r)
		if err == nil {
			t.Errorf("%s: it is sent", name)
			continue
		}
		wantError(t, err, abi.FailurePlugin, "plugin's request refused")
		e := asError(t, err)
		if e.Sent || strings.Contains(e.Error(), key) {
			t.Errorf("%s: %v", name, e)
		}
	}
	if got := requests(); len(got) != 0 {
		t.Errorf("the server got %v", got)
	}
}

func TestHeaderRefused(t *testing.T) {
	t.Parallel()
	c, server, requests := setup(t, nil)
	for _, h := range []abi.Header{
		{Name: "Host", Value: "evil.example"}, {Name: "content-length", Value: "0"}, {Name: "Connection", Value: "close"}, {Name: "TRANSFER-ENCODING", Value: "chunked"},
		{Name: "Accept-Encoding", Value: "gzip"}, {Name: "Upgrade", Value: "websocket"}, {Name: "Te", Value: "trailers"}, {Name: "Expect", Value: "100-continue"},
		{Name: "Proxy-Authorization", Value: "Basic x"}, {Name: "Trailer", Value: "x"}, {Name: "Keep-Alive", Value: "x"},
		{Name: "", Value: "x"}, {Name: "X Y", Value: "x"}, {Name: "X:Y", Value: "x"}, {Name: "X\r\nY", Value: "x"}, {Name: "Ä", Value: "x"}, {Name: ":path", Value: "/x"}, {Name: "Host ", Value: "x"},
		{Name: "X", Value: "a\r\nY: b"}, {Name: "X", Value: "a\nb"}, {Name: "X", Value: "a\x00b"}, {Name: "X", Value: "\x7f"},
	} {
		_, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL}, egress.Request{URL: server.URL, Headers: []abi.Header{h}})
		if err == nil {
			t.Errorf("%q is sent", h)
			continue
		}
		wantError(t, err, abi.FailurePlugin, "header")
	}
	for _, method := range []string{"CONNECT", "TRACE", "post", "GET / HTTP/1.1\r\n", " "} {
		if _, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL}, egress.Request{Method: method, URL: server.URL}); err == nil {
			t.Errorf("method %q is sent", method)
		}
	}
	if got := requests(); len(got) != 0 {
		t.Errorf("the server got %v", got)
	}
}

func TestRequestAsSent(t *testing.T) {
	t.Parallel()
	c, server, requests := setup(t, nil)
	big := strings.Repeat("0123456789", 50_000)
	resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL}, egress.Request{
		URL:     server.URL,
		Headers: []abi.Header{{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2"}, {Name: "User-Agent", Value: "mine"}},
		Body:    [][]byte{nil, []byte("a"), []byte(big), {}, []byte("z")},
	})
	if err != nil {
		t.Fatal(err)
	}
	resp.Close()
	got := requests()[0]
	if got.body != "a"+big+"z" || got.header.Get("Content-Length") != "500002" {
		t.Errorf("body of %d bytes, headers %v", len(got.body), got.header)
	}
	if diff := cmp.Diff([]string{"1", "2"}, got.header["X-A"]); diff != "" || got.header.Get("User-Agent") != "mine" || got.header.Get("Accept-Encoding") != "identity" {
		t.Errorf("headers %v", got.header)
	}
}

// The redirect rule: the same server, below base_url, method and body kept.
func TestRedirects(t *testing.T) {
	t.Parallel()
	var location atomic.Pointer[string]
	var status atomic.Int64
	c, server, requests := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/there") {
			return
		}
		w.Header().Set("Location", *location.Load())
		w.WriteHeader(int(status.Load()))
	})
	for name, c2 := range map[string]struct {
		method, to string
		status     int
		refused    string // or "" if it is followed
	}{
		"307":                 {"POST", "/v1/there?x=1", 307, ""},
		"308 absolute":        {"POST", server.URL + "/v1/there", 308, ""},
		"relative":            {"POST", "there#part", 307, ""},
		"302 of GET":          {"GET", "/v1/there", 302, ""},
		"301 of POST":         {"POST", "/v1/there", 301, "would turn POST into GET"},
		"303 of POST":         {"POST", "/v1/there", 303, "would turn POST into GET"},
		"another path":        {"POST", "/v2/there", 307, "below that of base_url"},
		"another server":      {"POST", "https://evil.example/v1/there?k=1", 307, "to https://evil.example not followed"},
		"scheme-relative":     {"POST", "//evil.example/v1/there", 308, "to http://evil.example not followed"},
		"another scheme":      {"POST", "https" + strings.TrimPrefix(server.URL, "http") + "/v1/there", 308, "set base_url"},
		"user":                {"POST", strings.Replace(server.URL, "://", "://u:p@", 1) + "/v1/there", 307, "user or password"},
		"dots":                {"POST", "/v1/../v1/there", 307, "holds . or .."},
		"escaped dots":        {"POST", "/v1/%2e%2e/x", 307, "holds . or .."},
		"backslash":           {"POST", "\\\\evil.example/v1", 307, "backslash"},
		"not http":            {"POST", "javascript:alert(1)", 307, "not followed"},
		"round and round":     {"POST", "/v1/here", 307, "gave up after 5 redirects"},
		"secret in its place": {"POST", "https://evil.example/" + key, 307, "not followed"},
	} {
		location.Store(&c2.to)
		status.Store(int64(c2.status))
		resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL + "/v1", Secrets: secrets()}, egress.Request{
			Method: c2.method, URL: server.URL + "/v1/here", Body: [][]byte{[]byte("bo"), []byte("dy")},
			Headers: []abi.Header{{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
		})
		got := requests()
		if c2.refused != "" {
			if err == nil {
				t.Errorf("%s: followed to %s", name, resp.URL)
				resp.Close()
				continue
			}
			wantError(t, err, abi.FailureInvalidRequest, c2.refused)
			if e := asError(t, err); !e.Sent || strings.Contains(e.Error(), key) {
				t.Errorf("%s: %v", name, e)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		resp.Close()
		last := got[len(got)-1]
		if len(got) != 2 || last.body != "body" || last.header.Get("Authorization") != "Bearer "+key || resp.URL != server.URL+"/v1/there" {
			t.Errorf("%s: the server got %v, URL is %s", name, got, resp.URL)
		}
	}
	// Where it leads is shown, without a secret that the server put there.
	to := "/v1/there/" + key
	location.Store(&to)
	status.Store(307)
	resp, err := c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL + "/v1", Secrets: secrets()}, egress.Request{URL: server.URL + "/v1/here"})
	if err != nil {
		t.Fatal(err)
	}
	resp.Close()
	if want := server.URL + "/v1/there/[redacted]"; resp.URL != want {
		t.Errorf("URL %s, want %s", resp.URL, want)
	}
	// Without a target it is an answer like others.
	location.Store(new(string))
	status.Store(307)
	resp, err = c.Send(t.Context(), egress.Endpoint{BaseURL: server.URL}, egress.Request{URL: server.URL})
	if err != nil || resp.Status != 307 {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Close()
}
