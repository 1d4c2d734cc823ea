// Command anthropic is the provider plugin for the Messages API of Anthropic,
// and for what speaks the same protocol: Bedrock and Vertex behind a gateway,
// LiteLLM, OpenRouter, DeepSeek, Moonshot and others. Source of what is said
// here about the protocol: docs.claude.com/en/api/messages and
// docs.claude.com/en/docs/build-with-claude/streaming.
package main

import (
	"github.com/zchost/zchost/sdk/provider"
)

// messages is the plugin. It holds no state: every call stands for itself.
type messages struct{}

func init() { provider.Register(messages{}) }

func main() {}
