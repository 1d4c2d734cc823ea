package provider

import (
	"syscall"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// guest is the plugin of this module: exports have no parameters, so what
// they work on has to be found here. A module runs one call at a time.
var guest struct {
	dispatcher
	in []byte
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

// serve runs one export from stdin to stdout. It returns 0, or 1 after it wrote
// {"error":"…"}.
func serve(export string) int32 {
	if guest.provider == nil {
		return refuse("no provider was registered")
	}
	in, err := readInput()
	if err != nil {
		return refuse("read input: " + err.Error())
	}
	out, err := guest.call(export, in)
	if err != nil {
		return refuse(err.Error())
	}
	if err := writeOutput(out); err != nil {
		return refuse("write output: " + err.Error())
	}
	return 0
}

func refuse(reason string) int32 {
	out := append(jsonscan.AppendString([]byte(`{"error":`), reason), '}')
	_ = writeOutput(out) // the return value says that there was an error
	return 1
}

// readInput reads stdin to its end. What it returns is valid until the next call.
func readInput() ([]byte, error) {
	in := guest.in[:0]
	if in == nil || cap(in) > keep {
		in = make([]byte, 0, 16<<10)
	}
	for {
		if len(in) == cap(in) {
			in = append(in, 0)[:len(in)]
		}
		n, err := syscall.Read(0, in[len(in):cap(in)])
		if err != nil {
			return nil, err
		}
		if n == 0 {
			guest.in = in
			return in, nil
		}
		in = in[:len(in)+n]
	}
}

func writeOutput(out []byte) error {
	for len(out) > 0 {
		n, err := syscall.Write(1, out)
		if err != nil {
			return err
		}
		out = out[n:]
	}
	return nil
}
