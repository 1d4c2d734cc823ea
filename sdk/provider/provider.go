// Package provider is what the author of a provider plugin imports. A plugin is
// a type with the five methods of Provider and one call of Register:
//
//	package main
//
//	import "github.com/zchost/zchost/sdk/provider"
//
//	type plugin struct{}
//
//	func init() { provider.Register(plugin{}) }
//
//	func main() {}
//
// The example of this package is a whole plugin for a small protocol. It is
// built by the standard toolchain:
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags="-s -w -buildid=" -o plugin.wasm
//
// and its plugin.toml says kind = "provider" and io = "stdio".
//
// A plugin computes and does nothing else: it says which request to send and what
// the answer means, and the host sends, waits, retries and stores. It has no
// network, no files, no clock, no randomness and no secrets, so the same input
// always gives the same output. It keeps nothing between calls, because any
// instance may get any call; what has to be remembered within one streamed answer
// goes into Decoder.State.
//
// An ordinary go test calls the methods directly. Package providertest checks
// what the host relies on, natively through Native and on the compiled module.
//
// Keep a plugin lean: encoding/json, fmt, net/http, regexp and text/template make
// it several times as large and slow. Package jsonscan reads and writes JSON
// without them.
package provider

import "github.com/zchost/zchost/abi"

// Provider is a plugin for a kind of model provider. An error from a method is
// a failure of the plugin itself, a bug: the call is not repeated. What the
// provider reports is no error but an abi.Failure.
type Provider interface {
	// Messages renders each message as the text of its wire JSON, by itself:
	// one JSON value, or several with commas between them. What it returns
	// for a message is used again whenever that message is sent.
	Messages(in abi.ChatMessages) ([]string, error)
	// Request says which request asks for the answer. Its body holds
	// "{{messages}}", with the quotes, in place of the messages.
	Request(r abi.ChatRequest) (abi.HTTPRequest, error)
	// Frame reads the next frame of a streamed answer and gives its events to
	// d. The frame is never blank, and valid only during the call. Name is the
	// name of its event, "" if it has none. A frame that makes no sense is the
	// provider's failure: d.Fail.
	Frame(d *Decoder, data []byte, name string) error
	// Response reads an answer in one piece with a status of 200 to 299. The
	// events are those that a stream would have given; a complete answer ends
	// with finish and done. If there is neither, nor a failure, the host asks
	// Error.
	Response(r abi.HTTPResponse) ([]abi.Event, error)
	// Error classifies a response with another status, or one that is no
	// answer though its status is good. It has something to say about any
	// body, and goes by the status when in doubt.
	Error(r abi.HTTPResponse) abi.Failure
}

// Models is what a Provider may also have: the list of the models that the
// endpoint offers. Its plugin.toml then says lists_models = true in [provider].
type Models interface {
	// ModelsRequest says which request asks for the list.
	ModelsRequest(q abi.ModelsQuery) (abi.HTTPRequest, error)
	// ModelsResponse reads the answer, whose status is 200 to 299.
	ModelsResponse(r abi.HTTPResponse) (abi.ModelList, error)
}
