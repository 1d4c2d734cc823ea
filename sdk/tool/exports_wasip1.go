package tool

import (
	"runtime"
	"unsafe"

	"github.com/zchost/zchost/abi"
	stdio "github.com/zchost/zchost/sdk/internal/guest"
)

// guest is the plugin of this module: exports have no parameters, so what they
// work on has to be found here. A module runs one call at a time.
var guest struct {
	dispatcher
	stdio.Stdio
}

// Register makes p the plugin of this module. It is called once, in an init
// function.
func Register(p Plugin) {
	if guest.plugin != nil {
		panic("tool: Register was called twice")
	}
	guest.plugin = p
}

//go:wasmexport tools
func tools() int32 { return serve(abi.ExportTools) }

//go:wasmexport call
func call() int32 { return serve(abi.ExportCall) }

// serve runs one export.
func serve(export string) int32 {
	if guest.plugin == nil {
		return stdio.Refuse("no plugin was registered")
	}
	return guest.Serve(func(in []byte) ([]byte, error) { return guest.call(export, in) })
}

// outside is the host, which is found by its imports.
type outside struct{}

// The functions of the host: abi.HostHTTP and abi.HostHTTPResult. The linker
// keeps them only for a plugin that calls Call.HTTP, so that others need no
// capability.
//
//go:wasmimport zchost:host/v1 http
func hostHTTP(request unsafe.Pointer, size uint32) uint32

//go:wasmimport zchost:host/v1 http_result
func hostHTTPResult(to unsafe.Pointer)

func (outside) send(r *abi.HTTPRequest) (abi.HTTPResponse, error) {
	request := r.AppendJSON(nil)
	size := hostHTTP(address(request), uint32(len(request))) //nolint:gosec // G115: no memory here is larger
	runtime.KeepAlive(request)
	out := make([]byte, size)
	hostHTTPResult(address(out))
	var resp abi.HTTPResponse
	err := resp.DecodeJSON(out)
	return resp, err
}

// address is where b lies in this module's memory.
func address(b []byte) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b)) //nolint:gosec // G103: the host copies to and from there, and checks the bounds
}
