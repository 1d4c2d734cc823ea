// Package plugin runs plugins: WebAssembly modules that take bytes and return
// bytes, and can do nothing else but what the grants table (capability.go)
// opens. It alone knows wazero and Extism.
//
// The life of a plugin:
//
//	Source ── Load: manifest, module, grants, config are checked (check.go),
//	          all problems at once; the module is compiled or comes from the
//	          cache (cache.go); its fingerprint names it from now on
//	Plugin ── Call: quarantine ─► an instance from the pool ─► the engine for
//	          its way to pass documents (stdio.go, extism.go), under a deadline
//	          and limits ─► back to the pool, or closed if anything went wrong
//	Close  ── drops the first reference; Retain and Release and each running
//	          Call hold others. The last one to go frees the module.
//
// A new generation of a plugin is a second Plugin beside the first.
package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Plugin is one generation of a plugin: a module with its grants. It is safe
// for concurrent use.
type Plugin struct {
	runtime     *Runtime
	log         hclog.Logger
	manifest    Manifest
	fingerprint Fingerprint
	config      json.RawMessage
	limits      Limits
	grants      []grant
	exports     map[string]bool
	engine      engine
	pool        *pool
	quarantine  quarantine

	references atomic.Int64 // 0: freed or being freed
	dropped    atomic.Bool  // Close was called
}

// Manifest returns the manifest.
func (p *Plugin) Manifest() Manifest { return p.manifest }

// Fingerprint returns the fingerprint.
func (p *Plugin) Fingerprint() Fingerprint { return p.fingerprint }

// Config returns the plugin's settings as a JSON object, the schema's defaults
// filled in. It must not be changed.
func (p *Plugin) Config() json.RawMessage { return p.config }

// Limits returns the limits in effect.
func (p *Plugin) Limits() Limits { return p.limits }

// Has reports whether the plugin has an export.
func (p *Plugin) Has(export string) bool { return p.exports[export] }

// Health tells how a plugin is doing.
type Health struct {
	// Quarantined is until when it gets no calls; zero if it gets them. After
	// that time one call is let through as a probe.
	Quarantined time.Time
	// Failures counts the failures in a row.
	Failures int
	// LastError is the last failure, also after it works again.
	LastError string
	// Busy and Idle count the instances.
	Busy, Idle int
}

// Health returns how the plugin is doing.
func (p *Plugin) Health() Health {
	var h Health
	h.Quarantined, h.Failures, h.LastError = p.quarantine.state()
	h.Busy, h.Idle = p.pool.counts()
	return h
}

// Call gives an export its input and returns its output, which is the caller's
// own. Any error is a *CallError. The call ends at the plugin's deadline or with
// ctx, whichever comes first; it may wait for an instance until ctx ends.
func (p *Plugin) Call(ctx context.Context, export string, in []byte) ([]byte, error) {
	if p.Retain() == nil {
		return nil, p.callError(export, &failure{ReasonClosed, errors.New("the plugin was unloaded")})
	}
	defer p.Release()
	if !p.exports[export] {
		return nil, p.callError(export, &failure{ReasonError, errors.New("it has no such export")})
	}
	pass, until, ok := p.quarantine.admit(time.Now())
	if !ok {
		err := p.callError(export, &failure{ReasonQuarantined, fmt.Errorf("it failed again and again and rests until %s", until.UTC().Format(time.RFC3339))})
		err.Until = until
		return nil, err
	}
	out, err := p.run(ctx, export, in)
	if err != nil {
		return nil, p.failed(ctx, pass, export, asFailure(err))
	}
	p.quarantine.settle(time.Now(), pass, verdictGood, "")
	return out, nil
}

// run makes the call on an instance of the pool.
func (p *Plugin) run(ctx context.Context, export string, in []byte) (out []byte, err error) {
	if uint64(len(in)) > uint64(p.limits.Memory)<<20 { //nolint:gosec // both are positive
		return nil, fail(ReasonMemory, errors.New("the input is larger than its memory"))
	}
	i, err := p.pool.take(ctx)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, p.limits.CallTimeout)
	defer cancel()
	out, err = i.call(limited, export, in)
	// An instance whose deadline came just as it returned may still be closed
	// by it.
	p.pool.put(ctx, i, err == nil && limited.Err() == nil)
	return out, err
}

// startInstance starts an instance, which has as long as a call.
func (p *Plugin) startInstance(ctx context.Context) (instance, error) {
	ctx, cancel := context.WithTimeout(ctx, p.limits.CallTimeout)
	defer cancel()
	return p.engine.start(ctx)
}

// Reject is for a caller that cannot use an output: it counts as a failure of
// the plugin, and the error that it returns says so.
func (p *Plugin) Reject(ctx context.Context, export string, cause error) error {
	return p.failed(ctx, ticket{}, export, &failure{ReasonJunk, cause})
}

// failed notes and logs a failure.
func (p *Plugin) failed(ctx context.Context, pass ticket, export string, f *failure) error {
	err := p.callError(export, f)
	if ctx.Err() != nil {
		// The caller gave it less time than it is entitled to.
		p.quarantine.settle(time.Now(), pass, verdictNone, "")
		return err
	}
	p.log.Warn("plugin call failed", "plugin", p.fingerprint.String(), "export", export, "reason", string(f.reason), "error", f.err)
	if until := p.quarantine.settle(time.Now(), pass, verdictFailed, err.Error()); !until.IsZero() {
		p.log.Warn("plugin is quarantined", "plugin", p.fingerprint.String(), "until", until.UTC().Format(time.RFC3339))
	}
	return err
}

func (p *Plugin) callError(export string, f *failure) *CallError {
	return &CallError{Plugin: p.manifest.Name, Fingerprint: p.fingerprint.String(), Export: export, Reason: f.reason, Err: f.err}
}

// Retain takes a reference and returns p, or nil if the last one is gone.
func (p *Plugin) Retain() *Plugin {
	for {
		n := p.references.Load()
		if n == 0 {
			return nil
		}
		if p.references.CompareAndSwap(n, n+1) {
			return p
		}
	}
}

// Release gives a reference back. Whoever gives back the last one frees the
// module.
func (p *Plugin) Release() {
	switch n := p.references.Add(-1); {
	case n < 0:
		panic("plugin: Release without Retain")
	case n == 0:
		p.free()
	}
}

// Close gives back the reference that Load made; the second time it does
// nothing. Calls in flight go on, and others that hold a reference can make
// further ones.
func (p *Plugin) Close() {
	if p.dropped.CompareAndSwap(false, true) {
		p.Release()
	}
}

func (p *Plugin) free() {
	ctx := context.Background() // nobody is left to cancel it, and it does not wait
	p.pool.close(ctx)
	if err := p.engine.close(ctx); err != nil {
		p.log.Warn("plugin was not freed", "plugin", p.fingerprint.String(), "error", err)
	}
	p.runtime.forget(p)
}
