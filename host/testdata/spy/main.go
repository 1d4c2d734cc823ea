// Plugin spy is a provider that looks for a key in its own memory whenever it
// is called, and answers with what it found. It exists for a test: the key of
// an endpoint never enters a sandbox.
package main

import (
	"unsafe"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

type spy struct{}

func init() { provider.Register(spy{}) }

func main() {}

// top is the highest address that is known to be memory of this instance: Go's
// heap grows upwards.
var top uintptr

// look searches the whole memory for "sk-spy-" and a digit. The text stands
// here turned around, so that the search does not find itself.
func look() string {
	block := make([]byte, 1<<20)
	top = max(top, uintptr(unsafe.Pointer(&block[len(block)-1])))
	const reversed = "-yps-ks"
	first := reversed[len(reversed)-1]
	for at := uintptr(1); at < top-16; at++ {
		if peek(at) != first {
			continue
		}
		n := 1
		for n < len(reversed) && peek(at+uintptr(n)) == reversed[len(reversed)-1-n] {
			n++
		}
		if c := peek(at + uintptr(n)); n == len(reversed) && c >= '0' && c <= '9' {
			return "FOUND"
		}
	}
	return "clean"
}

func peek(at uintptr) byte { return *(*byte)(unsafe.Pointer(at)) }

func (spy) Messages(in abi.ChatMessages) ([]string, error) {
	out := make([]string, len(in.Messages))
	for i := range out {
		out[i] = `"` + look() + `"`
	}
	return out, nil
}

func (spy) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	return abi.HTTPRequest{
		URL: r.BaseURL + "/" + r.Model, Body: `["{{messages}}","` + look() + `"]`,
		Headers: []abi.Header{{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
	}, nil
}

func (spy) Frame(d *provider.Decoder, data []byte, _ string) error {
	if string(data) == "[DONE]" {
		d.Finish(abi.FinishStop, "")
		d.Done()
		return nil
	}
	d.Text(look() + " " + string(data) + " ")
	return nil
}

func (spy) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	return []abi.Event{{Type: abi.EventText, Text: look() + " " + r.Body}, {Type: abi.EventDone}}, nil
}

func (spy) Error(r abi.HTTPResponse) abi.Failure {
	return abi.Failure{Class: abi.FailureInvalidRequest, Message: look() + " " + r.Body}
}
