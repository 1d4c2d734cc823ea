// Command gemini is the provider plugin for Google's Gemini API, and for what
// speaks the same protocol: Vertex AI and gateways. Source of what is said here
// about the protocol: ai.google.dev/api/generate-content and
// ai.google.dev/gemini-api/docs/thought-signatures.
package main

import (
	"github.com/zchost/zchost/sdk/provider"
)

// gemini is the plugin. It holds no state: every call stands for itself.
type gemini struct{}

func init() { provider.Register(gemini{}) }

func main() {}
