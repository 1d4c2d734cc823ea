package main

import (
	"bytes"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// paragraph stands between the parts of a summary of the reasoning.
const (
	paragraph     = "\n\n"
	paragraphJSON = `"\n\n"`
)

// Frame reads a frame of a streamed answer. What it is stands in its JSON; the
// name of the frame is used where the type is missing (C148). Nothing is
// complete before the terminal event (C044, C152).
func (responses) Frame(d *provider.Decoder, data []byte, name string) error {
	data = bytes.Trim(data, " \t\r\n")
	if len(data) == 0 || string(data) == "[DONE]" { // the latter from gateways, after the terminal event
		return nil
	}
	f, err := readFrame(data)
	switch {
	case err != nil && name == "error":
		d.Fail(frameError(data))
	case err != nil && name != "" && name != "message" && !isResponseEvent(name):
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

func isResponseEvent(name string) bool {
	const prefix = "response."
	return len(name) > len(prefix) && name[:len(prefix)] == prefix
}

// reader gives the events of a response.
type reader struct {
	*provider.Decoder
	state
}

func (r *reader) frame(f *frame, data []byte, name string) {
	switch f.typ {
	case "response.output_text.delta":
		r.piece(f, false)
	case "response.refusal.delta":
		r.refused, r.changed = true, r.changed || !r.refused
		r.piece(f, false)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.piece(f, true)
	case "response.reasoning_summary_part.added":
		if f.part > 0 {
			f.delta = []byte(paragraphJSON)
			r.piece(f, true)
		}
	case "response.function_call_arguments.delta":
		r.arguments(f)
	case "response.function_call_arguments.done":
		r.allArguments(f)
	case "response.output_item.added":
		r.added(f)
	case "response.output_item.done":
		r.item(f.place, f.item)
	case "response.created", "response.in_progress", "response.queued":
		r.meta(readResponse(f.response))
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		r.end(f.typ, f.response)
	case "error", "response.error":
		r.Fail(frameError(data))
	default:
		r.other(f, data, name)
	}
}

// other handles a frame that is no event of the API.
func (r *reader) other(f *frame, data []byte, name string) {
	switch {
	case name == "error" || (f.failed && f.object == ""):
		r.Fail(frameError(data))
	case f.object == "response":
		r.end("", data)
	}
}

func (r *reader) meta(p response) {
	if !r.told && (p.id != "" || p.model != "") {
		r.Meta(p.id, p.model)
		r.told, r.changed = true, true
	}
}

// at returns the index of a text: the place of its item.
func at(place int64) *int64 {
	if place < 0 {
		return nil
	}
	return &place
}

// begin notes that the contents of an item come in pieces.
func (r *reader) begin(f *frame) {
	if f.place >= 0 && f.place == r.last {
		return // nearly always
	}
	t := r.find(f.place, hash(f.itemID), 0)
	if t == nil {
		t = r.add(f.place, hash(f.itemID), 0, false)
	}
	if t != nil && !t.begun {
		t.begun, r.changed = true, true
	}
	if r.last != f.place {
		r.last, r.changed = f.place, true
	}
}

// piece reads a piece of the text or of the reasoning, which may lack half a
// character at each end.
func (r *reader) piece(f *frame, thought bool) {
	if len(f.delta) <= len(`""`) {
		return
	}
	if r.half != 0 && (r.thought != thought || r.last != f.place) {
		r.close()
	}
	r.begin(f)
	before := r.half
	s := jsonscan.New(f.delta)
	var text string
	text, r.half = s.StringPart(before)
	r.thought = thought && r.half != 0
	r.changed = r.changed || r.half != before
	r.say(thought, text, f.place)
}

func (r *reader) say(thought bool, text string, place int64) {
	if text == "" {
		return
	}
	e := abi.Event{Type: abi.EventText, Text: text, Index: at(place)}
	if thought {
		e.Type = abi.EventReasoning
	}
	r.Emit(e)
}

// close gives up a half that is left: its other half does not come.
func (r *reader) close() {
	if r.half != 0 {
		r.say(r.thought, lost, r.last)
		r.half, r.thought, r.changed = 0, false, true
	}
}

// call returns the call that pieces of arguments belong to.
func (r *reader) call(f *frame) *item {
	t := r.find(f.place, hash(f.itemID), 0)
	if t == nil || t.index < 0 {
		if t = r.add(f.place, hash(f.itemID), 0, true); t == nil {
			r.tooMany()
		}
	}
	return t
}

func (r *reader) tooMany() {
	r.Fail(abi.Failure{Class: abi.FailureServer, Message: "the response has too many items"})
}

func (r *reader) arguments(f *frame) {
	s := jsonscan.New(f.delta)
	text := lenient.String(&s)
	if text == "" {
		return
	}
	r.close()
	if t := r.call(f); t != nil {
		r.changed = r.changed || !t.begun
		t.begun = true
		index := t.index
		r.ToolCall(&index, "", "", text)
	}
}

// allArguments reads the arguments that a server sends in one piece.
func (r *reader) allArguments(f *frame) {
	if f.arguments == "" {
		return
	}
	if t := r.call(f); t != nil && !t.begun {
		t.begun, r.changed = true, true
		index := t.index
		r.ToolCall(&index, "", "", f.arguments)
	}
}

// added reads an item that begins. Whatever it has of contents comes once more.
func (r *reader) added(f *frame) {
	o := readItemOf(f.item)
	if o.typ == "" || r.repeated(f.place, hash(o.id), hash(o.callID)) {
		return
	}
	r.close()
	t := r.add(f.place, hash(o.id), hash(o.callID), o.typ == typeCall)
	switch {
	case t == nil:
		r.tooMany()
	case o.typ == typeCall:
		t.named = o.name != ""
		index := t.index
		r.ToolCall(&index, o.callID, o.name, "")
	case !quiet(o.typ):
		r.Emit(abi.Event{Type: abi.EventProviderTool, ID: o.id, Name: o.toolName()})
	}
}

// quiet tells whether nothing is to be said when such an item begins.
func quiet(typ string) bool {
	return typ == typeMessage || typ == typeReasoning || typ == typeCompaction
}

// repeated tells whether an item that begins has begun already.
func (r *reader) repeated(place int64, id, call uint32) bool {
	for _, t := range r.load() {
		if !t.done && id != 0 && t.id == id && t.call == call && t.place == place {
			return true
		}
	}
	return false
}

// item reads an item that is complete.
func (r *reader) item(place int64, raw []byte) {
	o := readItemOf(raw)
	if o.typ != "" {
		r.complete(r.find(place, hash(o.id), hash(o.callID)), place, &o)
	}
}

// complete tells of an item what was not told before; t is nil if that is
// nothing.
func (r *reader) complete(t *item, place int64, o *output) {
	if t == nil || (t.index >= 0) != (o.typ == typeCall) {
		t = r.add(place, hash(o.id), hash(o.callID), o.typ == typeCall)
	}
	switch {
	case t == nil:
		r.tooMany()
		return
	case t.done:
		return
	}
	r.close()
	t.done, r.last, r.changed = true, -1, true
	switch o.typ {
	case typeCall:
		r.wholeCall(t, o)
	case typeMessage:
		r.wholeMessage(t, o)
	case typeReasoning, typeCompaction:
		r.wholeReasoning(t, o)
	default:
		r.Emit(abi.Event{Type: abi.EventProviderTool, ID: o.id, Name: o.toolName(), Text: o.shown, Opaque: string(o.raw)})
	}
}

func (r *reader) wholeCall(t *item, o *output) {
	index, arguments := t.index, o.arguments
	if t.begun {
		arguments = ""
	}
	if arguments != "" || !t.named {
		r.ToolCall(&index, o.callID, o.name, arguments)
	}
	t.begun, t.named = true, true
}

// wholeMessage tells the text, and the phase, which has to be sent back with it:
// it is the signature of the text.
func (r *reader) wholeMessage(t *item, o *output) {
	e := abi.Event{Type: abi.EventText, Signature: o.phase, Index: at(t.place)}
	if !t.begun {
		e.Text = o.text
	}
	r.refused = r.refused || o.refused
	if e.Text != "" || (t.begun && o.phase != "") {
		r.Emit(e)
	}
}

// wholeReasoning tells the item itself, if it has anything for the provider.
// Without that the provider would look for it among the items that it stores,
// and it stores none.
func (r *reader) wholeReasoning(t *item, o *output) {
	e := abi.Event{Type: abi.EventReasoning, Index: at(t.place)}
	if !t.begun {
		e.Text = o.reasoning
	}
	if o.encrypted {
		e.Opaque = string(o.raw)
	}
	if e.Text != "" || e.Opaque != "" {
		r.Emit(e)
	}
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
