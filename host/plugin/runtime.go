package plugin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/zchost/zchost/abi"
)

// Options configure a Runtime.
type Options struct {
	// CacheDir keeps compiled modules from one start to the next; it is made
	// private to the user. Empty keeps nothing. A directory that cannot be
	// used is only a warning: modules are then compiled at each start.
	CacheDir string
	// MemoryBudget bounds the memory of all instances together, in bytes;
	// default 1 GiB.
	MemoryBudget int64
	// Interpreter runs modules without compiling them, some 75 times slower.
	// It is also what wazero does by itself where it has no compiler: see
	// Compiles.
	Interpreter bool
	// Logger takes warnings about plugins; default none.
	Logger hclog.Logger
}

// Grant is what the operator gives one plugin.
type Grant struct {
	// Capabilities are what it may have if it asks. One that asks for more is
	// not loaded.
	Capabilities Capabilities
	// Config are the plugin's settings as a JSON object, without values of
	// secrets; nil is none.
	Config []byte
	// Limits are caps on what the manifest asks for; zero fields are 256 MiB,
	// 30 s and 64 MiB.
	Limits Limits
	// HTTP sends the requests of a plugin with the capability http, by the rules
	// of the ABI. Without it no plugin has that capability.
	HTTP HTTP
	// Instances is the most calls that run at once; default twice GOMAXPROCS.
	Instances int
}

const (
	defaultBudget     = 1 << 30
	defaultTimeoutCap = 30 * time.Second

	// The janitor's clock. A spare instance costs some 4 MB, a new one 5 ms.
	tidyEvery = 15 * time.Second
	spareAge  = time.Minute
	lastAge   = 10 * time.Minute
	// settleTime is how long after the last load the memory that compiling has
	// used goes back to the system.
	settleTime = time.Second
)

// Runtime loads plugins. All that it starts ends with Close.
type Runtime struct {
	cache     *compileCache
	budget    *budget
	interp    bool
	log       hclog.Logger
	wasi      map[string]signature
	compiling chan struct{} // so many modules at once
	loaded    chan struct{} // tells the janitor of a load

	mu      sync.Mutex
	closed  bool
	plugins map[*Plugin]struct{} // not yet freed

	stop    context.CancelFunc
	janitor sync.WaitGroup
	freed   chan struct{} // one for each plugin freed, if somebody waits
}

// Compiles reports whether wazero has a compiler for this machine.
func Compiles() bool { return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" }

// NewRuntime returns a Runtime without plugins.
func NewRuntime(ctx context.Context, o Options) (*Runtime, error) {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.MemoryBudget == 0 {
		o.MemoryBudget = defaultBudget
	}
	wasi, err := wasiFunctions(ctx)
	if err != nil {
		return nil, err
	}
	cache, err := openCache(o.CacheDir)
	if err != nil {
		o.Logger.Warn("plugins are compiled at each start", "error", err)
		cache = &compileCache{}
	}
	r := &Runtime{
		cache: cache, interp: o.Interpreter, log: o.Logger, wasi: wasi,
		compiling: make(chan struct{}, max(2, runtime.GOMAXPROCS(0))),
		loaded:    make(chan struct{}, 1),
		freed:     make(chan struct{}, 1),
		plugins:   map[*Plugin]struct{}{},
	}
	r.budget = &budget{limit: o.MemoryBudget, evict: r.evict}
	var run context.Context
	run, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.janitor.Go(func() { r.tidy(run) })
	return r, nil
}

// Load makes a plugin ready for calls. Its own mistakes, all of them, are in a
// *LoadError. Nothing of it runs before the first call, which starts its first
// instance.
func (r *Runtime) Load(ctx context.Context, s Source, g Grant) (*Plugin, error) {
	p, mod, err := r.plan(s, g)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(s.Module)
	p.fingerprint, err = fingerprint(digest, p.manifest, p.config, p.grants, p.limits)
	if err != nil {
		return nil, err
	}
	b := blueprint{
		binary: mod.slim(), start: int64(mod.minPages) * pageSize, //nolint:gosec // checked against the limit
		limits: p.limits, grants: p.grants, budget: r.budget, interp: r.interp,
	}
	if len(p.manifest.Capabilities.HTTP) > 0 {
		b.http = g.HTTP
	}
	p.engine, err = r.compile(ctx, p, b, digest)
	if err != nil {
		return nil, err
	}
	if _, set := os.LookupEnv("EXTISM_ENABLE_WASI_OUTPUT"); set && p.manifest.IO == abi.IOExtism {
		r.log.Warn("EXTISM_ENABLE_WASI_OUTPUT lets Extism print what the plugin prints", "plugin", p.manifest.Name)
	}
	instances := g.Instances
	if instances <= 0 {
		instances = 2 * runtime.GOMAXPROCS(0)
	}
	p.pool = newPool(instances, p.startInstance)
	p.references.Store(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, errors.Join(errors.New("load plugin: the runtime is closed"), p.engine.close(ctx))
	}
	r.plugins[p] = struct{}{}
	select {
	case r.loaded <- struct{}{}:
	default:
	}
	return p, nil
}

// plan checks all that can be checked without compiling.
func (r *Runtime) plan(s Source, g Grant) (*Plugin, *module, error) {
	p := &Plugin{runtime: r, log: r.log}
	manifest, problems := parseManifest(s.Manifest)
	name := manifest.Name
	if name == "" {
		name = s.Origin
	}
	mod, err := inspect(s.Module)
	if err != nil {
		problems = append(problems, "plugin.wasm: "+err.Error())
	}
	if !manifest.usable() {
		return nil, nil, &LoadError{Plugin: name, Problems: problems}
	}
	var more []string
	p.manifest = manifest
	p.limits, more = effectiveLimits(manifest.Limits, g.Limits)
	problems = append(problems, more...)
	p.grants, more = granted(manifest.Kind, manifest.Capabilities, g.Capabilities)
	problems = append(problems, more...)
	if g.HTTP == nil && len(manifest.Capabilities.HTTP) > 0 && len(more) == 0 {
		problems = append(problems, "capability http: there is nothing to send requests with")
	}
	if p.config, err = effectiveConfig(manifest, g.Config); err != nil {
		problems = append(problems, printable(err.Error()))
	}
	if mod != nil {
		problems = append(problems, checkExports(mod, manifest)...)
		problems = append(problems, checkImports(mod, manifest.IO, imports(manifest, p.grants, r.wasi))...)
		problems = append(problems, checkMemory(mod, p.limits)...)
	}
	if len(problems) > 0 {
		return nil, nil, &LoadError{Plugin: name, Problems: problems}
	}
	p.exports = mod.callables()
	return p, mod, nil
}

// usable reports whether enough of a faulty manifest is known to look for more
// faults.
func (m Manifest) usable() bool {
	return m.Kind != "" && m.IO != "" && (m.Kind != abi.KindProvider || m.Provider != nil) && (m.Kind != abi.KindChannel || m.Channel != nil)
}

// compile compiles the module or takes it from the cache.
func (r *Runtime) compile(ctx context.Context, p *Plugin, b blueprint, digest [32]byte) (engine, error) {
	select {
	case r.compiling <- struct{}{}:
		defer func() { <-r.compiling }()
	case <-ctx.Done():
		return nil, fmt.Errorf("load plugin %s: %w", p.manifest.Name, context.Cause(ctx))
	}
	ctx = experimental.WithCompilationWorkers(ctx, min(runtime.GOMAXPROCS(0), 4))
	e, err := r.compileCached(ctx, p, b, digest)
	if errors.Is(err, errCache) || onDisk(err) {
		r.log.Warn("compiled plugin is not kept", "plugin", p.manifest.Name, "error", err)
		e, err = b.with(wazero.NewCompilationCache()).build(ctx, p.manifest.IO)
	}
	switch {
	case err == nil:
		return e, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("load plugin %s: %w", p.manifest.Name, context.Cause(ctx))
	}
	return nil, &LoadError{Plugin: p.manifest.Name, Problems: []string{"plugin.wasm: " + printable(err.Error())}}
}

func (r *Runtime) compileCached(ctx context.Context, p *Plugin, b blueprint, digest [32]byte) (engine, error) {
	cache, done, err := r.cache.open(ctx, digest)
	if err != nil {
		return nil, err
	}
	e, err := b.with(cache).build(ctx, p.manifest.IO)
	if kept := done(err == nil); kept != nil {
		r.log.Warn("compiled plugin is not kept", "plugin", p.manifest.Name, "error", kept)
	}
	return e, err
}

// onDisk reports whether a file, and not the module, is the cause of err.
func onDisk(err error) bool {
	var path *fs.PathError
	var link *os.LinkError // of a rename
	return errors.As(err, &path) || errors.As(err, &link)
}

// with returns the blueprint with that cache, which the engine closes.
func (b blueprint) with(cache wazero.CompilationCache) blueprint {
	b.cache = cache
	return b
}

// build makes the engine for that way to pass documents.
func (b blueprint) build(ctx context.Context, io abi.IO) (e engine, err error) {
	err = guard(func() (err error) {
		if io == abi.IOStdio {
			e, err = newStdioEngine(ctx, b)
		} else {
			e, err = newExtismEngine(ctx, b)
		}
		return err
	})
	return e, err
}

// closeCache frees the compiled code.
func (b *blueprint) closeCache(ctx context.Context) error { return b.cache.Close(ctx) }

// Plugins returns the plugins that are not yet freed, old generations among
// them, in no order.
func (r *Runtime) Plugins() []*Plugin {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.plugins))
}

// Memory returns how many bytes the instances use now.
func (r *Runtime) Memory() int64 { return r.budget.used.Load() }

// Close unloads all plugins and waits for the calls in flight, which have their
// deadlines, and for references that others hold. When ctx ends first it says
// which plugins are still in use.
func (r *Runtime) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	for _, p := range r.Plugins() {
		p.Close()
	}
	r.stop()
	r.janitor.Wait()
	for {
		left := r.Plugins()
		if len(left) == 0 {
			return nil
		}
		select {
		case <-r.freed:
		case <-ctx.Done():
			var names []string
			for _, p := range left {
				names = append(names, p.fingerprint.String())
			}
			slices.Sort(names)
			return fmt.Errorf("close plugins: %v still in use: %w", names, context.Cause(ctx))
		}
	}
}

// forget is called when a plugin was freed.
func (r *Runtime) forget(p *Plugin) {
	r.mu.Lock()
	delete(r.plugins, p)
	r.mu.Unlock()
	select {
	case r.freed <- struct{}{}:
	default:
	}
}

// evict closes every idle instance, to make room for one that is needed.
func (r *Runtime) evict() {
	now := time.Now().Add(time.Hour)
	for _, p := range r.Plugins() {
		p.pool.drop(context.Background(), now, now)
	}
}

// tidy closes instances that have long been idle. A while after plugins were
// loaded it also returns to the system what compiling them has used, some 50 MB,
// which the Go runtime by itself keeps for minutes.
func (r *Runtime) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	settled := time.NewTimer(settleTime)
	settled.Stop() // nothing was loaded yet
	defer settled.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.loaded:
			settled.Reset(settleTime)
		case <-settled.C:
			debug.FreeOSMemory()
		case now := <-tick.C:
			for _, p := range r.Plugins() {
				p.pool.drop(ctx, now.Add(-spareAge), now.Add(-lastAge))
			}
		}
	}
}

// callables returns the exports that can be called.
func (m *module) callables() map[string]bool {
	names := map[string]bool{}
	for name, sig := range m.exports {
		if callable(sig) {
			names[name] = true
		}
	}
	return names
}
