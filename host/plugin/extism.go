package plugin

import (
	"context"
	"errors"
	"fmt"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero/experimental"
)

// Extism's kernel, a second module in each instance, holds input and output.
const (
	kernelStart = 1 << 20 // bytes of memory with which it starts, at most
	maxVars     = 1 << 20 // bytes of variables within one call
)

// extismEngine passes documents as Extism's input and output.
type extismEngine struct {
	blueprint blueprint
	compiled  *extism.CompiledPlugin
}

func newExtismEngine(ctx context.Context, b blueprint) (engine, error) {
	b.start += kernelStart
	e := &extismEngine{blueprint: b}
	manifest := extism.Manifest{
		Wasm: []extism.Wasm{extism.WasmData{Data: b.binary}},
		// A literal leaves at 0, and so switches off, what it does not name.
		Memory: &extism.ManifestMemory{
			MaxPages:             1 << 16, // memories keep the limit, for the kernel too
			MaxHttpResponseBytes: 0,       // there is no HTTP
			MaxVarBytes:          maxVars,
		},
		AllowedHosts: nil, // none: http_request follows redirects to anywhere
		Config:       nil, // none: and so no secret
	}
	config := extism.PluginConfig{RuntimeConfig: b.runtimeConfig(), EnableWasi: true}
	var functions []extism.HostFunction
	for _, f := range b.functions() {
		if f.extism == nil {
			continue
		}
		h := extism.NewHostFunctionWithStack(f.name, f.extism.call, []byte(f.extism.sig.params), []byte(f.extism.sig.results))
		h.SetNamespace(hostModule)
		functions = append(functions, h)
	}
	var err error
	if e.compiled, err = extism.NewCompiledPlugin(ctx, manifest, config, functions); err != nil {
		_ = b.closeCache(ctx) // the first error says more
		return nil, fmt.Errorf("compile: %w", err)
	}
	e.blueprint.binary = nil
	return e, nil
}

func (e *extismEngine) close(ctx context.Context) error {
	if err := errors.Join(e.compiled.Close(ctx), e.blueprint.closeCache(ctx)); err != nil {
		return fmt.Errorf("close module: %w", err)
	}
	return nil
}

func (e *extismEngine) start(ctx context.Context) (_ instance, err error) {
	i := &extismInstance{output: e.blueprint.limits.Output, http: e.blueprint.http}
	ctx, i.memories, err = e.blueprint.startMemory(ctx)
	if err != nil {
		return nil, err
	}
	// Extism takes an exit with code 0 for success.
	ctx = experimental.WithCloseNotifier(ctx, experimental.CloseNotifyFunc(func(context.Context, uint32) { i.closed = true }))
	config := extism.PluginInstanceConfig{ModuleConfig: e.blueprint.moduleConfig(&i.world)}
	err = guard(func() (err error) {
		i.plugin, err = e.compiled.Instance(ctx, config)
		return err
	})
	i.memories.started()
	if err != nil {
		f := asFailure(judge(ctx, err, i.memories, &i.world.stderr))
		i.close(ctx)
		return nil, fail(f.reason, fmt.Errorf("start instance: %w", f.err))
	}
	return i, nil
}

type extismInstance struct {
	plugin   *extism.Plugin
	memories *memories
	world    world
	output   int  // bytes at most
	http     HTTP // nil if it may send nothing
	closed   bool
}

func (i *extismInstance) call(ctx context.Context, export string, in []byte) ([]byte, error) {
	i.world.reset()
	i.memories.refused.Store(false)
	clear(i.plugin.Var) // a plugin is pure: nothing stays from one call to the next
	ctx = withOutside(ctx, i.http)
	var rc uint32
	var out []byte
	err := guard(func() (err error) {
		rc, out, err = i.plugin.CallWithContext(ctx, export, in)
		return err
	})
	switch {
	case i.memories.firstRefused():
		// The kernel answers with address 0, and nobody looks: the input, or
		// what the guest wrote, is not where it should be.
		return nil, fail(ReasonMemory, errNoMemory)
	case err != nil && !i.closed && i.said(err):
		return nil, fail(ReasonError, errors.New(printable(err.Error())))
	case err != nil:
		return nil, judge(ctx, err, i.memories, &i.world.stderr)
	case i.closed:
		return nil, fail(ReasonExit, errors.New("it exited with code 0"))
	case rc != 0:
		return nil, fail(ReasonError, reported(rc, out))
	case len(out) > i.output:
		return nil, fail(ReasonOutput, errOutput)
	case len(out) == 0:
		return nil, fail(ReasonJunk, errEmpty)
	}
	return out, nil
}

// said reports whether err is the message that the guest has set.
func (i *extismInstance) said(err error) bool {
	said := false
	_ = guard(func() error {
		text := i.plugin.GetError()
		said = text != "" && text == err.Error()
		return nil
	})
	return said
}

func (i *extismInstance) close(ctx context.Context) {
	if i.plugin != nil {
		_ = i.plugin.CloseWithContext(context.WithoutCancel(ctx)) // there is nothing in it that can fail to close
	}
	i.memories.close()
}
