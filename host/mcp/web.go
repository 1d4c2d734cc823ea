package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of what a server sends over HTTP.
const (
	// maxBody is the longest body of a response in bytes. A stream that the
	// server keeps open for its notifications is opened again after that.
	maxBody = 64 << 20
	// maxError is how much of the body of an error is looked at, in bytes.
	maxError = 64 << 10
	// maxRedirects is how often a request is redirected within the server.
	maxRedirects = 3
	// streamHead is how long a server may take to open the stream for its
	// notifications, and at most a quarter of StartTimeout; without an answer it
	// is one that has none.
	streamHead = 5 * time.Second
)

var errAborted = errors.New("the connection was closed")

// web is a server at a URL.
type web struct {
	s    *Server
	base *url.URL
	err  error // of the config

	mu      sync.Mutex
	aborted bool
	open    map[*exchange]bool // those that are not over
	streams int                // how often the stream for notifications was asked for
}

// exchange is a request and its response.
type exchange struct{ cancel context.CancelCauseFunc }

func newWeb(s *Server) *web {
	w := &web{s: s, open: map[*exchange]bool{}}
	w.base, w.err = url.Parse(s.cfg.URL)
	switch {
	case w.err != nil:
		w.err = errors.New("its url is not one") // the text of the error repeats it
	case w.base.Scheme != "http" && w.base.Scheme != "https" || w.base.Host == "":
		w.err = errors.New("it has neither a command nor an http url")
	case s.cfg.Transport == nil:
		w.err = errors.New("there is nothing to send requests with")
	}
	return w
}

// Connect prepares the connection; nothing is sent yet.
func (w *web) Connect(ctx context.Context) (sdk.Connection, error) {
	if w.err != nil {
		return nil, w.err
	}
	t := &sdk.StreamableClientTransport{
		Endpoint:     w.s.cfg.URL,
		HTTPClient:   &http.Client{Transport: w, CheckRedirect: w.redirect},
		MaxEventSize: maxMessage,
	}
	return t.Connect(ctx)
}

// redirect follows within the server alone: what the calls say is for it.
func (w *web) redirect(r *http.Request, via []*http.Request) error {
	if !w.ours(r.URL) {
		return errors.New("it redirects to another server, which is not followed")
	}
	if len(via) > maxRedirects {
		return errors.New("it redirects again and again")
	}
	return nil
}

// ours tells whether a URL is at the server of the config.
func (w *web) ours(u *url.URL) bool { return u.Scheme == w.base.Scheme && u.Host == w.base.Host }

// RoundTrip sends a request of the SDK's and bounds the response.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	e := &exchange{cancel}
	if err := w.begin(e); err != nil {
		cancel(err)
		return nil, err
	}
	out := r.Clone(ctx)
	if r.Method == http.MethodGet {
		return w.stream(out, e)
	}
	m := markOf(r.Context())
	m.sending()
	resp, err := w.s.cfg.Transport.RoundTrip(out)
	if err != nil {
		w.over(e)
		if neverSent(err) {
			m.unsent()
		}
		return nil, w.plain(ctx, err)
	}
	w.bound(resp, e)
	forgotten(r, resp)
	m.answered(resp.StatusCode)
	return resp, nil
}

// plain returns an error without the address, which may hold a key, and with
// the cause if it is the connection that was closed.
func (w *web) plain(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errAborted) {
		return errAborted
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// neverSent tells whether no server can have got the request.
func neverSent(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

// stream asks for the stream on which a server sends what it was not asked for.
// A server need not have one, and some do not answer this at all: that is no
// reason to do without their tools, so the first failure is said to be 405.
func (w *web) stream(r *http.Request, e *exchange) (*http.Response, error) {
	w.mu.Lock()
	w.streams++
	first := w.streams == 1
	w.mu.Unlock()
	late := time.AfterFunc(min(streamHead, w.s.cfg.StartTimeout/4), func() { e.cancel(context.DeadlineExceeded) })
	resp, err := w.s.cfg.Transport.RoundTrip(r)
	if !late.Stop() && err == nil { // too late, though by a hair
		_ = resp.Body.Close()
		err = context.DeadlineExceeded
	}
	if err == nil && (resp.StatusCode == http.StatusOK || !first) {
		w.bound(resp, e)
		return resp, nil
	}
	w.over(e)
	if err == nil {
		_ = resp.Body.Close()
	} else if !first {
		return nil, w.plain(r.Context(), err)
	}
	w.s.cfg.Logger.Debug("MCP server has no stream for notifications", "server", w.s.cfg.Name)
	return &http.Response{
		Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r,
	}, nil
}

// begin notes an exchange, so that abort ends it.
func (w *web) begin(e *exchange) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.aborted {
		return errAborted
	}
	w.open[e] = true
	return nil
}

func (w *web) over(e *exchange) {
	w.mu.Lock()
	delete(w.open, e)
	w.mu.Unlock()
	e.cancel(nil)
}

// abort ends all requests; there are no more.
func (w *web) abort() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.aborted = true
	for e := range w.open {
		e.cancel(errAborted)
	}
}

func (w *web) close() { w.abort() }

// last has nothing to say: what failed is in the errors of the requests.
func (*web) last() error { return nil }

// bound bounds the body of a response, and notes when it is over. The body of
// an error is read here: the SDK reads it to its end.
func (w *web) bound(resp *http.Response, e *exchange) {
	b := &body{ReadCloser: resp.Body, left: maxBody, over: func() { w.over(e) }}
	resp.Body = b
	if resp.StatusCode < http.StatusBadRequest {
		return
	}
	text, _ := io.ReadAll(io.LimitReader(b, maxError)) // half of it may do
	_ = b.Close()
	resp.Body = io.NopCloser(bytes.NewReader(text))
}

// body is the body of a response.
type body struct {
	io.ReadCloser
	left int
	once sync.Once
	over func()
}

// Read reads until the bound.
func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("its response is longer than %d MiB", maxBody>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// Close ends the exchange.
func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(b.over)
	return err
}
