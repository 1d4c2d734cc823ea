package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// tooLong is how the message begins that says that the prompt is too long. It
// is INVALID_ARGUMENT like any other mistake, and nothing else tells it apart;
// without it a conversation that has become too long could not be shortened.
const tooLong = "The input token count"

// class decides what kind of failure it is, from the HTTP status and the typed
// fields, and but for tooLong never from the message. A status of 200 or 0 says
// nothing: then a number in the body stands for it.
func (e *apiError) class(status int64) abi.FailureClass {
	if status < 400 {
		status = e.number
	}
	if status == 413 {
		return abi.FailureContextOverflow
	}
	if status == 400 && e.word == "INVALID_ARGUMENT" && strings.HasPrefix(e.message, tooLong) {
		return abi.FailureContextOverflow
	}
	if c := reasonClass(e.reason); c != "" {
		return c
	}
	for _, w := range [...]string{e.word, e.code} {
		if c := e.wordClass(w, status); c != "" {
			return c
		}
	}
	if c := e.statusClass(status); c != "" {
		return c
	}
	// An error without a number after the request was accepted: the server's.
	return abi.FailureServer
}

// reasonClass is the class of the reason in a google.rpc.ErrorInfo. A wrong key
// has the status 400 and says only there that it is wrong.
func reasonClass(reason string) abi.FailureClass {
	switch reason {
	case "API_KEY_INVALID", "API_KEY_EXPIRED", "API_KEY_SERVICE_BLOCKED", "API_KEY_HTTP_REFERRER_BLOCKED",
		"API_KEY_IP_ADDRESS_BLOCKED", "API_KEY_ANDROID_APP_BLOCKED", "API_KEY_IOS_APP_BLOCKED",
		"ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_TYPE_UNSUPPORTED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
		"CREDENTIALS_MISSING", "ACCOUNT_STATE_INVALID",
		"SERVICE_DISABLED", "CONSUMER_SUSPENDED", "CONSUMER_INVALID", "IAM_PERMISSION_DENIED":
		return abi.FailureAuth
	case "BILLING_DISABLED":
		return abi.FailureQuota
	}
	return ""
}

// wordClass is the class of a canonical code of google.rpc.
func (e *apiError) wordClass(word string, status int64) abi.FailureClass {
	switch word {
	case "RESOURCE_EXHAUSTED":
		if e.exceeded {
			return abi.FailureQuota
		}
		return abi.FailureRateLimited
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return abi.FailureAuth
	case "NOT_FOUND":
		if status == 404 {
			return abi.FailureModelNotFound
		}
	case "UNAVAILABLE":
		return abi.FailureOverloaded
	case "DEADLINE_EXCEEDED":
		return abi.FailureTimeout
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "UNIMPLEMENTED":
		if status == 0 {
			return abi.FailureInvalidRequest
		}
	}
	return ""
}

// statusClass is the class of a status, "" if it says nothing.
func (e *apiError) statusClass(status int64) abi.FailureClass {
	switch {
	case status == 429 && e.exceeded:
		return abi.FailureQuota
	case status == 499: // CANCELLED, aborted by the server
		return abi.FailureServer
	}
	return failure.ByStatus(status)
}
