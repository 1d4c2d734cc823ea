package provider

import "github.com/zchost/zchost/abi"

// Decoder takes the events of a streamed answer. A test makes one with its zero
// value.
type Decoder struct {
	// State is what the plugin remembers from frame to frame, also between
	// calls; empty at the start of an answer. At most abi.MaxState bytes, and
	// best short or empty, because it is passed in and out with every call.
	State string
	// Events are the events so far.
	Events []abi.Event
}

// Emit gives an event.
func (d *Decoder) Emit(e abi.Event) { d.Events = append(d.Events, e) }

// Meta gives the response's id and the model that answers; either may be "".
func (d *Decoder) Meta(id, model string) {
	d.Emit(abi.Event{Type: abi.EventMeta, ID: id, Model: model})
}

// Text gives the next piece of the answer; nothing if it is empty.
func (d *Decoder) Text(s string) {
	if s != "" {
		d.Emit(abi.Event{Type: abi.EventText, Text: s})
	}
}

// Reasoning gives the next piece of the reasoning; nothing if it is empty.
func (d *Decoder) Reasoning(s string) {
	if s != "" {
		d.Emit(abi.Event{Type: abi.EventReasoning, Text: s})
	}
}

// ToolCall gives the next piece of a call's arguments. Index is nil if the
// provider gives none, id and name are "" where the piece does not repeat them.
func (d *Decoder) ToolCall(index *int64, id, name, arguments string) {
	d.Emit(abi.Event{Type: abi.EventToolCall, Index: index, ID: id, Name: name, Arguments: arguments})
}

// Usage gives the tokens that were counted so far.
func (d *Decoder) Usage(u abi.Usage) { d.Emit(abi.Event{Type: abi.EventUsage, Usage: &u}) }

// Finish says why the model stopped; raw is the provider's own word for it.
func (d *Decoder) Finish(reason abi.FinishReason, raw string) {
	d.Emit(abi.Event{Type: abi.EventFinish, Reason: reason, Raw: raw})
}

// Done says that the protocol's completion signal was seen.
func (d *Decoder) Done() { d.Emit(abi.Event{Type: abi.EventDone}) }

// Fail gives an error that the provider reports inside its answer.
func (d *Decoder) Fail(f abi.Failure) { d.Emit(abi.Event{Type: abi.EventFailure, Failure: &f}) }
