package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// class decides what kind of failure it is, from the HTTP status and the typed
// fields, never from the message. A status of 200 or 0 says nothing: then a
// number in the body stands for it.
func (e *apiError) class(status int64) abi.FailureClass {
	if status < 400 {
		status = e.number
	}
	// Groq's 413 says rate_limit_exceeded, but the same request never fits.
	if status == 413 {
		return abi.FailureContextOverflow
	}
	if e.flagged {
		return abi.FailureContentFiltered
	}
	words := [...]string{e.inner, e.code, e.kind, e.word}
	for _, w := range words {
		if c := wordClass(w, status); c != "" {
			return c
		}
	}
	if c := e.statusClass(status); c != "" {
		return c
	}
	for _, w := range words {
		if c := vagueClass(w); c != "" {
			return c
		}
	}
	// An error without a number after the request was accepted: the server's.
	return abi.FailureServer
}

// wordClass is the class of a word that says more than the status.
func wordClass(word string, status int64) abi.FailureClass {
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
		"permission_error", "account_deactivated", "UNAUTHENTICATED", "PERMISSION_DENIED":
		return abi.FailureAuth
	case "model_not_found", "model_not_available", "ModelNotFound",
		"DeploymentNotFound",   // Azure
		"invalid_model",        // Mistral
		"model_decommissioned": // Groq
		return abi.FailureModelNotFound
	case "not_found_error", "NotFoundError", "NOT_FOUND": // Ollama, vLLM, Gemini
		if status == 404 {
			return abi.FailureModelNotFound
		}
	case "overloaded", "overloaded_error", "model_overloaded", "server_overloaded", "slow_down", "server_is_overloaded", "UNAVAILABLE",
		"engine_overloaded", "engine_overloaded_error", // Moonshot
		"service_tier_capacity_exceeded": // Mistral
		return abi.FailureOverloaded
	case "rate_limit_exceeded", "rate_limit_error", "RateLimitError", "RateLimitReached", "RESOURCE_EXHAUSTED",
		"rate_limit_reached_error": // Moonshot
		return abi.FailureRateLimited
	}
	return ""
}

// statusClass is the class of a status, "" if it says nothing.
func (e *apiError) statusClass(status int64) abi.FailureClass {
	switch {
	case status == 404 && e.param == "model":
		return abi.FailureModelNotFound
	case status == 498: // Groq's capacity
		return abi.FailureOverloaded
	case status == 504: // of a gateway
		return abi.FailureServer
	}
	return failure.ByStatus(status)
}

// vagueClass is the class of a word that says less than a status.
func vagueClass(word string) abi.FailureClass {
	switch word {
	case "invalid_request_error", "BadRequestError", "INVALID_ARGUMENT", "FAILED_PRECONDITION",
		"validation": // TGI
		return abi.FailureInvalidRequest
	case "timeout", "timeout_error", "request_timeout", "DEADLINE_EXCEEDED":
		return abi.FailureTimeout
	}
	return ""
}
