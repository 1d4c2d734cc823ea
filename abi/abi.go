// Package abi holds the data that crosses the sandbox boundary between the
// host and a plugin: the documents that exports take and return, and the names
// of the exports.
//
// The same package is compiled into the host and into every guest, so it
// imports nothing outside the standard library, and its encoding uses no
// reflection: the methods AppendJSON and DecodeJSON of every document are
// generated from the struct tags (see internal/gen). Both sides ignore fields
// that they do not know. JSON is UTF-8, times are Unix milliseconds, durations
// are milliseconds, sizes are bytes.
//
// docs/abi.md is generated from these types and their comments, so that a
// plugin can be written in another language from that page alone.
package abi

//go:generate go run ./internal/gen

// Version is the number of this ABI. A plugin names it as `abi` in its
// plugin.toml; a host refuses another number.
const Version = 1

// Kind is what a plugin is for: `kind` in plugin.toml.
type Kind string

// The kinds of plugin.
const (
	KindProvider Kind = "provider"
	KindChannel  Kind = "channel"
	KindHook     Kind = "hook"
	KindTool     Kind = "tool"
)

// IO is how an export receives its input and gives its output: `io` in
// plugin.toml.
type IO string

const (
	// IOExtism passes documents as Extism input and output. The default.
	IOExtism IO = "extism"
	// IOStdio passes documents on WASI's stdin and stdout: the input ends
	// with end of file, and all that was written when the export returns is
	// the output.
	IOStdio IO = "stdio"
)

// Framing is how the body of a streamed answer is cut into frames by the host:
// `framing` in the [provider] table of plugin.toml.
type Framing string

const (
	// FramingSSE is server-sent events (WHATWG HTML, section 9.2).
	FramingSSE Framing = "sse"
	// FramingNDJSON is one JSON value a line.
	FramingNDJSON Framing = "ndjson"
)

// Exports of a provider plugin. Each takes no parameters and returns an i32:
// zero for success. Another value, or a trap, is a plugin failure.
const (
	// ExportChatMessages takes ChatMessages and returns ChatFragments.
	ExportChatMessages = "chat_messages"
	// ExportChatRequest takes ChatRequest and returns HTTPRequest.
	ExportChatRequest = "chat_request"
	// ExportChatEvents takes and returns a JSON text sequence (RFC 7464): see
	// EventsHeader.
	ExportChatEvents = "chat_events"
	// ExportChatResponse takes HTTPResponse and returns ChatEvents.
	ExportChatResponse = "chat_response"
	// ExportChatError takes HTTPResponse and returns Failure.
	ExportChatError = "chat_error"
	// ExportModelsRequest is optional; it takes ModelsQuery and returns
	// HTTPRequest.
	ExportModelsRequest = "models_request"
	// ExportModelsResponse is optional; it takes HTTPResponse and returns
	// ModelList.
	ExportModelsResponse = "models_response"
)

// Exports of a tool plugin.
const (
	// ExportTools takes ToolsQuery and returns ToolList.
	ExportTools = "tools"
	// ExportCall takes ToolCall and returns ToolResult.
	ExportCall = "call"
)

// Functions of the host that a plugin may import from HostModule, beside now and
// random. They need the capability http.
const (
	// HostModule is the module name of the host's functions.
	HostModule = "zchost:host/v1"
	// HostHTTP sends an HTTPRequest and gives an HTTPResponse.
	HostHTTP = "http"
	// HostHTTPResult copies what HostHTTP has given; with stdio only.
	HostHTTPResult = "http_result"
)

// Sizes that both sides keep to.
const (
	// MaxState is the largest State of an EventsHeader, in bytes.
	MaxState = 256 << 10
	// MaxToolCalls is the most tool calls in one response.
	MaxToolCalls = 128
	// MaxToolArguments is the most arguments of one tool call, in bytes.
	MaxToolArguments = 1 << 20
	// MaxTools is the most tools that a plugin offers.
	MaxTools = 128
	// MaxCallRequests is the most requests that one call sends with HostHTTP.
	MaxCallRequests = 32
)
