package abi

// Role says who a message is from.
type Role string

// The roles of a message. The system prompt is not a message: it is
// ChatRequest.System.
const (
	// RoleUser is a person.
	RoleUser Role = "user"
	// RoleAssistant is the model.
	RoleAssistant Role = "assistant"
	// RoleTool is for the results of the tools that the message before it calls.
	RoleTool Role = "tool"
)

// PartType says what a Part holds.
type PartType string

// The types of part.
const (
	// PartText is text.
	PartText PartType = "text"
	// PartReasoning is what the model thought before it answered.
	PartReasoning PartType = "reasoning"
	// PartToolCall is a call of a tool by the model.
	PartToolCall PartType = "tool_call"
	// PartToolResult is what a tool returned.
	PartToolResult PartType = "tool_result"
	// PartProviderTool is something that the provider itself has executed.
	PartProviderTool PartType = "provider_tool"
	// PartImage is a picture, PartFile another attachment; the contents stay
	// with the host.
	PartImage PartType = "image"
	PartFile  PartType = "file"
)

// Message is one message of the conversation. Neighbouring messages never have
// the same role, and the results of one iteration's tools are one message of
// role tool: the host merges them first.
type Message struct {
	// Role is who the message is from.
	Role Role `json:"role"`
	// Parts are the contents in order; there is at least one.
	Parts []Part `json:"parts"`
}

// Part is one piece of a message. Which fields are set depends on Type.
type Part struct {
	// Type says which of the other fields are set.
	Type PartType `json:"type"`
	// Text is the text of a text or reasoning part, the content of a
	// tool_result, or what a provider_tool shows.
	Text string `json:"text,omitempty"`
	// Signature is the opaque signature of a text, reasoning or tool_call
	// part, exactly as the provider sent it. A part that another provider gave
	// comes without it.
	Signature string `json:"signature,omitempty"`
	// Opaque is the provider's own form of a reasoning or provider_tool part,
	// exactly as the plugin gave it in the event. Only the provider that gave
	// the part gets it; the host knows nothing of what is in it (STR-8).
	Opaque string `json:"opaque,omitempty"`
	// CallID joins a tool_call with its tool_result. The host makes it: it is
	// unique in the whole conversation.
	CallID string `json:"call_id,omitempty"`
	// Name is the tool's name, of a tool_call, a tool_result and a
	// provider_tool, or the file's, of an image or file; may be empty there.
	Name string `json:"name,omitempty"`
	// Blob is the id of an image's or file's contents: a-z and 0-9. The text
	// {{blob:ID}} in the message's fragment, inside a string, becomes their
	// base64 (RFC 4648, section 4).
	Blob string `json:"blob,omitempty"`
	// MediaType is the media type of an image or file, such as "image/png".
	MediaType string `json:"media_type,omitempty"`
	// Arguments is the JSON object of a tool_call, as text.
	Arguments string `json:"arguments,omitempty"`
	// IsError says that a tool_result reports a failure.
	IsError bool `json:"is_error,omitempty"`
}

// ChatMessages is the input of chat_messages.
type ChatMessages struct {
	// Messages are the messages to render; each is rendered by itself.
	Messages []Message `json:"messages"`
	// Options is the endpoint's options table from the config, a JSON object.
	Options Raw `json:"options,omitempty"`
}

// ChatFragments is the output of chat_messages.
type ChatFragments struct {
	// Fragments holds for each message, in order, the text of its wire JSON:
	// one JSON value, or several with commas between them where the protocol
	// wants one for each tool result. The host keeps a fragment and uses it
	// again for the same message, so it depends on the message alone.
	Fragments []string `json:"fragments"`
}

// ChatRequest is the input of chat_request: everything about the request but
// the contents of the messages.
type ChatRequest struct {
	// Model is the model's name at the provider.
	Model string `json:"model"`
	// System is the system prompt; empty means none.
	System string `json:"system,omitempty"`
	// Outline tells the roles and part types of all messages, without their
	// contents.
	Outline Outline `json:"outline"`
	// Messages are the last messages with their contents. They are given only
	// to a plugin whose manifest has wants_messages, and no more of them than
	// its messages_limit.
	Messages []Message `json:"messages,omitempty"`
	// Tools are the tools that the model may call.
	Tools []Tool `json:"tools,omitempty"`
	// ToolChoice is "auto" (also when empty), "none", "required", or the name
	// of the one tool that must be called.
	ToolChoice string `json:"tool_choice,omitempty"`
	// MaxTokens limits the answer; 0 means the provider's own limit.
	MaxTokens int64 `json:"max_tokens,omitempty"`
	// Temperature is given as configured; absent means the provider's default.
	Temperature *float64 `json:"temperature,omitempty"`
	// Stop are texts at which the model stops.
	Stop []string `json:"stop,omitempty"`
	// Stream asks for a streamed answer.
	Stream bool `json:"stream,omitempty"`
	// BaseURL is the endpoint's address without a slash at the end. The
	// request must go to it or below it.
	BaseURL string `json:"base_url"`
	// Options is the endpoint's options table from the config, a JSON object.
	Options Raw `json:"options,omitempty"`
}

// Tool describes a tool to the model.
type Tool struct {
	// Name is unique in the request: a-z, A-Z, 0-9, "_" and "-", at most 64.
	Name string `json:"name"`
	// Description tells the model what the tool does.
	Description string `json:"description,omitempty"`
	// InputSchema is the JSON Schema of the arguments, an object.
	InputSchema Raw `json:"input_schema"`
}

// ModelsQuery is the input of models_request.
type ModelsQuery struct {
	// BaseURL is the endpoint's address without a slash at the end.
	BaseURL string `json:"base_url"`
	// Options is the endpoint's options table from the config, a JSON object.
	Options Raw `json:"options,omitempty"`
}

// ModelList is the output of models_response.
type ModelList struct {
	// Models are the models that the endpoint offers.
	Models []Model `json:"models"`
}

// Model is one model of an endpoint.
type Model struct {
	// ID is the name to use as the model of a request.
	ID string `json:"id"`
	// Context is the size of the context window in tokens; 0 means unknown.
	Context int64 `json:"context,omitempty"`
	// Output is the most tokens of one answer; 0 means unknown.
	Output int64 `json:"output,omitempty"`
}
