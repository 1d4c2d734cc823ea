// Command openai-responses is the provider plugin for the Responses API of
// OpenAI, and for what speaks the same protocol: Azure, xAI, OpenRouter, vLLM,
// LM Studio and others. Source of what is said here about the protocol:
// platform.openai.com/docs/api-reference/responses.
//
// Nothing is kept at the provider (store is false): the whole conversation goes
// with each request, reasoning encrypted.
package main

import (
	"github.com/zchost/zchost/sdk/provider"
)

// responses is the plugin. It holds no state: every call stands for itself.
type responses struct{}

func init() { provider.Register(responses{}) }

func main() {}
