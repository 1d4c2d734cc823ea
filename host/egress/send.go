package egress

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/zchost/zchost/abi"
)

// maxRedirects is how many redirects in a row are followed.
const maxRedirects = 5

// Send sends r and returns the response when its head is there, whatever its
// status. The response must be closed. The error is an *Error; ctx bounds the
// body too.
func (c *Client) Send(ctx context.Context, e Endpoint, r Request) (*Response, error) {
	out, refusal := c.prepare(e, r)
	if refusal != nil {
		return nil, refusal
	}
	return c.send(ctx, e.Clocks, out)
}

// send sends a request that was checked.
func (c *Client) send(ctx context.Context, clocks Clocks, out *outgoing) (*Response, error) {
	ctx, w := newWatch(ctx, clocks)
	resp, err := c.follow(ctx, w, out) //nolint:bodyclose // Response.Close does
	if err != nil {
		w.head()
		w.cancel(ErrClosed)
		out.body.stop()
		return nil, err
	}
	w.head()
	return c.response(resp, w, out), nil
}

// follow sends a request, and sends it on where the server says so.
func (c *Client) follow(ctx context.Context, w *watch, out *outgoing) (*http.Response, error) {
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(dialEndsWith(ctx), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { w.connected() },
		// Called before the last of the head is written, and before the body.
		WroteHeaderField: func(string, []string) { sent.Store(true) },
		WroteHeaders:     func() { sent.Store(true) },
	})
	for range maxRedirects + 1 {
		resp, err := out.transport.RoundTrip(out.http(ctx))
		if err != nil {
			if cause := w.cause(); cause != nil {
				return nil, out.ended(cause, sent.Load())
			}
			return nil, out.noResponse(err, sent.Load(), c.redactor)
		}
		next := redirect(resp)
		if next == "" {
			return resp, nil
		}
		_ = resp.Body.Close() // nobody reads it
		if refusal := out.redirect(out, resp.StatusCode, next); refusal != nil {
			return nil, refusal
		}
	}
	return nil, &Error{
		Class: abi.FailureInvalidRequest, Sent: true,
		Msg: line(c.redactor, "gave up after 5 redirects from "+out.url, "", "see that "+out.right()),
	}
}

// redirect returns where a response redirects to, or "" if it does not.
func redirect(resp *http.Response) string {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return resp.Header.Get("Location")
	}
	return ""
}

// redirectTo makes out the request that a redirect asks for. It is followed
// only under base_url, since it carries the credentials; and a POST only where
// it stays one (307, 308).
func (c *Client) redirectTo(out *outgoing, status int, location string) *Error {
	fail := func(to, why, hint string) *Error {
		return &Error{
			Class: abi.FailureInvalidRequest, Sent: true,
			Msg: line(c.redactor, "redirect from "+out.url+to+" not followed", why, hint),
		}
	}
	if why := plainURL(location); why != "" {
		return fail("", "its target "+why, "")
	}
	relative, err := url.Parse(location)
	if err != nil {
		return fail("", "its target is not a URL", "")
	}
	// Checked before it is resolved, which would take the dots out.
	if dotSegments(relative.EscapedPath()) {
		return fail("", "the path of its target holds . or ..", "")
	}
	target := out.target.ResolveReference(relative)
	target.Fragment, target.RawFragment = "", ""
	to := " to " + origin(target)
	if why := under(target, out.baseURL); why != "" {
		return fail(to, why+" than base_url allows ("+out.baseURL+")", "if that is the right server, set base_url to its address")
	}
	keeps := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	if !keeps && out.method != http.MethodGet && out.method != http.MethodHead {
		return fail(to, "status "+http.StatusText(status)+" would turn "+out.method+" into GET", "set base_url to the address it redirects to")
	}
	out.target = target
	out.url = c.redactor.String(origin(target) + target.EscapedPath())
	return nil
}

// response wraps what came.
func (c *Client) response(resp *http.Response, w *watch, out *outgoing) *Response {
	r := &Response{
		Status:   resp.StatusCode,
		Headers:  c.headers(resp.Header),
		URL:      out.url,
		place:    out.place,
		watch:    w,
		redactor: c.redactor,
		raw:      resp.Body,
		sent:     out.body,
	}
	r.body = decode(&timedReader{r}, r.Headers)
	return r
}

// headers returns header fields sorted by name, in lower case, without secrets.
func (c *Client) headers(header http.Header) []abi.Header {
	list := make([]abi.Header, 0, len(header))
	for _, name := range sortedNames(header) {
		for _, value := range header[name] {
			list = append(list, abi.Header{
				Name:  c.redactor.String(strings.ToLower(name)),
				Value: c.redactor.String(strings.ToValidUTF8(value, "\uFFFD")),
			})
		}
	}
	return list
}
