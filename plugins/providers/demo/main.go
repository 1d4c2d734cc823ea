// Command demo is a provider plugin that needs no network, no key and no model:
// it answers by a script that the host plays as if it came from a server. It
// explains the program to someone who has just started it, and can be told to
// misbehave in all the ways in which real providers do; see /demo help.
//
// Its wire protocol is the smallest there could be: a stream is server-sent
// events, each with one abi.Event as JSON, and [DONE] at the end; an answer in
// one piece is an abi.ChatEvents; an error is an abi.Failure.
package main

import (
	"bytes"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// demo is the plugin. It holds no state: every call stands for itself.
type demo struct{}

func init() { provider.Register(demo{}) }

func main() {}

const doneFrame = "[DONE]"

// Messages gives no contents: the plugin gets the last message in the request
// (wants_messages), and nothing is sent anywhere.
func (demo) Messages(in abi.ChatMessages) ([]string, error) {
	fragments := make([]string, len(in.Messages))
	for i := range fragments {
		fragments[i] = "{}"
	}
	return fragments, nil
}

// Request writes the script of the answer.
func (demo) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	delay, err := readDelay(r.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	said := lastText(r.Messages)
	s := sceneOf(r, said)
	s.model = r.Model
	s.delay = delay
	s.input = countWords(r.System) + countWords(said)
	return abi.HTTPRequest{Script: s.script(r.Stream)}, nil
}

// Frame reads one event.
func (demo) Frame(d *provider.Decoder, data []byte, _ string) error {
	data = bytes.Trim(data, " \t\r\n")
	if len(data) == 0 {
		return nil
	}
	if string(data) == doneFrame {
		d.Done()
		return nil
	}
	var e abi.Event
	switch err := e.DecodeJSON(data); {
	case err != nil || e.Type == "":
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "a frame of the stream is no event"})
	default:
		d.Emit(e)
	}
	return nil
}

// Response reads all events.
func (demo) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var all abi.ChatEvents
	if err := all.DecodeJSON([]byte(r.Body)); err == nil && len(all.Events) > 0 {
		return all.Events, nil
	}
	var d provider.Decoder
	d.Fail(abi.Failure{Class: abi.FailureServer, Message: "the answer holds no events"})
	return d.Events, nil
}

// Error reads a failure.
func (demo) Error(r abi.HTTPResponse) abi.Failure {
	var f abi.Failure
	if err := f.DecodeJSON([]byte(r.Body)); err != nil || f.Class == "" {
		f = abi.Failure{Class: abi.FailureServer, Message: "the answer is no failure"}
	}
	f.Status = r.Status
	return f
}
