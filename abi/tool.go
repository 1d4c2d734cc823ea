package abi

// Effect says what a call of a tool changes outside. It decides what may run
// side by side, what needs an approval, and what recovery may repeat.
type Effect string

// The effects.
const (
	// EffectNone is a tool that only computes.
	EffectNone Effect = "none"
	// EffectRead is a tool that reads from the world and changes nothing.
	EffectRead Effect = "read"
	// EffectWrite is a tool that changes something. A call is never run twice.
	EffectWrite Effect = "write"
)

// ToolsQuery is the input of tools.
type ToolsQuery struct {
	// Options are the plugin's settings from the host's config, a JSON object.
	Options Raw `json:"options,omitempty"`
}

// ToolList is the output of tools.
type ToolList struct {
	// Tools are the tools that the plugin offers; at least one.
	Tools []ToolSpec `json:"tools"`
}

// ToolSpec describes one tool of a plugin.
type ToolSpec struct {
	// Name is unique in the plugin: a-z, A-Z, 0-9, "_" and "-", at most 64.
	Name string `json:"name"`
	// Description tells the model what the tool does.
	Description string `json:"description,omitempty"`
	// InputSchema is the JSON Schema of the arguments, an object.
	InputSchema Raw `json:"input_schema"`
	// Effect is what a call changes.
	Effect Effect `json:"effect"`
}

// ToolCall is the input of call.
type ToolCall struct {
	// ID is the host's own id of the call, unique for ever.
	ID string `json:"id"`
	// Name is the tool's name.
	Name string `json:"name"`
	// Arguments are valid by the tool's input schema: a JSON object.
	Arguments Raw `json:"arguments"`
	// Options are the plugin's settings from the host's config, a JSON object.
	Options Raw `json:"options,omitempty"`
}

// ToolResult is the output of call.
type ToolResult struct {
	// Content is what the model gets to read.
	Content string `json:"content"`
	// IsError says that the call failed, for a reason that Content tells the
	// model.
	IsError bool `json:"is_error,omitempty"`
}
