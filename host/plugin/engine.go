package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// engine is one compiled module. There is one for each way to pass documents.
type engine interface {
	// start makes a fresh instance.
	start(ctx context.Context) (instance, error)
	// close frees the module. No instance may be open.
	close(ctx context.Context) error
}

// instance is one running copy of the module, used by one call at a time.
type instance interface {
	// call runs an export. The result is the caller's own. The error is a
	// *failure, after which the instance is not used again.
	call(ctx context.Context, export string, in []byte) ([]byte, error)
	// close frees it; nothing of the guest may be running.
	close(ctx context.Context)
}

// blueprint is what an engine is made from.
type blueprint struct {
	binary []byte // slimmed
	start  int64  // bytes of memory that an instance needs to start
	limits Limits
	grants []grant
	http   HTTP // nil without the capability
	budget *budget
	cache  wazero.CompilationCache
	interp bool
}

// runtimeConfig is the configuration of wazero for every plugin.
//
// Interruption is always on: without it a busy guest cannot be stopped, and
// holds up the garbage collector of the host. The limit on memory is not set
// here but kept by memories, which see when it is reached.
func (b *blueprint) runtimeConfig() wazero.RuntimeConfig {
	config := wazero.NewRuntimeConfig()
	if b.interp {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	return config.WithCompilationCache(b.cache).WithCloseOnContextDone(true).WithDebugInfoEnabled(false)
}

// moduleConfig is the world that an instance sees: no files, no environment, no
// arguments, no sleep, and what its grants open.
func (b *blueprint) moduleConfig(w *world) wazero.ModuleConfig {
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").
		WithWalltime(stillWalltime, 1).WithNanotime(w.nanotime, 1).
		WithRandSource(&w.random).WithStderr(&w.stderr)
	for _, g := range b.grants {
		if g.wasi != nil {
			config = g.wasi(config)
		}
	}
	return config
}

// functions returns the host functions that the grants link.
func (b *blueprint) functions() []hostFunc {
	var all []hostFunc
	for _, g := range b.grants {
		all = append(all, g.functions...)
	}
	return all
}

// startMemory reserves memory for an instance and returns the context to start
// it with.
func (b *blueprint) startMemory(ctx context.Context) (context.Context, *memories, error) {
	m, err := openMemories(b.budget, uint64(b.limits.Memory)<<20, b.start) //nolint:gosec // at most 2 GiB
	if err != nil {
		return nil, nil, err
	}
	return experimental.WithMemoryAllocator(ctx, m), m, nil
}

// wasiFunctions returns the signatures of what wazero offers as WASI.
func wasiFunctions(ctx context.Context) (map[string]signature, error) {
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	compiled, err := wasi_snapshot_preview1.NewBuilder(r).Compile(ctx)
	if err != nil {
		return nil, fmt.Errorf("list WASI functions: %w", err)
	}
	all := map[string]signature{}
	for name, f := range compiled.ExportedFunctions() {
		all[name] = signature{string(f.ParamTypes()), string(f.ResultTypes())}
	}
	if err := r.Close(ctx); err != nil {
		return nil, fmt.Errorf("list WASI functions: %w", err)
	}
	return all, nil
}

// judge turns the error of a guest into a failure. What explains more comes
// first: a guest without memory may well die in another way.
func judge(ctx context.Context, err error, m *memories, stderr *head) error {
	var exit *sys.ExitError
	exited := errors.As(err, &exit)
	var own *failure // of a host function
	said := panicText(stderr.String())
	code := uint32(0)
	if exited {
		code = exit.ExitCode()
	}
	switch {
	case code == sys.ExitCodeContextCanceled, errors.Is(ctx.Err(), context.Canceled):
		return fail(ReasonCanceled, context.Cause(ctx))
	case errors.As(err, &own):
		return own
	case errors.Is(err, errOutput):
		return fail(ReasonOutput, errOutput)
	case m.refused.Load():
		return fail(ReasonMemory, fmt.Errorf("%w%s", errNoMemory, after(said)))
	case code == sys.ExitCodeDeadlineExceeded, ctx.Err() != nil: // Extism hides the former in a text
		return fail(ReasonTimeout, context.DeadlineExceeded)
	case said != "":
		return fail(ReasonPanic, errors.New(said))
	case exited:
		return fail(ReasonExit, fmt.Errorf("it exited with code %d", code))
	}
	text, _, _ := strings.Cut(err.Error(), "\n") // the rest is a stack of numbers
	return fail(ReasonTrap, errors.New(printable(text)))
}

func after(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// panicText finds what a dying Go, Rust or C guest has printed.
func panicText(stderr string) string {
	for line := range strings.Lines(stderr) {
		for _, mark := range []string{"panic: ", "fatal error: ", "panicked at ", "Assertion failed: "} {
			if strings.Contains(line, mark) {
				return printable(line)
			}
		}
	}
	return ""
}
