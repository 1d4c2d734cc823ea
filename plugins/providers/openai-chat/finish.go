package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
)

// finishReason translates finish_reason. A reason that means that the server
// failed has a class instead (C146).
func finishReason(raw string) (abi.FinishReason, abi.FailureClass) {
	switch strings.ToLower(raw) {
	case "stop", "end_turn", "stop_sequence":
		return abi.FinishStop, ""
	case "length", "max_tokens", "max_output_tokens",
		"model_length",                  // Mistral
		"model_context_window_exceeded": // Zhipu
		return abi.FinishLength, ""
	case "tool_calls", "tool_use",
		"function_call": // the API's first version
		return abi.FinishToolCalls, ""
	case "content_filter", "content_filtered", "safety",
		"sensitive": // Zhipu
		return abi.FinishContentFilter, ""
	case "refusal":
		return abi.FinishRefusal, ""
	case "pause", "pause_turn":
		return abi.FinishPause, ""
	case "insufficient_system_resource": // DeepSeek
		return "", abi.FailureOverloaded
	case "error", // OpenRouter, vLLM
		"network_error",           // Zhipu
		"abort",                   // vLLM, when its engine goes down
		"malformed_function_call": // Gemini
		return "", abi.FailureServer
	}
	return abi.FinishUnknown, ""
}
