package config

import (
	"cmp"
	"maps"
	"net"
	"slices"
	"strings"
)

// The names of what works without a config.
const (
	// MainAgent is the agent that is there when the config has none.
	MainAgent = "main"
	// DemoName is the built-in profile, its provider and its plugin, which
	// need neither network nor key. The profile is there when an agent asks
	// for it.
	DemoName = "demo"
)

// Known is a vendor whose key is recognised in the environment.
type Known struct {
	// Env is the variable that holds the key.
	Env string
	// Provider is the name of its [providers.NAME] table.
	Provider string
	// Plugin speaks its protocol.
	Plugin string
	// BaseURL is its address.
	BaseURL string
	// Model is a model that most accounts have, for a first config.
	Model string
}

// serves reports whether a provider is the vendor's own endpoint.
func (k Known) serves(p Provider) bool {
	return p.Plugin == k.Plugin && (p.BaseURL == "" || strings.TrimRight(p.BaseURL, "/") == k.BaseURL)
}

// vendors returns everything that is recognised.
func vendors() []Known {
	return []Known{
		{Env: "OPENAI_API_KEY", Provider: "openai", Plugin: "openai-chat", BaseURL: "https://api.openai.com/v1", Model: "gpt-5-mini"},
		{Env: "ANTHROPIC_API_KEY", Provider: "anthropic", Plugin: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-sonnet-4-5"},
		{Env: "GEMINI_API_KEY", Provider: "gemini", Plugin: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta", Model: "gemini-2.5-flash"},
	}
}

// Recognised returns the vendors whose keys are set in an environment.
func Recognised(environ []string) []Known {
	var list []Known
	for _, k := range vendors() {
		if env(environ).get(k.Env) != "" {
			list = append(list, k)
		}
	}
	return list
}

// ollamaURL is where Ollama listens if it is not told otherwise.
const ollamaURL = "http://127.0.0.1:11434"

// OllamaURL returns where an Ollama would listen: what OLLAMA_HOST says, as
// Ollama's own programs read it, else its usual port on this machine.
func OllamaURL(environ []string) string {
	host := strings.TrimRight(env(environ).get("OLLAMA_HOST"), "/")
	if msg, _ := checkURL(host); host != "" && msg == "" {
		return host
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "11434"
	}
	if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() {
		name = "127.0.0.1"
	}
	address := net.JoinHostPort(name, port)
	if !isHost(address) {
		return ollamaURL
	}
	return "http://" + address
}

// env is an environment as os.Environ returns it.
type env []string

func (e env) get(name string) string {
	for _, v := range slices.Backward(e) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// fill puts in what the operator left out and what follows from the rest: the
// main agent, its profile, the demo profile and recognised vendors where they
// are named, keys of recognised vendors.
func (c *Config) fill(environ env) {
	c.Log.Level = cmp.Or(c.Log.Level, "warn")
	c.Log.Format = cmp.Or(c.Log.Format, "text")
	if len(c.Agents) == 0 {
		c.Agents = map[string]Agent{MainAgent: {}}
		if len(c.Models) == 0 { // the demo shows what a tool is, with two that only read
			c.Agents[MainAgent] = Agent{Tools: []string{"list_dir", "read_file"}}
		}
	}
	for name, a := range c.Agents {
		if a.Model == "" {
			a.Model = c.onlyProfile()
			c.Agents[name] = a
		}
	}
	if _, ok := c.Models[DemoName]; !ok && c.wants(DemoName) {
		put(&c.Models, DemoName, Model{Provider: DemoName, Model: DemoName})
	}
	for _, m := range c.Models {
		if _, ok := c.Providers[m.Provider]; ok {
			continue
		}
		if m.Provider == DemoName {
			put(&c.Providers, DemoName, Provider{Plugin: DemoName})
		}
		for _, k := range Recognised(environ) {
			if m.Provider == k.Provider {
				put(&c.Providers, k.Provider, Provider{Plugin: k.Plugin, BaseURL: k.BaseURL})
			}
		}
	}
	for _, k := range Recognised(environ) {
		for name, p := range c.Providers {
			if k.serves(p) && p.APIKeys == nil {
				p.APIKeys = []string{"env:" + k.Env}
				c.Providers[name] = p
			}
		}
	}
}

// onlyProfile is the profile of an agent that names none.
func (c *Config) onlyProfile() string {
	switch len(c.Models) {
	case 0:
		return DemoName
	case 1:
		return slices.Collect(maps.Keys(c.Models))[0]
	}
	return ""
}

// wants reports whether an agent or a profile names a profile.
func (c *Config) wants(profile string) bool {
	for _, a := range c.Agents {
		if a.Model == profile {
			return true
		}
	}
	for _, m := range c.Models {
		if slices.Contains(m.Fallback, profile) {
			return true
		}
	}
	return false
}

func put[T any](m *map[string]T, key string, value T) {
	if *m == nil {
		*m = map[string]T{}
	}
	(*m)[key] = value
}

// isLater reports whether a table belongs to a part of zchost that this
// version does not have.
func isLater(key string) bool {
	switch key {
	case "channels", "hooks", "gateway", "cron", "tasks", "metrics", "queue", "recovery", "delivery":
		return true
	}
	return false
}
