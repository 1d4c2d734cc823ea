package main

import (
	"bytes"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
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
			readState(d.State).end(d)
			d.Done()
			return nil
		}
	}
	c := chunk{before: readState(d.State)}
	err := c.read(data)
	switch {
	case name == "error":
		d.Fail(frameError(data))
	case err != nil && name != "" && name != "message":
		// A vendor's own event.
	case err != nil:
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "a frame of the stream is not JSON: " + failure.Quote(string(data))})
	default:
		c.tell(d, data)
	}
	return nil
}

// tell gives the events of a chunk, in the order in which an answer has them.
func (c *chunk) tell(d *provider.Decoder, data []byte) {
	now := c.before
	if c.id != "" || c.model != "" {
		d.Meta(c.id, c.model)
		now.letter = letterMeta
	}
	if c.refused {
		now.letter = letterRefused
	}
	why := c.reasoned()
	c.close(why)
	d.Reasoning(why.text)
	for _, raw := range c.details.opaque {
		d.Emit(abi.Event{Type: abi.EventReasoning, Signature: string(raw)})
	}
	d.Text(c.text.text)
	for _, k := range c.calls {
		d.ToolCall(k.index, k.id, k.name, k.input)
	}
	if u := c.counted(); u != nil {
		d.Usage(*u)
	}
	switch {
	case c.failed:
		d.Fail(frameError(data))
	case c.failure != nil:
		d.Fail(frameError(c.failure))
	case c.finish != "":
		tellFinish(d, c.finish, now.letter == letterRefused)
	}
	if now.text, now.reasoning = c.text.high, why.high; now != c.before {
		d.State = now.String()
	}
}

// close gives up a half of the reasoning when something else follows it, and a
// half of the text when a call or the end follows. After a failure nobody needs
// it, and it must not be the first that is seen of the answer.
func (c *chunk) close(why *piece) {
	if why.high|c.text.high == 0 {
		return
	}
	last := len(c.calls) > 0 || c.finishes()
	if last || len(c.details.opaque) > 0 || c.text.said() {
		why.close()
	}
	if last {
		c.text.close()
	}
}

// finishes tells whether the chunk ends the answer, other than with a failure.
func (c *chunk) finishes() bool {
	if c.finish == "" || c.failed || c.failure != nil {
		return false
	}
	_, class := finishReason(c.finish)
	return class == ""
}

// frameError reads an error in an answer whose status was 200.
func frameError(data []byte) abi.Failure {
	our := dialect()
	e, ok := our.Read(data)
	f := our.Failure(&e, 0)
	if !ok {
		f.Message = "the provider reported an error: " + failure.Quote(string(data))
	}
	return f
}

func tellFinish(d *provider.Decoder, raw string, refused bool) {
	reason, class := finishReason(raw)
	if class != "" {
		d.Fail(abi.Failure{Class: class, Message: "the provider ended the answer with finish_reason " + failure.Quote(raw), Code: raw})
		return
	}
	if reason == abi.FinishStop && refused {
		reason = abi.FinishRefusal
	}
	d.Finish(reason, raw)
}
