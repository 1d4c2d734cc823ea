package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// dialOne is how long one address of several may take to answer.
const dialOne = 5 * time.Second

// addressError is the cause of a request that would have gone to an address
// that is not public.
type addressError struct{ host, addr string }

func (e *addressError) Error() string {
	return fmt.Sprintf("%s has the address %s, which is not a public one", e.host, e.addr)
}

// Public tells whether an address is one of the public internet. All others are
// refused: private and shared networks, loopback, link-local (where clouds keep
// their metadata), multicast, and what is reserved or translates to these. See
// the IANA special-purpose address registries (RFC 6890).
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is4() {
		return !within(a, reserved4())
	}
	if translated := netip.MustParsePrefix("64:ff9b::/96"); translated.Contains(a) { // RFC 6052: the last four bytes are an IPv4 address
		b := a.As16()
		return Public(netip.AddrFrom4([4]byte(b[12:])))
	}
	return netip.MustParsePrefix("2000::/3").Contains(a) && !within(a, reserved6())
}

func reserved4() []string {
	return []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	}
}

// reserved6 are those within 2000::/3: protocols (Teredo among them),
// documentation, and 6to4.
func reserved6() []string { return []string{"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"} }

func within(a netip.Addr, prefixes []string) bool {
	for _, p := range prefixes {
		if netip.MustParsePrefix(p).Contains(a) {
			return true
		}
	}
	return false
}

// guard opens connections to public addresses only, and to any address of the
// hosts that private allows.
type guard struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	private func(host, port string) bool
}

// connect resolves a name and connects to what it has checked: a second answer
// of the name server cannot lead elsewhere.
func (g *guard) connect(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("split address: %w", err)
	}
	addrs, err := g.check(ctx, host, port)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	for i, a := range addrs {
		within, cancel := ctx, context.CancelFunc(func() {})
		if i < len(addrs)-1 {
			within, cancel = context.WithTimeout(ctx, dialOne)
		}
		var conn net.Conn
		conn, err = g.dial(within, network, net.JoinHostPort(a.String(), port))
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
	}
	return nil, err
}

// maxAddresses is how many addresses of a name are tried.
const maxAddresses = 8

// check returns the addresses of a host to which a connection may be opened.
func (g *guard) check(ctx context.Context, host, port string) ([]netip.Addr, error) {
	addrs := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, a)
	} else if addrs, err = g.resolve(ctx, host); err != nil {
		return nil, err
	}
	if g.private(host, port) {
		return addrs[:min(len(addrs), maxAddresses)], nil
	}
	var public []netip.Addr
	for _, a := range addrs {
		if Public(a) && len(public) < maxAddresses {
			public = append(public, a)
		}
	}
	switch {
	case len(addrs) == 0:
		return nil, &net.DNSError{Err: "it has no address", Name: host, IsNotFound: true}
	case len(public) == 0:
		return nil, &addressError{host, addrs[0].String()}
	}
	return public, nil
}
