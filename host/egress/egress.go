// Package egress is the only way out to the network. It sends the request that
// a plugin described, and gives back the response or the frames of its body.
//
// What a plugin says is checked first: the destination lies under the
// endpoint's base URL, the headers are not the host's own, and secrets are
// named where they may be. Only then are the secrets put in. Whatever comes
// back (frames, bodies, headers, error texts) is free of them.
//
// A Response is read in its caller's goroutine. It ends when its context ends,
// when Close is called, or when one of the clocks runs out; then the connection
// is closed at once, and no goroutine, socket or timer stays (STR-9).
package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/secret"
)

// Limits of what is read.
const (
	// MaxLine is the longest line of a streamed body in bytes, without its end.
	MaxLine = 1 << 20
	// MaxFrame is the longest frame in bytes.
	MaxFrame = 8 << 20
	// MaxResponse is the longest body in bytes, after decompression.
	MaxResponse = 64 << 20
	// maxHead is the longest response head in bytes.
	maxHead = 256 << 10
)

// Options are the settings of a Client.
type Options struct {
	// Redactor learns every secret that is sent, and removes it from what
	// comes back. Nil means one of its own.
	Redactor *secret.Redactor
	// UserAgent is sent unless the plugin sets the header; empty means
	// "zchost".
	UserAgent string
	// MaxIdle is how many unused connections are kept for one server; 0 means
	// 16. They are closed after 90 s.
	MaxIdle int
	// RootCAs are the certificate authorities to trust; nil means the
	// system's.
	RootCAs *x509.CertPool
	// Dial opens connections; nil means a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Resolve finds the addresses of a host, for Fetch; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// Client sends requests. Its methods may be called by several goroutines at
// once.
type Client struct {
	options   Options
	transport *http.Transport
	redactor  *secret.Redactor
	userAgent string
}

// New returns a Client. Close it when it is no longer used.
func New(o Options) *Client {
	c := &Client{redactor: o.Redactor, userAgent: o.UserAgent}
	if c.redactor == nil {
		c.redactor = secret.NewRedactor()
	}
	if c.userAgent == "" {
		c.userAgent = "zchost"
	}
	if o.MaxIdle == 0 {
		o.MaxIdle = 16
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext
	}
	if o.Resolve == nil {
		o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	c.options = o
	c.transport = c.newTransport(o.Dial)
	c.transport.Proxy = c.proxy
	return c
}

// newTransport returns a transport, without a proxy, that opens its connections
// with dial.
func (c *Client) newTransport(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	d := &dialer{dial: dial, tls: &tls.Config{
		RootCAs:    c.options.RootCAs,
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
	}}
	return &http.Transport{
		DialContext:            d.plain,
		DialTLSContext:         d.secure,
		TLSClientConfig:        d.tls.Clone(), // within a proxy's tunnel
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // see decode
		MaxIdleConnsPerHost:    c.options.MaxIdle,
		MaxIdleConns:           4 * c.options.MaxIdle,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxHead,
		// Without pings, a connection that a router has forgotten would be
		// used again for every request until the system notices.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// proxy returns the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name; none
// for loopback. Its password is a secret like others.
func (c *Client) proxy(req *http.Request) (*url.URL, error) {
	to, err := http.ProxyFromEnvironment(req)
	if to != nil && to.User != nil {
		password, _ := to.User.Password()
		c.redactor.Add(secret.New(password))
	}
	return to, err
}

// Close closes the connections that are kept for later. Responses that are
// still being read go on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Endpoint is where requests may go and what they may carry.
type Endpoint struct {
	// BaseURL is what the address of every request begins with; see
	// ParseBaseURL.
	BaseURL string
	// Secrets are those that the plugin may name, by the name it uses.
	Secrets map[string]secret.Value
	// Clocks bound the waits.
	Clocks Clocks
}

// Request is what is to be sent.
type Request struct {
	// Method is GET, HEAD, POST, PUT, PATCH or DELETE; empty means POST.
	Method string
	// URL is absolute, at or below the endpoint's base URL.
	URL string
	// Headers are added to the request; several of one name keep their order.
	Headers []abi.Header
	// Body is the body in pieces, which are sent one after the other without
	// being joined. They must not change until Send has failed or the response
	// is closed.
	Body [][]byte
	// Contents are the pieces Body[Contents[0]:Contents[1]], in which people's
	// own words stand: these may look like a placeholder and are sent as they
	// are. In the other pieces a placeholder is the plugin's mistake. The zero
	// value means none.
	Contents [2]int
}
