package abi

// HTTPRequest says which request the host shall send. A secret is named by the
// placeholder {{secret:NAME}} in a header value, a query value or a path
// segment; the host puts it in after it has checked the destination.
//
// The answer to a chat_request holds either a request or a Script.
type HTTPRequest struct {
	// Method is the HTTP method; empty means POST.
	Method string `json:"method,omitempty"`
	// URL is absolute: at or below the endpoint's base_url, or, for the host
	// function http, at a host of the capability.
	URL string `json:"url,omitempty"`
	// Headers are the header fields; their order is not kept. Host,
	// Content-Length, Connection, Transfer-Encoding and Accept-Encoding are the
	// host's and refused here.
	Headers []Header `json:"headers,omitempty"`
	// Body is the body. In the answer to chat_request it holds the JSON string
	// "{{messages}}" exactly once, as an element of an array: the host puts the
	// fragments, with commas between them, in its place.
	Body string `json:"body,omitempty"`
	// Script, in the answer to chat_request, is played by the host in place of
	// sending a request.
	Script *Script `json:"script,omitempty"`
}

// Header is one header field.
type Header struct {
	// Name is the field's name, in any case.
	Name string `json:"name"`
	// Value is the field's value.
	Value string `json:"value"`
}

// HTTPResponse is a whole response, with known secrets already removed.
type HTTPResponse struct {
	// Status is the HTTP status code.
	Status int64 `json:"status"`
	// Headers are the response's headers; names are in lower case.
	Headers []Header `json:"headers,omitempty"`
	// Body is the decoded body as text, cut at 8 MiB. Bytes that are not UTF-8
	// are replaced by U+FFFD.
	Body string `json:"body,omitempty"`
	// URL is the address that the request went to, without its query.
	URL string `json:"url,omitempty"`
	// Failure, in what the host function http gives, says why there is no
	// response; the status is then 0.
	Failure *Failure `json:"failure,omitempty"`
}

// Header returns the value of the first header with that name, which is in
// lower case, or "".
func (r *HTTPResponse) Header(name string) string {
	for _, h := range r.Headers {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

// ScriptEnd says how a Script ends.
type ScriptEnd string

const (
	// ScriptEndClean ends the body as a server does that is done.
	ScriptEndClean ScriptEnd = "end"
	// ScriptEndCut breaks the connection.
	ScriptEndCut ScriptEnd = "cut"
	// ScriptEndSilence keeps the connection open and sends nothing more.
	ScriptEndSilence ScriptEnd = "silence"
)

// Script is a response that the host plays without a network, through the same
// framing and clocks as a real one.
type Script struct {
	// Status is the HTTP status code; 0 means 200.
	Status int64 `json:"status,omitempty"`
	// Headers are the response's headers.
	Headers []Header `json:"headers,omitempty"`
	// Pieces are the parts of the body in order.
	Pieces []Piece `json:"pieces,omitempty"`
	// End says what happens after the last piece; empty means "end".
	End ScriptEnd `json:"end,omitempty"`
}

// Piece is a part of a scripted body.
type Piece struct {
	// DelayMS is the wait before the piece, in milliseconds.
	DelayMS int64 `json:"delay_ms,omitempty"`
	// Data is sent as it is.
	Data string `json:"data"`
}
