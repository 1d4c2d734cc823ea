package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/secret"
)

// Reach says where the requests of a tool may go. Unlike an Endpoint it has no
// address that the operator chose, so where a name leads is checked too:
// private, loopback and link-local addresses are refused.
//
// A host is written "api.example.com" for the ports 80 and 443,
// "api.example.com:8443" for one port, or "*.example.com" for all names below
// (with those ports); "*" is every host with every port. IPv6 addresses stand
// in brackets.
type Reach struct {
	// Hosts are the hosts that may be reached.
	Hosts []string
	// Private are those that may be reached although their addresses are not
	// public. "*" is not one of them.
	Private []string
	// Secrets are those that a request may name, by the name it uses. One goes
	// out over TLS only, or to a host in Private.
	Secrets map[string]secret.Value
	// Clocks bound the waits.
	Clocks Clocks
}

// Fetch sends r to wherever reach allows and returns the response when its
// head is there, whatever its status. The response must be closed. The error
// is an *Error; ctx bounds the body too.
//
// Up to 5 redirects are followed, to where reach allows and never from TLS to
// plain HTTP. To another server go only the headers Accept, Accept-Language,
// Content-Type and User-Agent, and so no secret. As browsers do, a POST becomes a
// GET with the statuses 301, 302 and 303.
func (c *Client) Fetch(ctx context.Context, reach Reach, r Request) (*Response, error) {
	for _, value := range reach.Secrets {
		c.redactor.Add(value)
	}
	out, refusal := c.plan(ctx, &reach, r)
	if refusal != nil {
		return nil, refusal
	}
	return c.send(ctx, reach.Clocks, out)
}

// plan checks r and puts the secrets in.
func (c *Client) plan(ctx context.Context, reach *Reach, r Request) (*outgoing, *Error) {
	method, refusal := checkMethod(r.Method)
	if refusal != nil {
		return nil, refusal
	}
	out := &outgoing{method: method}
	g := granted(reach.Secrets)
	if out.target, out.place, refusal = g.fillURL(r.URL, reach.refuses); refusal != nil {
		return nil, refusal
	}
	if out.header, refusal = g.header(r.Headers); refusal != nil {
		return nil, refusal
	}
	if namesSecret(r) && out.target.Scheme != "https" && !reach.private(out.target.Hostname(), port(out.target)) {
		return nil, refused("it would send a secret without TLS")
	}
	c.own(out.header)
	for _, piece := range r.Body {
		if HasPlaceholder(piece) {
			return nil, refused("a secret's placeholder is in its body")
		}
	}
	if len(r.Body) > 0 {
		out.body = &pieces{list: r.Body}
	}
	door := &guard{dial: c.options.Dial, resolve: c.options.Resolve, private: reach.private}
	out.redirect = func(out *outgoing, status int, location string) *Error {
		if refusal := c.redirectWithin(reach, out, status, location); refusal != nil {
			return refusal
		}
		return c.route(ctx, door, out)
	}
	return out, c.route(ctx, door, out)
}

// route gives a request its own transport: a connection of one tool's is never
// another's, which may not be allowed to go there. A proxy resolves the name by
// itself, so what can be seen of it from here is checked before.
func (c *Client) route(ctx context.Context, door *guard, out *outgoing) *Error {
	dial := door.connect
	to, err := c.proxy(&http.Request{URL: out.target})
	if err == nil && to != nil {
		dial = c.options.Dial
		var private *addressError
		// A name that cannot be resolved here is left to the proxy.
		if _, err := door.check(ctx, out.target.Hostname(), port(out.target)); errors.As(err, &private) {
			return out.notPublic(private)
		}
	}
	t := c.newTransport(dial)
	t.DisableKeepAlives = true
	t.Proxy = func(*http.Request) (*url.URL, error) { return to, err }
	out.transport = t
	return nil
}

// namesSecret tells whether a secret is in a request's URL or headers.
func namesSecret(r Request) bool {
	if plain, err := url.QueryUnescape(r.URL); err != nil || strings.Contains(plain, placeholderStart) {
		return true
	}
	return slices.ContainsFunc(r.Headers, func(h abi.Header) bool { return strings.Contains(h.Value, placeholderStart) })
}

// refuses says why a request must not go there, or "".
func (reach *Reach) refuses(u *url.URL) string {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "does not begin with http:// or https://"
	case u.Opaque != "" || u.Hostname() == "" || strings.ContainsFunc(u.Host, notOfHost):
		return "has no host, or one with characters that none has"
	case u.User != nil:
		return "holds a user or password"
	case !matchHost(reach.Hosts, u.Hostname(), port(u)):
		return "is at a host that is not among those allowed"
	}
	return ""
}

// private tells whether a host may have an address that is not public.
func (reach *Reach) private(host, port string) bool {
	return matchHost(slices.DeleteFunc(slices.Clone(reach.Private), func(p string) bool { return p == "*" }), host, port)
}

// port returns the port of a URL, also where it is not written.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// matchHost tells whether a host is among those of a list: see Reach.
func matchHost(list []string, host, port string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	for _, want := range list {
		name, wantPort := strings.ToLower(want), ""
		if h, p, err := net.SplitHostPort(name); err == nil {
			name, wantPort = h, p
		}
		name = strings.Trim(name, "[]")
		if name == "*" && wantPort == "" {
			return true
		}
		if wantPort != port && (wantPort != "" || port != "80" && port != "443") {
			continue
		}
		below, wild := strings.CutPrefix(name, "*")
		if name == host || wild && (below == "" || strings.HasPrefix(below, ".") && strings.HasSuffix(host, below) && host != below) {
			return true
		}
	}
	return false
}

// redirectWithin makes out the request that a redirect asks for.
func (c *Client) redirectWithin(reach *Reach, out *outgoing, status int, location string) *Error {
	fail := func(to, why string) *Error {
		return &Error{
			Class: abi.FailureInvalidRequest, Sent: true,
			Msg: line(c.redactor, "redirect from "+out.url+to+" not followed", why, ""),
		}
	}
	relative, err := url.Parse(location)
	if plainURL(location) != "" || err != nil {
		return fail("", "its target is not a URL")
	}
	target := out.target.ResolveReference(relative)
	target.Fragment, target.RawFragment = "", ""
	to := " to " + origin(target)
	switch why := reach.refuses(target); {
	case why != "":
		return fail(to, "its target "+why)
	case out.target.Scheme == "https" && target.Scheme != "https":
		return fail(to, "it leads from https to http")
	}
	if origin(target) != origin(out.target) {
		out.header = carried(out.header)
	}
	keeps := status == http.StatusTemporaryRedirect || status == http.StatusPermanentRedirect
	if !keeps && out.method == http.MethodPost || status == http.StatusSeeOther && out.method != http.MethodHead {
		out.method, out.body = http.MethodGet, nil
		out.header.Del("Content-Type")
	}
	out.target = target
	out.url = c.redactor.String(origin(target) + target.EscapedPath())
	return nil
}

// carried are the headers that go to another server too.
func carried(header http.Header) http.Header {
	kept := http.Header{}
	for _, name := range []string{"Accept", "Accept-Language", "Accept-Encoding", "Content-Type", "User-Agent"} {
		if v, ok := header[name]; ok {
			kept[name] = v
		}
	}
	return kept
}
