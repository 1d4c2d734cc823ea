package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/config"
	"github.com/zchost/zchost/host/plugin"
)

// reachTime bounds a connection, TLS included.
const reachTime = 3 * time.Second

// checkReach connects to every provider that has an address, side by side. No
// request is sent.
func checkReach(ctx context.Context, a *app, cfg config.Config, offline bool) []finding {
	names := slices.Sorted(maps.Keys(cfg.Providers))
	all := make([]finding, len(names))
	var done sync.WaitGroup
	for i, name := range names {
		done.Go(func() { all[i] = reach(ctx, a, name, cfg.Providers[name], offline) })
	}
	done.Wait()
	return all
}

func reach(ctx context.Context, a *app, name string, p config.Provider, offline bool) finding {
	what := "provider " + name
	u, err := url.Parse(address(a, p))
	switch {
	case err != nil || u.Hostname() == "":
		return failed(what, "it has no address", "set providers."+name+".base_url")
	case strings.HasSuffix(u.Hostname(), ".invalid"): // RFC 6761: never a real host
		return ok(what, "needs no network")
	case offline:
		return ok(what, u.Host+", not connected to (--offline)")
	}
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	began := time.Now()
	proxy, err := connect(ctx, a, u)
	if err != nil {
		return failed(what, "cannot connect to "+u.Host+": "+err.Error(), reachHint(err, proxy))
	}
	detail := fmt.Sprintf("%s answers in %d ms", u.Host, time.Since(began).Milliseconds())
	if proxy != "" {
		detail = fmt.Sprintf("goes through the proxy %s, which answers in %d ms", proxy, time.Since(began).Milliseconds())
	}
	return ok(what, detail)
}

// address is where requests go: the config's base_url, else the plugin's.
func address(a *app, p config.Provider) string {
	if p.BaseURL != "" {
		return p.BaseURL
	}
	source, err := host.FindPlugin(host.Home{Dir: a.home}, p.Plugin)
	if err != nil {
		return ""
	}
	m, err := plugin.ParseManifest(source.Manifest)
	if err != nil || m.Provider == nil {
		return ""
	}
	return m.Provider.DefaultBaseURL
}

// connect opens a connection as far as TLS, or to the proxy where the
// environment names one.
func connect(ctx context.Context, a *app, u *url.URL) (proxy string, err error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	target := net.JoinHostPort(u.Hostname(), port)
	var dial interface {
		DialContext(ctx context.Context, network, addr string) (net.Conn, error)
	} = &net.Dialer{}
	if proxy = proxyFor(a.env, u); proxy != "" {
		target = proxy
	} else if u.Scheme == "https" {
		dial = &tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}
	}
	conn, err := dial.DialContext(ctx, "tcp", target)
	if err != nil {
		return proxy, err
	}
	return proxy, conn.Close()
}

// proxyFor returns host and port of the proxy for requests to u, "" for none.
// Loopback needs none; NO_PROXY is taken as a list of host names.
func proxyFor(env []string, u *url.URL) string {
	get := func(names ...string) string {
		for _, v := range env {
			for _, name := range names {
				if value, ok := strings.CutPrefix(v, name+"="); ok && value != "" {
					return value
				}
			}
		}
		return ""
	}
	name := u.Hostname()
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && ip.IsLoopback() {
		return ""
	}
	for _, skip := range strings.Split(get("NO_PROXY", "no_proxy"), ",") {
		skip = strings.TrimPrefix(strings.TrimSpace(skip), ".")
		if skip == "*" || skip != "" && (name == skip || strings.HasSuffix(name, "."+skip)) {
			return ""
		}
	}
	scheme := strings.ToUpper(u.Scheme) + "_PROXY"
	proxy, err := url.Parse(get(scheme, strings.ToLower(scheme)))
	if err != nil || proxy.Host == "" {
		return ""
	}
	if proxy.Port() == "" {
		return net.JoinHostPort(proxy.Hostname(), "80")
	}
	return proxy.Host
}

func reachHint(err error, proxy string) string {
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case proxy != "":
		return "look at HTTPS_PROXY and at the proxy"
	case errors.As(err, &dns):
		return "look at the spelling of base_url and at name resolution"
	case errors.As(err, &cert):
		return "look at the clock and at the certificates that this machine trusts"
	case errors.Is(err, context.DeadlineExceeded):
		return "look at network and firewall; if a proxy is needed, set HTTPS_PROXY"
	}
	return "look at base_url, and whether the server runs"
}
