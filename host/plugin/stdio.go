package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// errOutput is the cause of a failure for too much output.
var errOutput = errors.New("its output is over the limit")

// stdioEngine passes documents on stdin and stdout: two plain copies.
type stdioEngine struct {
	blueprint blueprint
	runtime   wazero.Runtime
	compiled  wazero.CompiledModule
}

func newStdioEngine(ctx context.Context, b blueprint) (_ engine, err error) {
	e := &stdioEngine{blueprint: b, runtime: wazero.NewRuntimeWithConfig(ctx, b.runtimeConfig())}
	defer func() {
		if err != nil {
			_ = e.close(ctx) // the first error says more
		}
	}()
	if _, err = wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return nil, fmt.Errorf("link WASI: %w", err)
	}
	if err = e.link(ctx); err != nil {
		return nil, err
	}
	if e.compiled, err = e.runtime.CompileModule(ctx, b.binary); err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	e.blueprint.binary = nil // wazero has its own copy
	return e, nil
}

// link makes zchost:host/v1 of the functions that were granted.
func (e *stdioEngine) link(ctx context.Context) error {
	functions := e.blueprint.functions()
	if len(functions) == 0 {
		return nil
	}
	builder := e.runtime.NewHostModuleBuilder(hostModule)
	for _, f := range functions {
		if f.stdio == nil {
			continue
		}
		call := api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) { f.stdio.call(ctx, m.Memory(), stack) })
		builder.NewFunctionBuilder().
			WithGoModuleFunction(call, []api.ValueType(f.stdio.sig.params), []api.ValueType(f.stdio.sig.results)).
			Export(f.name)
	}
	if _, err := builder.Instantiate(ctx); err != nil {
		return fmt.Errorf("link %s: %w", hostModule, err)
	}
	return nil
}

func (e *stdioEngine) close(ctx context.Context) error {
	if err := errors.Join(e.runtime.Close(ctx), e.blueprint.closeCache(ctx)); err != nil {
		return fmt.Errorf("close module: %w", err)
	}
	return nil
}

func (e *stdioEngine) start(ctx context.Context) (_ instance, err error) {
	i := &stdioInstance{functions: map[string]api.Function{}, http: e.blueprint.http}
	i.out.most = e.blueprint.limits.Output
	ctx, i.memories, err = e.blueprint.startMemory(ctx)
	if err != nil {
		return nil, err
	}
	config := e.blueprint.moduleConfig(&i.world).WithStdin(&i.in).WithStdout(&i.out)
	err = guard(func() (err error) {
		i.module, err = e.runtime.InstantiateModule(ctx, e.compiled, config)
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

// stdioInstance has its own stdin and stdout.
type stdioInstance struct {
	module    api.Module
	memories  *memories
	functions map[string]api.Function
	world     world
	in        input
	out       output
	stack     [1]uint64
	http      HTTP // nil if it may send nothing
}

func (i *stdioInstance) call(ctx context.Context, export string, in []byte) ([]byte, error) {
	f := i.functions[export]
	if f == nil {
		if f = i.module.ExportedFunction(export); f == nil {
			return nil, fail(ReasonError, errors.New("it has no such export"))
		}
		i.functions[export] = f
	}
	i.world.reset()
	i.memories.refused.Store(false)
	i.in.rest, i.out.kept = in, i.out.kept[:0]
	i.stack[0] = 0
	ctx = withOutside(ctx, i.http)
	err := guard(func() error { return f.CallWithStack(ctx, i.stack[:]) })
	i.in.rest = nil
	switch {
	case err != nil:
		return nil, judge(ctx, err, i.memories, &i.world.stderr)
	case uint32(i.stack[0]) != 0: //nolint:gosec // an i32 lies in the lower half
		return nil, fail(ReasonError, reported(uint32(i.stack[0]), i.out.kept)) //nolint:gosec // as above
	case len(i.out.kept) == 0:
		return nil, fail(ReasonJunk, errEmpty)
	}
	return bytes.Clone(i.out.kept), nil
}

func (i *stdioInstance) close(ctx context.Context) {
	if i.module != nil {
		_ = i.module.Close(context.WithoutCancel(ctx)) // there is nothing in it that can fail to close
	}
	i.memories.close()
}

// input is an instance's stdin.
type input struct{ rest []byte }

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	if len(in.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

// output is an instance's stdout. Its buffer is used again for each call.
type output struct {
	kept []byte
	most int
}

// Write implements io.Writer. Too much output ends the call there and then: a
// guest that is only told would go on.
func (o *output) Write(p []byte) (int, error) {
	if len(p) > o.most-len(o.kept) {
		panic(errOutput)
	}
	o.kept = append(o.kept, p...)
	return len(p), nil
}
