package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
)

// dialer opens connections. net/http lets a dial, TLS handshake included, go on
// after its request has ended, in the hope of a use for the connection; here
// nothing outlives its request (STR-9), so the dial ends with it. Only the
// handshake within a proxy's tunnel is net/http's own: it is bounded by the
// transport's TLSHandshakeTimeout.
type dialer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	tls  *tls.Config
}

// endKey is the key under which a request's context carries its own Done: the
// context that net/http dials with has the values, but not the end.
type endKey struct{}

// dialEndsWith returns ctx, whose end also ends the dials made for it.
func dialEndsWith(ctx context.Context) context.Context {
	return context.WithValue(ctx, endKey{}, func(stop func()) (detach func() bool) {
		return context.AfterFunc(ctx, stop)
	})
}

// bound returns a context for a dial that ends with the request. The function
// must be called after the dial.
func bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	attach, ok := ctx.Value(endKey{}).(func(func()) func() bool)
	if !ok {
		return ctx, cancel
	}
	detach := attach(cancel)
	return ctx, func() {
		detach()
		cancel()
	}
}

// plain opens a connection.
func (d *dialer) plain(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, done := bound(ctx)
	defer done()
	return d.dial(ctx, network, address)
}

// secure opens a connection and speaks TLS on it.
func (d *dialer) secure(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("split address: %w", err)
	}
	ctx, done := bound(ctx)
	defer done()
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName = host
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close() // it is of no use
		return nil, err
	}
	return secured, nil
}
