package main

import (
	"bytes"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// Frame reads a frame of a streamed answer. What it is stands in its JSON; the
// name of the frame is used where the type is missing (C148).
func (messages) Frame(d *provider.Decoder, data []byte, name string) error {
	data = bytes.Trim(data, " \t\r\n")
	if len(data) == 0 || string(data) == "[DONE]" { // the latter from gateways, after the end
		return nil
	}
	f, err := readFrame(data)
	switch {
	case err != nil && name == "error":
		d.Fail(frameError(data))
	case err != nil && name != "" && !known(name):
		// A vendor's own event.
	case err != nil:
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "a frame of the stream is not JSON: " + failure.Quote(string(data))})
	default:
		if f.typ == "" {
			f.typ = name
		}
		r := reader{Decoder: d, state: readState(d.State)}
		r.frame(&f, data, name)
		if r.changed {
			d.State = r.String()
		}
	}
	return nil
}

// known tells whether an event of this name is one of the API's.
func known(name string) bool {
	switch name {
	case "message", "message_start", "content_block_start", "content_block_delta", "content_block_stop",
		"message_delta", "message_stop", "ping":
		return true
	}
	return false
}

// reader gives the events of a message.
type reader struct {
	*provider.Decoder
	state
}

func (r *reader) frame(f *frame, data []byte, name string) {
	switch f.typ {
	case "content_block_delta":
		r.piece(f)
	case "content_block_start":
		r.begin(f)
	case "content_block_stop":
		r.end(f.index)
	case "message_start":
		r.message(f.message)
	case "message_delta":
		r.delta(f)
	case "message_stop":
		r.end(-1)
		if !r.finished { // a gateway that leaves the reason out
			r.Finish(abi.FinishUnknown, "")
		}
		r.Done()
	case "error":
		r.Fail(frameError(data))
	case "ping":
	default:
		if name == "error" || f.failed {
			r.Fail(frameError(data))
		}
	}
}

// message reads the start of the message. Of its usage the output is left out:
// it says how much was produced before the first piece, and if the stream is cut
// nobody knows how much it became (CST-2).
func (r *reader) message(data []byte) {
	m := readMessage(data)
	if m.id != "" || m.model != "" {
		r.Meta(m.id, m.model)
	}
	if m.usage == nil {
		return
	}
	r.read, r.written, r.changed = m.usage.read, m.usage.written, true
	u := m.usage.tokens(nil)
	u.Output, u.Reasoning = nil, nil
	r.count(u)
}

// count tells usage, if there is any.
func (r *reader) count(u abi.Usage) {
	if u != (abi.Usage{}) {
		r.Usage(u)
	}
}

// begin reads the start of a block, which may have contents already.
func (r *reader) begin(f *frame) {
	r.end(-1)
	b := readBlock(f.block)
	if b.typ == "text" && b.citations != nil {
		r.cite(f.index, b.citations[1:len(b.citations)-1])
		b.citations = nil // they come after the text
	}
	switch {
	case b.typ == "tool_use":
		r.Emit(b.event(f.index))
	case b.typ == "text" && b.text == "", b.typ == "thinking" && b.thinking == "" && b.signature == "":
	case !b.executed():
		r.Emit(b.event(f.index))
	case b.typ == "":
	case b.typ == "server_tool_use", b.typ == "mcp_tool_use":
		r.Emit(abi.Event{Type: abi.EventProviderTool, ID: b.id, Name: b.toolName()})
		if len(b.raw) > maxOpen {
			r.Fail(tooMuch())
			return
		}
		r.open, r.input, r.changed = max(f.index, 0), "", true
		r.start = strings.ReplaceAll(string(b.raw), "\n", " ")
	default: // a result, which comes in one piece
		r.Emit(b.event(f.index))
	}
}

// piece reads a piece of a block, which may lack half a character at each end.
func (r *reader) piece(f *frame) {
	var kind byte
	switch f.delta.typ {
	case "text_delta":
		kind = 'x'
	case "thinking_delta":
		kind = 't'
	case "input_json_delta":
		kind = 'j'
	case "signature_delta":
		r.close()
		if f.delta.signature != "" {
			r.Emit(abi.Event{Type: abi.EventReasoning, Signature: f.delta.signature, Index: at(f.index)})
		}
		return
	case "citations_delta":
		if f.delta.citation != nil {
			r.cite(f.index, f.delta.citation)
		}
		return
	default: // what is not known yet
		return
	}
	if len(f.delta.text) <= len(`""`) {
		return
	}
	if r.half != 0 && (r.kind != kind || r.index != f.index) {
		r.close()
	}
	before := r.half
	s := jsonscan.New(f.delta.text)
	var text string
	text, r.half = s.StringPart(before)
	r.changed = r.changed || r.half != before
	r.kind, r.index = kind, f.index
	r.say(kind, f.index, text)
}

func (r *reader) say(kind byte, index int64, text string) {
	if text == "" {
		return
	}
	switch kind {
	case 'x':
		r.Emit(abi.Event{Type: abi.EventText, Text: text, Index: at(index)})
	case 't':
		r.Emit(abi.Event{Type: abi.EventReasoning, Text: text, Index: at(index)})
	case 'j':
		r.arguments(index, text)
	}
}

// arguments reads a piece of the input of a call, or of a tool that the provider
// itself runs.
func (r *reader) arguments(index int64, text string) {
	if !r.isOpen(index) || r.start == "" {
		r.ToolCall(at(index), "", "", text)
		return
	}
	if len(r.start)+len(r.input)+len(text) > maxOpen {
		r.Fail(tooMuch())
		return
	}
	r.input += text
	r.changed = true
}

// isOpen tells whether there is an open block, of that index if it is given.
func (r *reader) isOpen(index int64) bool {
	return r.open >= 0 && (index < 0 || index == r.open)
}

func tooMuch() abi.Failure {
	return abi.Failure{Class: abi.FailureServer, Message: "the input of a tool that the provider runs is too long"}
}

// cite remembers what a text is taken from, as JSON values with commas between
// them, until the text is over: it goes back with the text (STR-8). What is more
// than can be remembered is left out.
func (r *reader) cite(index int64, citation []byte) {
	if r.open >= 0 && (r.start != "" || r.open != max(index, 0)) {
		r.end(-1)
	}
	if len(r.input)+len(citation) > maxOpen {
		return
	}
	if r.input != "" {
		r.input += ","
	}
	r.open, r.start, r.changed = max(index, 0), "", true
	r.input += string(citation)
}

// maxOpen bounds what is remembered of an open block, in bytes.
const maxOpen = abi.MaxState / 2

// lost is what becomes of half a character whose other half does not come.
const lost = "\uFFFD"

// close gives up a half that is left.
func (r *reader) close() {
	if r.half != 0 {
		r.half, r.changed = 0, true
		r.say(r.kind, r.index, lost)
	}
}

// end closes the open block, if it has that index or if that is -1. A tool of the
// provider's is then known as a whole, and so is what a text is taken from.
func (r *reader) end(index int64) {
	r.close()
	if !r.isOpen(index) {
		return
	}
	if r.start == "" {
		r.Emit(abi.Event{Type: abi.EventText, Signature: "[" + r.input + "]", Index: at(r.open)})
	} else {
		raw := r.start
		if r.input != "" {
			raw = withInput(r.start, r.input)
		}
		b := readBlock([]byte(raw))
		r.Emit(b.event(r.open))
	}
	r.open, r.start, r.input, r.changed = -1, "", "", true
}

// delta reads how the message ends.
func (r *reader) delta(f *frame) {
	r.close()
	if f.usage != nil {
		r.count(f.usage.tokens(&usage{read: r.read, written: r.written}))
	}
	if f.delta.stop != "" {
		r.end(-1) // of servers that do not end a block
		r.Finish(finishReason(f.delta.stop), f.delta.stop)
		r.finished, r.changed = true, true
	}
}

// finishReason translates stop_reason.
func finishReason(raw string) abi.FinishReason {
	switch raw {
	case "end_turn", "stop_sequence", "stop":
		return abi.FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return abi.FinishLength
	case "tool_use":
		return abi.FinishToolCalls
	case "pause_turn":
		return abi.FinishPause
	case "refusal":
		return abi.FinishRefusal
	case "content_filtered", "guardrail_intervened": // Bedrock
		return abi.FinishContentFilter
	}
	return abi.FinishUnknown
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
