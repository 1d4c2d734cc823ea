package abi

// EventType says what an Event tells.
type EventType string

// The types of event that a provider gives.
const (
	// EventMeta gives the response's id and the model that answers.
	EventMeta EventType = "meta"
	// EventText gives the next piece of the answer.
	EventText EventType = "text"
	// EventReasoning gives the next piece of the reasoning, its signature, or
	// its opaque form.
	EventReasoning EventType = "reasoning"
	// EventToolCall begins or continues a call of a tool: its index, id and name,
	// and a piece of its arguments.
	EventToolCall EventType = "tool_call"
	// EventProviderTool is something that the provider itself has already
	// executed: its id and name, and text to show.
	EventProviderTool EventType = "provider_tool"
	// EventUsage gives the tokens that were counted so far.
	EventUsage EventType = "usage"
	// EventFinish says why the model stopped. Usage may follow.
	EventFinish EventType = "finish"
	// EventDone says that the protocol's completion signal was seen: nothing
	// follows.
	EventDone EventType = "done"
	// EventFailure is an error inside the answer.
	EventFailure EventType = "failure"
)

// Visible reports whether an event of this type is output that a person may
// have seen, after which the request is never replayed (REL-4). Text and
// reasoning are, if they are not empty: a signature alone shows nothing.
func (t EventType) Visible(text string) bool {
	return t == EventProviderTool || (text != "" && (t == EventText || t == EventReasoning))
}

// FinishReason says why the model stopped.
type FinishReason string

// The reasons. FinishUnknown stands for a reason that the plugin does not
// know; Event.Raw holds it verbatim.
const (
	// FinishStop is the usual end.
	FinishStop FinishReason = "stop"
	// FinishLength is an answer that was cut at the output limit.
	FinishLength FinishReason = "length"
	// FinishToolCalls is a model that waits for the results of its calls.
	FinishToolCalls FinishReason = "tool_calls"
	// FinishContentFilter is an answer that the provider's filter cut off.
	FinishContentFilter FinishReason = "content_filter"
	// FinishRefusal is a model that refuses to answer.
	FinishRefusal FinishReason = "refusal"
	// FinishPause is a provider that wants to be asked to go on.
	FinishPause FinishReason = "pause"
	// FinishUnknown is a reason that the plugin does not know.
	FinishUnknown FinishReason = "unknown"
)

// Event is one thing that a provider's answer tells. Which fields are set
// depends on Type.
type Event struct {
	// Type says which of the other fields are set.
	Type EventType `json:"type"`
	// ID is the response's id (meta), the call's id (tool_call, may be empty),
	// or the id of a provider_tool.
	ID string `json:"id,omitempty"`
	// Model is the model that answered, as the provider names it (meta).
	Model string `json:"model,omitempty"`
	// Text is the next piece of text or reasoning, or what a provider_tool
	// shows.
	Text string `json:"text,omitempty"`
	// Signature is the opaque signature of the text, reasoning or tool_call
	// part that the event continues or begins. It ends a text or reasoning
	// part.
	Signature string `json:"signature,omitempty"`
	// Opaque is the provider's own form of the reasoning or provider_tool part,
	// which is given back byte for byte with later requests. It ends the part.
	Opaque string `json:"opaque,omitempty"`
	// Index is the place of a tool_call among the calls of the response;
	// absent if the provider gave none. Of text and reasoning it is the place
	// of the part: the host joins neighbouring pieces of one type into one part
	// unless their indexes differ.
	Index *int64 `json:"index,omitempty"`
	// Name is the name of the tool (tool_call, provider_tool). It is set, not
	// appended.
	Name string `json:"name,omitempty"`
	// Arguments is the next fragment of a tool_call's arguments, which the
	// host joins by index, else by id.
	Arguments string `json:"arguments,omitempty"`
	// Usage is what the provider reports so far; a later one replaces an
	// earlier one, field by field.
	Usage *Usage `json:"usage,omitempty"`
	// Reason says why the model stopped (finish).
	Reason FinishReason `json:"reason,omitempty"`
	// Raw is the provider's own word for the reason (finish).
	Raw string `json:"raw,omitempty"`
	// Failure is an error that the provider reports inside its answer.
	Failure *Failure `json:"failure,omitempty"`
}

// Usage counts tokens. An absent field is unknown, which is never zero.
type Usage struct {
	// Input counts the tokens of the prompt, cached ones included.
	Input *int64 `json:"input,omitempty"`
	// Output counts the tokens of the answer, reasoning included.
	Output *int64 `json:"output,omitempty"`
	// CacheRead counts the tokens of Input that came from a cache.
	CacheRead *int64 `json:"cache_read,omitempty"`
	// CacheWrite counts the tokens of Input that were written to a cache.
	CacheWrite *int64 `json:"cache_write,omitempty"`
	// Reasoning counts the tokens of Output that were reasoning.
	Reasoning *int64 `json:"reasoning,omitempty"`
}

// Merge replaces the fields of u that later knows.
func (u *Usage) Merge(later Usage) {
	for _, f := range []struct{ to, from **int64 }{
		{&u.Input, &later.Input},
		{&u.Output, &later.Output},
		{&u.CacheRead, &later.CacheRead},
		{&u.CacheWrite, &later.CacheWrite},
		{&u.Reasoning, &later.Reasoning},
	} {
		if *f.from != nil {
			*f.to = *f.from
		}
	}
}

// ChatEvents is the output of chat_response: the whole answer as the events
// that a stream would have given. A complete answer ends with finish and done.
type ChatEvents struct {
	// Events are the events in order.
	Events []Event `json:"events"`
}

// EventsHeader is the first record of the sequence that chat_events takes and
// returns. After it come, in the input, the data of each frame verbatim, a
// record each; in the output, the events (Event), a record each.
//
// Each record of a sequence is the byte 0x1E, the text, and the byte 0x0A
// (RFC 7464). A frame that itself holds the byte 0x1E is not JSON and never
// gets here.
type EventsHeader struct {
	// State is what the plugin returned from the call before, for the same
	// answer; empty at the start. At most MaxState bytes.
	State string `json:"state,omitempty"`
	// Names are the event names of the frames, one for each; left out when no
	// frame has one.
	Names []string `json:"names,omitempty"`
}
