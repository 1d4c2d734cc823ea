// Package tool is what the author of a tool plugin imports. A plugin is a type
// with the two methods of Plugin and one call of Register:
//
//	package main
//
//	import "github.com/zchost/zchost/sdk/tool"
//
//	type plugin struct{}
//
//	func init() { tool.Register(plugin{}) }
//
//	func main() {}
//
// It is built by the standard toolchain:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags="-s -w -buildid=" -o plugin.wasm
//
// and its plugin.toml says kind = "tool" and io = "stdio".
//
// A plugin computes. It has no files, no environment and no secrets, and a clock,
// random numbers and requests to named hosts only with the capability for each;
// Call.HTTP sends requests. It keeps nothing between calls, because any instance
// may get any call.
//
// An ordinary go test calls the methods directly. Package tooltest checks what
// the host relies on, natively through Native and on the compiled module.
package tool

import "github.com/zchost/zchost/abi"

// Plugin is a plugin that offers tools. An error from a method is a failure of
// the plugin itself, a bug. What the model can do something about is a result:
// see Failed.
type Plugin interface {
	// Tools lists the tools, always the same for the same options. The options
	// are the plugin's settings from the host's config, a JSON object.
	Tools(options abi.Raw) ([]abi.ToolSpec, error)
	// Call runs the tool c.Name. The arguments are valid by its schema.
	Call(c *Call) (abi.ToolResult, error)
}

// Call is one call of a tool.
type Call struct {
	abi.ToolCall
	outside
}

// Text is a result.
func Text(content string) abi.ToolResult { return abi.ToolResult{Content: content} }

// Failed is a result that says why the tool could not do what it was asked, and
// best what to do instead.
func Failed(why string) abi.ToolResult { return abi.ToolResult{Content: why, IsError: true} }

// HTTPError says why there is no response to a request.
type HTTPError struct {
	// Failure is what the host says: its class is plugin if the request is not
	// allowed, or network, timeout, server and so on.
	Failure abi.Failure
}

// Error returns the message.
func (e *HTTPError) Error() string { return e.Failure.Message }

// HTTP sends a request and waits for the response, whatever its status. The
// plugin's capability http names the hosts that it may go to. An empty method is
// POST. A secret that was granted is named by {{secret:NAME}} in a header value,
// a query value or a path segment. The error is an *HTTPError.
func (c *Call) HTTP(r abi.HTTPRequest) (abi.HTTPResponse, error) {
	resp, err := c.send(&r)
	if err == nil && resp.Failure != nil {
		err = &HTTPError{*resp.Failure}
	}
	return resp, err
}
