// Command openai-chat is the provider plugin for everything that speaks the
// chat completions API of OpenAI: OpenAI itself, Azure, OpenRouter, Groq,
// DeepSeek, Mistral, vLLM, llama.cpp, LM Studio, Ollama and many gateways. They
// agree on the outline and differ in the details; what is known of the details
// is in the comments where it is handled.
package main

import (
	"github.com/zchost/zchost/sdk/provider"
)

// chat is the plugin. It holds no state: every call stands for itself.
type chat struct{}

func init() { provider.Register(chat{}) }

func main() {}
