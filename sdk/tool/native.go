//go:build !wasip1

package tool

import (
	"context"

	"github.com/zchost/zchost/abi"
)

// Register makes p the plugin of this module. It is called once, in an init
// function. Outside of WebAssembly it does nothing: see Native.
func Register(p Plugin) { _ = p }

// outside stands in for the host.
type outside struct {
	http func(abi.HTTPRequest) abi.HTTPResponse
}

func (o outside) send(r *abi.HTTPRequest) (abi.HTTPResponse, error) {
	if o.http == nil {
		return abi.HTTPResponse{}, &HTTPError{abi.Failure{Class: abi.FailurePlugin, Message: "this plugin was started without http"}}
	}
	return o.http(*r), nil
}

// Module is a plugin that is called through its exports without being compiled
// to WebAssembly. It runs the same code as the module: decoding, dispatch,
// encoding.
type Module struct {
	plugin  Plugin
	outside outside
}

// Native returns p as a plugin that can be called. Its requests are answered by
// http, which may be nil for a plugin that sends none.
func Native(p Plugin, http func(abi.HTTPRequest) abi.HTTPResponse) *Module {
	return &Module{p, outside{http}}
}

// Call runs an export as the host does. Calls do not share memory, so they may
// run side by side.
func (m *Module) Call(ctx context.Context, export string, in []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d := dispatcher{plugin: m.plugin, outside: m.outside}
	out, err := d.call(export, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}
