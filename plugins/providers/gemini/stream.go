package main

import (
	"bytes"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// Frame reads a frame of a streamed answer. The protocol has no completion
// signal: an answer is whole if it has a finish reason and the server then ends
// the stream, which the manifest tells the host (end_completes). A finish
// reason alone is no signal: the usage may follow it, and servers have been
// seen that send STOP with every chunk.
func (gemini) Frame(d *provider.Decoder, data []byte, name string) error {
	data = bytes.Trim(data, " \t\r\n")
	c := chunk{before: readState(d.State)}
	switch string(data) {
	case "":
		return nil
	case "[DONE]": // some gateway's (C148)
		if c.before.finished {
			d.Done()
		}
		return nil
	}
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

// tell gives the events of a chunk.
func (c *chunk) tell(d *provider.Decoder, data []byte) {
	now := c.before
	if c.id != "" || c.model != "" {
		d.Meta(c.id, c.model)
		now.told = true
	}
	c.tellParts(d, data, &now)
	if c.usage != nil {
		d.Usage(*c.usage)
	}
	switch {
	case c.failed:
		d.Fail(frameError(data))
	case c.blocked != "":
		d.Fail(refused(c.blocked, c.why))
	case now.calls > 0 && malformed(c.finish):
		d.Fail(abi.Failure{Class: abi.FailureServer, Code: c.finish, Message: "the model made a call that the provider calls malformed: none of its calls is run"})
	case c.finish != "" && c.finish != unspecified:
		now.close(d)
		d.Finish(finishReason(c.finish, now.calls > 0), c.finish)
		now.finished = true
	}
	if now != c.before {
		d.State = now.String()
	}
}

// tellParts gives the parts in their order. A part with a signature stays a part
// of its own, so it has an index of its own; the pieces of text without one are
// joined by the host.
func (c *chunk) tellParts(d *provider.Decoder, data []byte, now *state) {
	var raw [][]byte
	for i := range c.parts {
		p := &c.parts[i]
		switch {
		case p.call != nil:
			now.close(d)
			index := now.calls
			now.calls++
			d.Emit(abi.Event{
				Type: abi.EventToolCall, Index: &index, ID: p.call.id, Name: p.call.name, Arguments: p.call.args, Signature: p.signature,
			})
		case p.other != "":
			now.close(d)
			if raw == nil {
				raw = rawParts(data)
			}
			e := abi.Event{Type: abi.EventProviderTool, Name: toolName(p.other), Text: p.shown}
			if i < len(raw) {
				e.Opaque = string(raw[i])
			}
			d.Emit(e)
		default:
			p.tell(d, now)
		}
	}
}

// tell gives a text, which may lack half a character at each end.
func (p *part) tell(d *provider.Decoder, now *state) {
	if now.half != 0 && now.thought != p.thought && len(p.text) > len(`""`) {
		now.close(d)
	}
	e := abi.Event{Type: abi.EventText, Signature: p.signature}
	if p.thought {
		e.Type = abi.EventReasoning
	}
	if p.text != nil {
		s := jsonscan.New(p.text)
		e.Text, now.half = s.StringPart(now.half)
		now.thought = p.thought && now.half != 0
	}
	if p.signature != "" { // ends the part
		if now.half != 0 {
			e.Text += lost
			now.half, now.thought = 0, false
		}
		index := now.signed
		now.signed++
		e.Index = &index
	}
	if e.Text != "" || e.Signature != "" {
		d.Emit(e)
	}
}

// close gives up a half that is left: its other half does not come.
func (s *state) close(d *provider.Decoder) {
	switch {
	case s.half == 0:
		return
	case s.thought:
		d.Reasoning(lost)
	default:
		d.Text(lost)
	}
	s.half, s.thought = 0, false
}

// refused is the failure of a prompt that the provider refuses to answer.
func refused(reason, why string) abi.Failure {
	f := abi.Failure{Class: abi.FailureContentFiltered, Message: "the prompt was blocked: " + failure.Quote(reason), Code: reason}
	if why != "" {
		f.Message += ": " + failure.Quote(why)
	}
	return f
}

// frameError reads an error in an answer whose status was 200.
func frameError(data []byte) abi.Failure {
	e, ok := readError(data)
	f := e.failure(0)
	if !ok {
		f.Message = "the provider reported an error: " + failure.Quote(string(data))
	}
	return f
}
