package egress

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/zchost/zchost/abi"
)

// outgoing is a request that was checked, with its secrets in it.
type outgoing struct {
	place
	transport http.RoundTripper
	// redirect makes it the request that a redirect asks for, or says why that
	// is not followed.
	redirect func(out *outgoing, status int, location string) *Error
	method   string
	target   *url.URL
	header   http.Header
	body     *pieces // nil if there is none
}

// prepare checks r and puts the secrets in. An error is of class plugin, and
// then nothing was sent.
func (c *Client) prepare(e Endpoint, r Request) (*outgoing, *Error) {
	base, err := ParseBaseURL(e.BaseURL)
	if err != nil {
		return nil, &Error{Class: abi.FailureInvalidRequest, Msg: err.Error(), Err: err}
	}
	for _, value := range e.Secrets {
		c.redactor.Add(value)
	}
	method, refusal := checkMethod(r.Method)
	if refusal != nil {
		return nil, refusal
	}
	out := &outgoing{method: method, transport: c.transport, redirect: c.redirectTo}
	if out.target, out.place, refusal = granted(e.Secrets).target(r.URL, base); refusal != nil {
		return nil, refusal
	}
	if out.header, refusal = granted(e.Secrets).header(r.Headers); refusal != nil {
		return nil, refusal
	}
	c.own(out.header)
	for i, piece := range r.Body {
		contents := i >= r.Contents[0] && i < r.Contents[1]
		if !contents && HasPlaceholder(piece) {
			return nil, refused("a secret's placeholder is in its body")
		}
	}
	if len(r.Body) > 0 {
		out.body = &pieces{list: r.Body}
	}
	return out, nil
}

// own sets the host's own headers.
func (c *Client) own(header http.Header) {
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", c.userAgent)
	}
	// A server or proxy that compresses a stream holds it back.
	header.Set("Accept-Encoding", "identity")
}

func checkMethod(method string) (string, *Error) {
	switch method {
	case "":
		return http.MethodPost, nil
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return method, nil
	}
	return "", refused("method %.20q is not allowed", method)
}

// target checks that a request goes to base or below it, and then puts the
// secrets into the path and the query.
func (g granted) target(raw, base string) (*url.URL, place, *Error) {
	u, where, refusal := g.fillURL(raw, func(u *url.URL) string {
		if why := under(u, base); why != "" {
			return "is not at or below base_url (" + base + "): " + why
		}
		return ""
	})
	where.baseURL = base
	return u, where, refusal
}

// fillURL puts the secrets into the path and the query of a URL. Before and
// after, check says what is wrong with where it leads, or "".
func (g granted) fillURL(raw string, check func(u *url.URL) string) (*url.URL, place, *Error) {
	none := place{}
	if why := plainURL(raw); why != "" {
		return nil, none, refused("its URL %s", why)
	}
	// Braces must be escaped too, or net/url would choose its own spelling of
	// the whole path.
	u, err := url.Parse(strings.NewReplacer("{", "%7B", "}", "%7D").Replace(raw))
	if err != nil {
		return nil, none, refused("its URL cannot be parsed")
	}
	if why := check(u); why != "" {
		return nil, none, refused("its URL %s", why)
	}
	if strings.Contains(raw, "#") {
		return nil, none, refused("its URL has a fragment")
	}
	// What is shown has the placeholders in it, never the secrets.
	where := place{url: origin(u) + showPath(u.EscapedPath())}
	path, refusal := g.fillPath(u.EscapedPath())
	if refusal != nil {
		return nil, none, refusal
	}
	if u.RawQuery, refusal = g.fillQuery(u.RawQuery); refusal != nil {
		return nil, none, refusal
	}
	if u.Path, err = url.PathUnescape(path); err != nil {
		return nil, none, refused("its URL cannot be parsed")
	}
	u.RawPath = path
	// A secret could be a segment of its own.
	if why := check(u); why != "" {
		return nil, none, refused("a secret in its URL leads elsewhere: it %s", why)
	}
	return u, where, nil
}

// showPath makes the braces of placeholders readable again.
func showPath(path string) string {
	return strings.NewReplacer("%7B", "{", "%7b", "{", "%7D", "}", "%7d", "}").Replace(path)
}

// header checks header fields and then puts the secrets into their values.
func (g granted) header(fields []abi.Header) (http.Header, *Error) {
	header := make(http.Header, len(fields)+2)
	for _, f := range fields {
		if !isToken(f.Name) {
			return nil, refused("%.40q is not the name of a header", f.Name)
		}
		if ownHeader(f.Name) {
			return nil, refused("header %s is the host's to set", f.Name)
		}
		value, refusal := g.fill(f.Value)
		if refusal != nil {
			return nil, refusal
		}
		if !isFieldValue(value) {
			return nil, refused("the value of header %s holds a line break or control character", f.Name)
		}
		header.Add(f.Name, value)
	}
	return header, nil
}

// ownHeader tells whether a header describes the connection or the length of
// the body, and so is the host's.
func ownHeader(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "connection", "transfer-encoding", "accept-encoding",
		"te", "trailer", "upgrade", "keep-alive", "expect", "proxy-connection", "proxy-authorization":
		return true
	}
	return false
}

// isToken tells whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

// isFieldValue tells whether s may be the value of a header.
func isFieldValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7F {
			return false
		}
	}
	return true
}

// http returns the request for net/http.
func (o *outgoing) http(ctx context.Context) *http.Request {
	req := (&http.Request{
		Method: o.method,
		URL:    o.target,
		Host:   o.target.Host,
		Header: o.header,
	}).WithContext(ctx)
	if o.body == nil {
		return req
	}
	req.Body = o.body.reader()
	req.ContentLength = o.body.size()
	// With GetBody, net/http sends a request again that never got out, on a
	// connection that the server had closed: good. With an idempotency key it
	// would also send one again that may have arrived: each is to be a row in
	// the ledger, so that is not for net/http to decide.
	if o.header.Get("Idempotency-Key") == "" && o.header.Get("X-Idempotency-Key") == "" {
		req.GetBody = func() (io.ReadCloser, error) { return o.body.reader(), nil }
	}
	return req
}

// pieces is a body in pieces. net/http may read a body for a moment longer than
// the request lives: not past stop.
type pieces struct {
	list    [][]byte
	mu      sync.Mutex
	stopped bool
}

func (p *pieces) size() int64 {
	var n int64
	for _, piece := range p.list {
		n += int64(len(piece))
	}
	return n
}

// stop makes all readers fail; when it has returned, none looks at the pieces.
func (p *pieces) stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

func (p *pieces) reader() io.ReadCloser { return &piecesReader{from: p} }

// piecesReader is used by one goroutine.
type piecesReader struct {
	from *pieces
	next int // the piece to read from
	done int // how much of it was read
}

func (r *piecesReader) Read(b []byte) (int, error) {
	r.from.mu.Lock()
	defer r.from.mu.Unlock()
	if r.from.stopped {
		return 0, ErrClosed
	}
	n := 0
	for n < len(b) && r.next < len(r.from.list) {
		piece := r.from.list[r.next]
		k := copy(b[n:], piece[r.done:])
		n += k
		if r.done += k; r.done == len(piece) {
			r.next, r.done = r.next+1, 0
		}
	}
	if n == 0 && r.next == len(r.from.list) {
		return 0, io.EOF
	}
	return n, nil
}

// Close does nothing.
func (r *piecesReader) Close() error { return nil }
