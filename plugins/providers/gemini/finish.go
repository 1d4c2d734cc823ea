package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
)

// unspecified is protobuf's zero of the enum: no reason.
const unspecified = "FINISH_REASON_UNSPECIFIED"

// finishReason translates finishReason. STOP is also said of an answer that
// calls tools.
//
// MALFORMED_FUNCTION_CALL, UNEXPECTED_TOOL_CALL, MALFORMED_RESPONSE and the like
// are mistakes of the model, and LANGUAGE and OTHER say little: they stay unknown
// and verbatim, so that an answer without text counts as empty and is asked for
// once more (C048, REL-5).
func finishReason(raw string, calls bool) abi.FinishReason {
	switch strings.ToUpper(raw) {
	case "STOP":
		if calls {
			return abi.FinishToolCalls
		}
		return abi.FinishStop
	case "FUNCTION_CALL": // some gateway's
		return abi.FinishToolCalls
	case "MAX_TOKENS":
		return abi.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
		"MODEL_ARMOR": // Vertex AI
		return abi.FinishContentFilter
	}
	return abi.FinishUnknown
}

// malformed tells whether a finishReason says that the calls before it are not
// what the model meant: none of them may run.
func malformed(raw string) bool {
	switch strings.ToUpper(raw) {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		return true
	}
	return false
}
