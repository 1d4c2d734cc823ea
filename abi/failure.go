package abi

// FailureClass says what kind of failure it was, and so what the host does
// about it (REL-7).
type FailureClass string

// The classes. A plugin takes a class from the status, the headers and typed
// fields of the body, never from a word found somewhere in a text. Network,
// Truncated and Timeout are mostly the host's own findings.
const (
	FailureOverloaded      FailureClass = "overloaded"
	FailureRateLimited     FailureClass = "rate_limited"
	FailureServer          FailureClass = "server"
	FailureTimeout         FailureClass = "timeout"
	FailureNetwork         FailureClass = "network"
	FailureTruncated       FailureClass = "truncated"
	FailureAuth            FailureClass = "auth"
	FailureQuota           FailureClass = "quota"
	FailureInvalidRequest  FailureClass = "invalid_request"
	FailureContextOverflow FailureClass = "context_overflow"
	FailureContentFiltered FailureClass = "content_filtered"
	FailureModelNotFound   FailureClass = "model_not_found"
	FailurePlugin          FailureClass = "plugin"
	FailureUnknown         FailureClass = "unknown"
)

// Failure is why a request to a model did not give an answer. It is the output
// of chat_error.
type Failure struct {
	// Class decides what happens next.
	Class FailureClass `json:"class"`
	// Message is for a person; the host cuts it at 500 characters.
	Message string `json:"message,omitempty"`
	// Status is the HTTP status code, 0 if there was none.
	Status int64 `json:"status,omitempty"`
	// RetryAfterMS is how long the provider asks to wait, 0 if it does not
	// say. The host itself reads the Retry-After header; this is for protocols
	// that say it in the body.
	RetryAfterMS int64 `json:"retry_after_ms,omitempty"`
	// Code is the provider's own code for the error.
	Code string `json:"code,omitempty"`
}

// Error tells the class and the message, so that a *Failure is an error.
func (f *Failure) Error() string {
	if f.Message == "" {
		return string(f.Class)
	}
	return string(f.Class) + ": " + f.Message
}
