package openai

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// Response says why a response is no answer: the method Error of a provider. where,
// which tells what is most often wrong with the address, goes behind the message if
// that may be the reason.
func (d *Dialect) Response(r abi.HTTPResponse, where string) abi.Failure {
	e, ok := d.Read([]byte(r.Body))
	f := d.Failure(&e, r.Status)
	f.Status = r.Status
	if ms := Milliseconds(r.Header("retry-after-ms"), 1); ms > 0 { // OpenAI, Azure
		f.RetryAfterMS = ms
	}
	if !ok {
		f.Message = failure.UnexpectedBody(&r)
	}
	if !ok || r.Status < 400 || r.Status == 404 || r.Status == 405 {
		f.Message += " (" + where + ")"
	}
	return f
}

// Failure is the error as a failure of the ABI. status is that of the response, and
// 0 for a frame of a stream. The message may be empty if Read returned false.
func (d *Dialect) Failure(e *Error, status int64) abi.Failure {
	f := abi.Failure{Class: d.Class(e, status), Message: e.Message, Code: e.Code, RetryAfterMS: e.RetryMS}
	for _, word := range []string{e.Word, e.Kind, e.Inner} {
		if f.Code == "" {
			f.Code = word
		}
	}
	if f.Message == "" {
		f.Message = f.Code
	}
	if e.Raw != "" {
		f.Message += ": " + e.Raw
	}
	if e.Number >= 400 && e.Number < 600 {
		f.Status = e.Number
	}
	return f
}

// Class decides what kind of failure it is, from the HTTP status and the typed
// fields, never from the message. A status of 200 or 0 says nothing: then a
// number in the body stands for it.
func (d *Dialect) Class(e *Error, status int64) abi.FailureClass {
	if status < 400 {
		status = e.Number
	}
	// Groq's 413 says rate_limit_exceeded, but the same request never fits.
	if status == 413 {
		return abi.FailureContextOverflow
	}
	if e.Flagged {
		return abi.FailureContentFiltered
	}
	words := [...]string{e.Inner, e.Code, e.Kind, e.Word}
	for _, w := range words {
		if c := d.sure(w, status); c != "" {
			return c
		}
	}
	if c := e.statusClass(status); c != "" {
		return c
	}
	for _, w := range words {
		if c := d.vague(w); c != "" {
			return c
		}
	}
	// An error without a number after the request was accepted: the server's.
	return abi.FailureServer
}

// sure is the class of a word that says more than the status.
func (d *Dialect) sure(word string, status int64) abi.FailureClass {
	if d.Sure != nil {
		if c := d.Sure(word, status); c != "" {
			return c
		}
	}
	switch word {
	case "context_length_exceeded", "context_window_exceeded", "ContextWindowExceededError",
		"exceed_context_size_error", // llama.cpp
		"request_too_large":
		return abi.FailureContextOverflow
	case "content_filter", "content_policy_violation", "ContentPolicyViolationError",
		"ResponsibleAIPolicyViolation", // Azure
		"invalid_prompt",               // OpenAI: flagged by the usage policy
		"data_inspection_failed":       // Alibaba
		return abi.FailureContentFiltered
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_credits",
		"exceeded_current_quota_error", // Moonshot
		"insufficient_balance",
		"Arrearage": // Alibaba
		return abi.FailureQuota
	case "invalid_api_key", "authentication_error", "invalid_authentication_error", "AuthenticationError",
		"permission_error", "account_deactivated":
		return abi.FailureAuth
	case "model_not_found", "model_not_available", "ModelNotFound",
		"DeploymentNotFound",   // Azure
		"invalid_model",        // Mistral
		"model_decommissioned": // Groq
		return abi.FailureModelNotFound
	case "not_found_error", "NotFoundError": // Ollama, vLLM
		if status == 404 {
			return abi.FailureModelNotFound
		}
	case "overloaded", "overloaded_error", "model_overloaded", "server_overloaded", "slow_down", "server_is_overloaded",
		"engine_overloaded", "engine_overloaded_error", // Moonshot
		"service_tier_capacity_exceeded": // Mistral
		return abi.FailureOverloaded
	case "rate_limit_exceeded", "rate_limit_error", "RateLimitError", "RateLimitReached",
		"rate_limit_reached_error": // Moonshot
		return abi.FailureRateLimited
	}
	return ""
}

// statusClass is the class of a status, "" if it says nothing.
func (e *Error) statusClass(status int64) abi.FailureClass {
	switch {
	case status == 404 && e.Param == "model":
		return abi.FailureModelNotFound
	case status == 498: // Groq's capacity
		return abi.FailureOverloaded
	case status == 504: // of a gateway
		return abi.FailureServer
	}
	return failure.ByStatus(status)
}

// vague is the class of a word that says less than a status.
func (d *Dialect) vague(word string) abi.FailureClass {
	if d.Vague != nil {
		if c := d.Vague(word); c != "" {
			return c
		}
	}
	switch word {
	case "invalid_request_error", "BadRequestError":
		return abi.FailureInvalidRequest
	case "timeout", "timeout_error", "request_timeout":
		return abi.FailureTimeout
	}
	return ""
}
