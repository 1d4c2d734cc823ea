// Package provider turns a request to a model into bytes and an answer's bytes
// into events, with a provider plugin for the protocol and host/egress for the
// network.
//
// An Endpoint is one [providers.NAME] of the config: a plugin, an address, and
// limits. For each request the plugin renders the messages that were not
// rendered before (chat_messages), builds the request around them
// (chat_request), and decodes what comes back (chat_events, chat_response,
// chat_error). The contents of a long history never pass through the sandbox
// twice: their fragments are kept.
package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/secret"
)

// SecretName is the name by which a plugin asks for the endpoint's key:
// {{secret:api_key}}.
const SecretName = "api_key"

// maxDocument bounds the body of a response that is read whole, in bytes; it
// has to pass through the sandbox.
const maxDocument = 8 << 20

// Plugin is what an endpoint needs of a loaded plugin.
type Plugin interface {
	Call(ctx context.Context, export string, in []byte) ([]byte, error)
	// Reject counts an output that cannot be used as a failure of the plugin,
	// and returns it as an error that names the plugin.
	Reject(ctx context.Context, export string, cause error) error
}

// Config says what an endpoint is made of.
type Config struct {
	// Name is the provider's name in the config.
	Name string
	// Plugin decodes and encodes; Fingerprint names it.
	Plugin      Plugin
	Fingerprint string
	// BaseURL is where requests go, without a slash at the end.
	BaseURL string
	// Options is the endpoint's options table, a JSON object, or nil.
	Options []byte
	Framing abi.Framing
	Clocks  egress.Clocks
	// EndCompletes says that the protocol has no completion signal but the
	// clean end of the body after a finish reason (STR-1).
	EndCompletes bool
	// WantsMessages gives the plugin the contents of the last MessagesLimit
	// messages, all if that is 0.
	WantsMessages bool
	MessagesLimit int
	// Blob reads the contents of an image or file that a message names.
	Blob func(ctx context.Context, id string) ([]byte, error)
	// Fragments is the cache that all endpoints share.
	Fragments *Fragments
	Client    *egress.Client
	// Redactor takes secrets out of decoded events, too: a server may spell
	// them so that only decoding brings them out.
	Redactor *secret.Redactor
}

// Endpoint implements reliability.Upstream. It is safe for concurrent use.
type Endpoint struct{ Config }

// New returns an endpoint.
func New(c Config) *Endpoint { return &Endpoint{c} }

// Fingerprint names the plugin's code and settings.
func (e *Endpoint) Fingerprint() string { return e.Config.Fingerprint }

// Open sends the request and returns the answer as it arrives.
func (e *Endpoint) Open(ctx context.Context, r reliability.Request) (reliability.Stream, error) {
	resp, err := e.send(ctx, r)
	if err != nil {
		return nil, failure(ctx, err)
	}
	s, err := e.read(ctx, r, resp)
	if err != nil {
		_ = resp.Close() // the failure that led here is what counts
		return nil, failure(ctx, err)
	}
	return s, nil
}

// send builds the request and sends it, or plays the script that the plugin
// gives in its place.
func (e *Endpoint) send(ctx context.Context, r reliability.Request) (*egress.Response, error) {
	req, err := e.build(ctx, r)
	if err != nil {
		return nil, err
	}
	if req.script != nil {
		return egress.Play(ctx, req.script, e.clocks(r.Stream))
	}
	if r.Key.Empty() {
		req.http.Headers = withoutKey(req.http.Headers)
	}
	return e.Client.Send(ctx, egress.Endpoint{
		BaseURL: e.BaseURL, Clocks: e.clocks(r.Stream),
		Secrets: map[string]secret.Value{SecretName: r.Key},
	}, req.http)
}

// clocks are the endpoint's. The head of an answer in one piece comes only when
// the model is done, so it may take as long as a stream may be silent.
func (e *Endpoint) clocks(stream bool) egress.Clocks {
	c := e.Clocks
	if !stream {
		c.Header = max(c.Header, c.Idle)
	}
	return c
}

// withoutKey leaves out the headers that would hold the key, for an endpoint
// that has none: a local server wants no Authorization at all.
func withoutKey(headers []abi.Header) []abi.Header {
	return slices.DeleteFunc(headers, func(h abi.Header) bool {
		return strings.Contains(h.Value, "{{secret:"+SecretName+"}}")
	})
}

// read looks at the head of the response and decides how its body is read.
func (e *Endpoint) read(ctx context.Context, r reliability.Request, resp *egress.Response) (reliability.Stream, error) {
	s := &stream{endpoint: e, ctx: ctx, resp: resp}
	switch {
	case resp.Status < 200 || resp.Status > 299:
		return nil, s.rejected()
	case r.Stream:
		s.frames = resp.Frames(e.Framing)
		return s, nil
	}
	return s, s.whole()
}

// requestID is the id that the vendor's support asks for.
func requestID(resp *egress.Response) string {
	for _, name := range []string{"x-request-id", "request-id", "x-amzn-requestid", "cf-ray"} {
		if v := resp.Header(name); v != "" {
			return v
		}
	}
	return ""
}

// failure returns err as a *abi.Failure, unless the context was cancelled.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var f *abi.Failure
	if errors.As(err, &f) {
		return f
	}
	var out *egress.Error
	if errors.As(err, &out) {
		if out.Clock == egress.ClockFinish {
			return reliability.ErrSilence
		}
		return &abi.Failure{Class: out.Class, Message: out.Error()}
	}
	return &abi.Failure{Class: abi.FailurePlugin, Message: err.Error()}
}

// retryAfter puts what the Retry-After header asks for into f (REL-6).
func retryAfter(f *abi.Failure, headers []abi.Header) {
	if d, ok := egress.RetryAfter(headers, time.Now()); ok {
		f.RetryAfterMS = max(f.RetryAfterMS, d.Milliseconds())
	}
}

// statusClass is what a status means when the plugin cannot say.
func statusClass(status int) abi.FailureClass {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return abi.FailureAuth
	case status == http.StatusTooManyRequests:
		return abi.FailureRateLimited
	case status >= 500:
		return abi.FailureServer
	case status >= 400:
		return abi.FailureInvalidRequest
	}
	return abi.FailureUnknown
}

// junk is an output of the plugin that cannot be used.
func (e *Endpoint) junk(ctx context.Context, export, format string, args ...any) error {
	return e.Plugin.Reject(ctx, export, fmt.Errorf(format, args...))
}
