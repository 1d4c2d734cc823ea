package plugin

import (
	"context"
	"errors"

	extism "github.com/extism/go-sdk"
	"github.com/tetratelabs/wazero/api"

	"github.com/zchost/zchost/abi"
)

// hostFunc is one function of zchost:host/v1, in the form that each way to pass
// documents has for it; nil if it has none. With stdio a document is a part of
// the guest's own memory, with extism a block of Extism's.
type hostFunc struct {
	name   string
	stdio  *stdioFunc
	extism *extismFunc
}

type stdioFunc struct {
	sig  signature
	call func(ctx context.Context, memory api.Memory, stack []uint64)
}

type extismFunc struct {
	sig  signature
	call func(ctx context.Context, p *extism.CurrentPlugin, stack []uint64)
}

// The encodings of parameters and results.
const (
	oneI32 = "\x7f"
	oneI64 = "\x7e"
)

// sig returns the function's type for a way to pass documents.
func (f *hostFunc) sig(io abi.IO) (sig signature, ok bool) {
	switch {
	case io == abi.IOStdio && f.stdio != nil:
		return f.stdio.sig, true
	case io == abi.IOExtism && f.extism != nil:
		return f.extism.sig, true
	}
	return signature{}, false
}

// number is a function without parameters that returns an i64.
func number(name string, value func(ctx context.Context) uint64) hostFunc {
	sig := signature{results: oneI64}
	return hostFunc{
		name:   name,
		stdio:  &stdioFunc{sig, func(ctx context.Context, _ api.Memory, stack []uint64) { stack[0] = value(ctx) }},
		extism: &extismFunc{sig, func(ctx context.Context, _ *extism.CurrentPlugin, stack []uint64) { stack[0] = value(ctx) }},
	}
}

// HTTP sends a request of a plugin and waits for the response, as long as ctx
// lets it. What goes wrong is in the response's Failure.
type HTTP func(ctx context.Context, r abi.HTTPRequest) abi.HTTPResponse

// outside is what the host functions of one call work with.
type outside struct {
	http     HTTP
	requests int    // so far
	answer   []byte // of the last one, until it is fetched
}

type outsideKey struct{}

// withOutside returns the context for a call whose plugin may send requests.
func withOutside(ctx context.Context, http HTTP) context.Context {
	if http == nil {
		return ctx
	}
	return context.WithValue(ctx, outsideKey{}, &outside{http: http})
}

// httpFunctions are those of the capability http.
func httpFunctions() []hostFunc {
	return []hostFunc{
		{
			name:   abi.HostHTTP,
			stdio:  &stdioFunc{signature{oneI32 + oneI32, oneI32}, httpStdio},
			extism: &extismFunc{signature{oneI64, oneI64}, httpExtism},
		},
		{name: abi.HostHTTPResult, stdio: &stdioFunc{signature{oneI32, ""}, httpResult}},
	}
}

// errAddress is the cause of a failure for an address that the guest made up.
var errAddress = errors.New("it gave a host function memory that it does not have")

// httpStdio is http(request, size) -> size of the response.
func httpStdio(ctx context.Context, memory api.Memory, stack []uint64) {
	if memory == nil {
		panic(fail(ReasonTrap, errAddress))
	}
	request, ok := memory.Read(api.DecodeU32(stack[0]), api.DecodeU32(stack[1]))
	if !ok {
		panic(fail(ReasonTrap, errAddress))
	}
	out := outsideOf(ctx)
	out.answer = out.send(ctx, request)
	stack[0] = api.EncodeU32(uint32(len(out.answer))) //nolint:gosec // at most some 50 MiB
}

// httpResult is http_result(to).
func httpResult(ctx context.Context, memory api.Memory, stack []uint64) {
	out := outsideOf(ctx)
	if memory == nil || !memory.Write(api.DecodeU32(stack[0]), out.answer) {
		panic(fail(ReasonTrap, errAddress))
	}
	out.answer = nil
}

// httpExtism is http(block) -> block.
func httpExtism(ctx context.Context, p *extism.CurrentPlugin, stack []uint64) {
	request, err := p.ReadBytes(stack[0])
	if err != nil {
		panic(fail(ReasonTrap, errAddress))
	}
	block, err := p.WriteBytes(outsideOf(ctx).send(ctx, request))
	if err != nil {
		panic(fail(ReasonMemory, errNoMemory))
	}
	stack[0] = block
}

func outsideOf(ctx context.Context) *outside {
	out, ok := ctx.Value(outsideKey{}).(*outside)
	if !ok { // it is called while the instance starts
		panic(fail(ReasonError, errors.New("it calls http outside of a call")))
	}
	return out
}

// send sends a request and returns the response as a document.
func (o *outside) send(ctx context.Context, request []byte) []byte {
	var r abi.HTTPRequest
	refuse := func(why string) []byte {
		resp := abi.HTTPResponse{Failure: &abi.Failure{Class: abi.FailurePlugin, Message: why}}
		return resp.AppendJSON(nil)
	}
	if err := r.DecodeJSON(request); err != nil {
		return refuse(err.Error())
	}
	switch o.requests++; {
	case r.Script != nil:
		return refuse("a script is not sent")
	case o.requests > abi.MaxCallRequests:
		return refuse("it has sent all the requests that one call may send")
	}
	resp := o.http(ctx, r)
	if ctx.Err() != nil { // a guest that is quick could still come to an end
		panic(fail(ReasonTimeout, context.DeadlineExceeded))
	}
	return resp.AppendJSON(nil)
}
