package main

import (
	"bytes"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// What Decoder.State remembers of the frames before; empty if nothing.
const (
	stateMeta    = "m" // id and model were told
	stateRefused = "r" // the same, and some of the text was a refusal
)

// Frame reads a frame of a streamed answer. The name of a frame means nothing in
// this protocol but for "error"; what a frame tells is in its JSON (C148).
func (chat) Frame(d *provider.Decoder, data []byte, name string) error {
	if len(data) == 0 || data[0] != '{' { // the usual frame needs no look around
		data = bytes.Trim(data, " \t\r\n")
		switch string(data) {
		case "":
			return nil
		case "[DONE]":
			d.Done()
			return nil
		}
	}
	c := chunk{wantMeta: d.State == ""}
	err := c.read(data)
	switch {
	case name == "error":
		d.Fail(frameError(data))
	case err != nil && name != "" && name != "message":
		// A vendor's own event.
	case err != nil:
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "a frame of the stream is not JSON: " + quote(string(data))})
	default:
		c.tell(d, data)
	}
	return nil
}

// tell gives the events of a chunk, in the order in which an answer has them.
func (c *chunk) tell(d *provider.Decoder, data []byte) {
	if c.id != "" || c.model != "" {
		d.Meta(c.id, c.model)
		d.State = stateMeta
	}
	d.Reasoning(c.reasoned())
	for _, raw := range c.details.opaque {
		d.Emit(abi.Event{Type: abi.EventReasoning, Signature: string(raw)})
	}
	d.Text(c.text)
	for _, k := range c.calls {
		d.ToolCall(k.index, k.id, k.name, k.input)
	}
	if u := c.counted(); u != nil {
		d.Usage(*u)
	}
	if c.refused {
		d.State = stateRefused
	}
	switch {
	case c.failed:
		d.Fail(frameError(data))
	case c.failure != nil:
		d.Fail(frameError(c.failure))
	case c.finish != "":
		tellFinish(d, c.finish)
	}
}

// frameError reads an error in an answer whose status was 200.
func frameError(data []byte) abi.Failure {
	e, ok := readError(data)
	f := e.failure(0)
	if !ok {
		f.Message = "the provider reported an error: " + quote(string(data))
	}
	return f
}

func tellFinish(d *provider.Decoder, raw string) {
	reason, class := finishReason(raw)
	if class != "" {
		d.Fail(abi.Failure{Class: class, Message: "the provider ended the answer with finish_reason " + quote(raw), Code: raw})
		return
	}
	if reason == abi.FinishStop && d.State == stateRefused {
		reason = abi.FinishRefusal
	}
	d.Finish(reason, raw)
}
