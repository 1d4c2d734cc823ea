package abi

// FailureClass says what kind of failure it was, and so what the host does
// about it (REL-7).
type FailureClass string

// The classes. A plugin takes a class from the status, the headers and typed
// fields of the body, never from a word found somewhere in a text. Network,
// Truncated and Timeout are mostly the host's own findings.
const (
	// FailureOverloaded is a provider that has too much to do (503, 529). The
	// request is tried again after at least 2 s.
	FailureOverloaded FailureClass = "overloaded"
	// FailureRateLimited is a key that asked too often (429). It is tried again
	// after the wait that was asked for, with another key if there is one.
	FailureRateLimited FailureClass = "rate_limited"
	// FailureServer is an error or nonsense from the server (other 5xx, an answer
	// that cannot be read). It is tried again.
	FailureServer FailureClass = "server"
	// FailureTimeout is a server that says it took too long (408, 504), or one of
	// the host's clocks. It is tried again.
	FailureTimeout FailureClass = "timeout"
	// FailureNetwork is a connection that could not be made or broke before the
	// response. It is tried again.
	FailureNetwork FailureClass = "network"
	// FailureTruncated is an answer that ended before its completion signal. It
	// is tried again.
	FailureTruncated FailureClass = "truncated"
	// FailureAuth is a key that is not accepted (401, 403). The next key is
	// tried, else the next candidate.
	FailureAuth FailureClass = "auth"
	// FailureQuota is an account without credit or over its budget (402, or a
	// typed code). The next key is tried, else the next candidate.
	FailureQuota FailureClass = "quota"
	// FailureInvalidRequest is a request that is wrong as it is (400, 422). The
	// next candidate is tried at once.
	FailureInvalidRequest FailureClass = "invalid_request"
	// FailureContextOverflow is a prompt that is longer than the model's window.
	FailureContextOverflow FailureClass = "context_overflow"
	// FailureContentFiltered is a prompt or an answer that the provider refuses
	// to handle. The next candidate is tried at once.
	FailureContentFiltered FailureClass = "content_filtered"
	// FailureModelNotFound is a model that the endpoint does not have (404 with a
	// typed code). The next candidate is tried at once.
	FailureModelNotFound FailureClass = "model_not_found"
	// FailurePlugin is a plugin that failed. The host gives it; a plugin has no
	// use for it.
	FailurePlugin FailureClass = "plugin"
	// FailureUnknown is what fits nowhere else.
	FailureUnknown FailureClass = "unknown"
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
