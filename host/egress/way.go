package egress

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/secret"
)

// Way is the way to a server that the operator named, for a protocol that has a
// client of its own (that of MCP servers). It is an http.RoundTripper, and
// leaves times and sizes to that client.
//
// The server may have any address, for it is the operator who chose it. Requests
// go to its origin alone: where it redirects elsewhere is not followed.
type Way struct {
	client *Client
	origin string // of the server
	header http.Header
}

// Way returns the way to a server. Every request gets the headers and,
// unless it is empty, the token, as a bearer token (RFC 6750). Secrets in what
// comes back are taken out by who reads it. The error says what is wrong with
// the address, and repeats nothing of it.
func (c *Client) Way(address string, token secret.Value, headers map[string]secret.Value) (*Way, error) {
	if why := plainURL(address); why != "" {
		return nil, refused("its address %s", why)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, refused("its address does not begin with http://HOST or https://HOST, or holds a user or password")
	}
	w := &Way{client: c, origin: origin(u), header: http.Header{}}
	for name, value := range headers {
		w.header.Set(name, value.Reveal())
	}
	if !token.Empty() {
		w.header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return w, nil
}

// RoundTrip sends a request.
func (w *Way) RoundTrip(req *http.Request) (*http.Response, error) {
	if to := origin(req.URL); to != w.origin || req.URL.User != nil {
		return nil, refused("it is not for %s, but would go to %s", w.origin, to)
	}
	// A request is its sender's: only the copy is changed.
	out := req.Clone(dialEndsWith(req.Context()))
	for name, values := range w.header {
		out.Header[name] = values
	}
	w.client.own(out.Header)
	resp, err := w.client.transport.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	unzip(resp)
	return resp, nil
}

// unzip makes the body readable that a server compressed without being asked.
func unzip(resp *http.Response) {
	var encoding []abi.Header
	for _, v := range resp.Header.Values("Content-Encoding") {
		encoding = append(encoding, abi.Header{Name: "content-encoding", Value: v})
	}
	if len(encoding) == 0 || strings.EqualFold(encoding[0].Value, "identity") {
		return
	}
	resp.Body = unzipped{decode(resp.Body, encoding), resp.Body}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength = -1
}

// unzipped is a body that is read through a decoder.
type unzipped struct {
	io.Reader
	io.Closer
}
