package provider

import (
	"github.com/zchost/zchost/abi"
	stdio "github.com/zchost/zchost/sdk/internal/guest"
)

// guest is the plugin of this module: exports have no parameters, so what
// they work on has to be found here. A module runs one call at a time.
var guest struct {
	dispatcher
	stdio.Stdio
}

// Register makes p the plugin of this module. It is called once, in an init
// function.
func Register(p Provider) {
	if guest.provider != nil {
		panic("provider: Register was called twice")
	}
	guest.provider = p
}

//go:wasmexport chat_messages
func chatMessages() int32 { return serve(abi.ExportChatMessages) }

//go:wasmexport chat_request
func chatRequest() int32 { return serve(abi.ExportChatRequest) }

//go:wasmexport chat_events
func chatEvents() int32 { return serve(abi.ExportChatEvents) }

//go:wasmexport chat_response
func chatResponse() int32 { return serve(abi.ExportChatResponse) }

//go:wasmexport chat_error
func chatError() int32 { return serve(abi.ExportChatError) }

//go:wasmexport models_request
func modelsRequest() int32 { return serve(abi.ExportModelsRequest) }

//go:wasmexport models_response
func modelsResponse() int32 { return serve(abi.ExportModelsResponse) }

// serve runs one export.
func serve(export string) int32 {
	if guest.provider == nil {
		return stdio.Refuse("no provider was registered")
	}
	return guest.Serve(func(in []byte) ([]byte, error) { return guest.call(export, in) })
}
