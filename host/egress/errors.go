package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/secret"
)

// maxMsg is the longest text of an Error, in bytes.
const maxMsg = 500

// The names in Error.Clock.
const (
	ClockConnect  = "connect"  // no connection within Clocks.Header
	ClockHeader   = "header"   // connected, but no response head within Clocks.Header
	ClockIdle     = "idle"     // no byte for Clocks.Idle
	ClockProgress = "progress" // no event for Clocks.Progress, though bytes came
	ClockFinish   = "finish"   // the answer had finished, then no byte for Clocks.FinishSilence
)

// Causes that a caller decides by.
var (
	// ErrNotStream says that the body is no event stream but, by its first
	// byte, JSON, HTML or compressed data. Response.Body still gives it whole.
	ErrNotStream = errors.New("response is not an event stream")
	// ErrTooLarge says that a line, a frame or a body is over its limit.
	ErrTooLarge = errors.New("too large")
	// ErrClosed says that Response.Close was called.
	ErrClosed = errors.New("response closed")
)

// Error is why there is no response, or no more of it. Its text is one line,
// free of secrets, and says what to do where that is known.
type Error struct {
	// Class is what kind of failure it is: plugin (the request is not allowed;
	// nothing was sent), network (there is no response head), truncated (the
	// body was cut, or went silent after the finish), timeout, server (what
	// came cannot be used), invalid_request (a redirect that is not followed),
	// or unknown (the caller's context ended, or Close was called: see Err).
	Class abi.FailureClass
	// Clock names the clock that ran out, or is "".
	Clock string
	// Sent tells whether anything of the request may have left.
	Sent bool
	// Msg is the text.
	Msg string
	// Err is the cause, or nil. When the caller's context ended it is that
	// context's cause.
	Err error
}

// Error returns the text.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// refused is the error of a request that a plugin must not make.
func refused(format string, args ...any) *Error {
	return &Error{Class: abi.FailurePlugin, Msg: "plugin's request refused: " + fmt.Sprintf(format, args...)}
}

// place says where a request goes, in texts: neither part holds a secret.
type place struct {
	url     string // without its query
	baseURL string // "" for a request of a Reach
}

// right names what may be wrong with the place: "base_url is right (…)".
func (p place) right() string {
	if p.baseURL == "" {
		return "the address is right"
	}
	return "base_url is right (" + p.baseURL + ")"
}

// ours is a text about base_url, or "" for a request without one.
func (p place) ours(text string) string {
	if p.baseURL == "" {
		return ""
	}
	return text
}

// clockError is the cause with which a clock ends a request.
type clockError struct {
	clock string
	after time.Duration
}

func (e *clockError) Error() string {
	return fmt.Sprintf("%s clock ran out after %s", e.clock, e.after)
}

// timedOut is the error of a clock that ran out.
func (p place) timedOut(e *clockError, sent bool) *Error {
	out := &Error{Class: abi.FailureTimeout, Clock: e.clock, Sent: sent, Err: e}
	switch e.clock {
	case ClockConnect:
		out.Msg = fmt.Sprintf("cannot connect to %s within %s: see that the server is up and %s", p.url, e.after, p.right())
	case ClockHeader:
		out.Msg = fmt.Sprintf("no response from %s within %s (header_timeout)", p.url, e.after)
	case ClockIdle:
		out.Msg = fmt.Sprintf("no byte from %s for %s (idle_timeout)", p.url, e.after)
	case ClockProgress:
		out.Msg = fmt.Sprintf("no event from %s for %s, though bytes came (progress_timeout)", p.url, e.after)
	default:
		out.Class = abi.FailureTruncated
		out.Msg = fmt.Sprintf("%s finished its answer, then was silent for %s without ending it", p.url, e.after)
	}
	return out
}

// canceled is the error after the caller's context ended or Close was called.
func (p place) canceled(cause error, sent bool) *Error {
	out := &Error{Class: abi.FailureUnknown, Sent: sent, Err: cause, Msg: "request to " + p.url + " canceled"}
	if errors.Is(cause, context.DeadlineExceeded) {
		out.Class = abi.FailureTimeout
		out.Msg = "request to " + p.url + " stopped at the caller's deadline"
	}
	return out
}

// ended is the error of a context that ended.
func (p place) ended(cause error, sent bool) *Error {
	if clock := (*clockError)(nil); errors.As(cause, &clock) {
		return p.timedOut(clock, sent)
	}
	return p.canceled(cause, sent)
}

// notPublic is the error of a host whose addresses are not public.
func (p place) notPublic(err *addressError) *Error {
	return &Error{Class: abi.FailurePlugin, Err: err, Msg: line(nil, "request to "+p.url+" refused", err.Error(), "")}
}

// noResponse is the error of a request that got no response head.
func (p place) noResponse(err error, sent bool, r *secret.Redactor) *Error {
	if private := (*addressError)(nil); errors.As(err, &private) {
		return p.notPublic(private)
	}
	out := &Error{Class: abi.FailureNetwork, Sent: sent, Err: clean(err, r)}
	var (
		dns      *net.DNSError
		record   tls.RecordHeaderError
		host     x509.HostnameError
		signer   x509.UnknownAuthorityError
		invalid  x509.CertificateInvalidError
		alert    tls.AlertError
		dialling = dialError(err)
	)
	what, hint := "no response from "+p.url, "see that the server is up and "+p.right()
	switch {
	case errors.As(err, &dns):
		what, hint = "cannot find the host of "+p.url, "see that the network is up and "+p.right()
	case errors.Is(err, syscall.ECONNREFUSED):
		what, hint = "cannot connect to "+p.url, "is the server running?"+p.ours(" base_url is "+p.baseURL)
	case errors.As(err, &record):
		what, hint = "cannot speak TLS with "+p.url, "the server seems to speak plain HTTP"+p.ours(": does base_url begin with http:// ?")
	case errors.As(err, &signer), errors.As(err, &invalid):
		what, hint = "cannot trust "+p.url, "add the server's certificate authority to those of the system (or name it in SSL_CERT_FILE), and see that the clock is right"
	case errors.As(err, &host):
		what, hint = "cannot trust "+p.url, p.ours("base_url ("+p.baseURL+") must have the name that the certificate is for")
	case errors.As(err, &alert):
		what, hint = "cannot speak TLS with "+p.url, "the server refused the handshake; see that "+p.right()
	case dialling:
		what = "cannot connect to " + p.url
	case sent:
		what, hint = "connection to "+p.url+" broke before a response came", ""
	}
	out.Msg = line(r, what, innermost(err), hint)
	return out
}

// dialError tells whether err comes from opening the connection.
func dialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect")
}

// innermost is the text of the cause that tells most: without the addresses
// that net wraps around an errno.
func innermost(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.Err
	}
	return err.Error()
}

// line joins what failed, why and what to do into one bounded line.
func line(r *secret.Redactor, what, why, hint string) string {
	s := what
	if why != "" {
		s += ": " + why
	}
	if hint != "" {
		s += ": " + hint
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(r.String(s), "\uFFFD")), " ")
	if len(s) <= maxMsg {
		return s
	}
	cut := maxMsg - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// clean returns err, or, if its text holds a secret (a server's malformed
// answer is repeated in such texts), a new error without it.
func clean(err error, r *secret.Redactor) error {
	if text := err.Error(); r.String(text) != text {
		return errors.New(r.String(text))
	}
	return err
}
