// Command ollama is the provider plugin for Ollama's own API, on this machine,
// on another, or in its cloud. The API can do what its compatible endpoints
// cannot: the size of the context, how long a model stays loaded, and thinking.
package main

import (
	"github.com/zchost/zchost/sdk/provider"
)

// chat is the plugin. It holds no state: every call stands for itself.
type chat struct{}

func init() { provider.Register(chat{}) }

func main() {}
