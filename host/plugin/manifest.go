package plugin

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
)

// Manifest is a plugin.toml that was found to be right.
type Manifest struct {
	// ABI is the version of the ABI, always abi.Version.
	ABI int `json:"abi"`
	// Kind is what the plugin is for.
	Kind abi.Kind `json:"kind"`
	// IO is how documents are passed; "extism" if the file does not say.
	IO abi.IO `json:"io"`
	// Name is a slug of a-z, 0-9 and "-", at most 64 bytes.
	Name string `json:"name"`
	// Version is the author's, at most 64 bytes without spaces, "@" and "#".
	Version string `json:"version"`
	// Description, License and Homepage are for people.
	Description string `json:"description,omitempty"`
	License     string `json:"license,omitempty"`
	Homepage    string `json:"homepage,omitempty"`
	// Capabilities are what the plugin asks for.
	Capabilities Capabilities `json:"capabilities"`
	// Config is the JSON Schema of the plugin's settings; absent if it has
	// none.
	Config json.RawMessage `json:"config,omitempty"`
	// Limits are what the plugin asks for, defaults filled in.
	Limits Limits `json:"limits"`
	// Provider, Channel and Hook hold the table of that name; nil for another
	// kind.
	Provider *Provider `json:"provider,omitempty"`
	Channel  *Channel  `json:"channel,omitempty"`
	Hook     *Hook     `json:"hook,omitempty"`
}

// Limits bound a plugin. In a manifest they are what it asks for; in a Grant
// they are the operator's caps.
type Limits struct {
	// Memory is the most memory of one instance, in MiB: 10 or more (what Go
	// and Extism's kernel need to start), default 64.
	Memory int `json:"memory_mb"`
	// CallTimeout is the longest that one call may take; default 2 s.
	CallTimeout time.Duration `json:"call_timeout_ns"`
	// Output is the largest output of one call, in bytes; default 4 MiB.
	Output int `json:"output_bytes"`
}

// Provider is the [provider] table.
type Provider struct {
	// Framing is how a streamed answer is cut into frames; default sse.
	Framing abi.Framing `json:"framing"`
	// DefaultBaseURL is the endpoint's address where the config names none.
	DefaultBaseURL string `json:"default_base_url,omitempty"`
	// IdleTimeout is the longest silence of a stream; 0 is the host's default.
	IdleTimeout time.Duration `json:"idle_timeout_ns,omitempty"`
	// EndCompletes says that the protocol has no completion signal: an answer
	// with a finish reason is whole if the body then ends as it should.
	EndCompletes bool `json:"end_completes,omitempty"`
	// WantsMessages says that ChatRequest shall hold the last messages too,
	// and MessagesLimit how many: 0 means all.
	WantsMessages bool `json:"wants_messages,omitempty"`
	MessagesLimit int  `json:"messages_limit,omitempty"`
	// ListsModels says that models_request and models_response exist.
	ListsModels bool `json:"lists_models,omitempty"`
	// Models are the models that the plugin knows of.
	Models []abi.Model `json:"models,omitempty"`
}

// Mode is how a channel receives.
type Mode string

// The modes.
const (
	ModePoll    Mode = "poll"
	ModeSocket  Mode = "socket"
	ModeWebhook Mode = "webhook"
)

// Channel is the [channel] table.
type Channel struct {
	// Modes are the ways it can receive; at least one.
	Modes []Mode `json:"mode"`
	// DefaultBaseURL is the service's address where the config names none.
	DefaultBaseURL string `json:"default_base_url,omitempty"`
	// TextLimit is the longest message in the channel's own unit; 0 is none.
	TextLimit int `json:"text_limit,omitempty"`
	// Edits, Typing, Choices and Reconcile say which optional parts exist.
	Edits     bool `json:"edits,omitempty"`
	Typing    bool `json:"typing,omitempty"`
	Choices   bool `json:"choices,omitempty"`
	Reconcile bool `json:"reconcile,omitempty"`
	// Signature is how the host verifies webhooks; nil unless Modes has
	// webhook.
	Signature *Signature `json:"signature,omitempty"`
}

// Signature is the [channel.webhook.signature] table.
type Signature struct {
	// Scheme is "hmac-sha256" or "equal".
	Scheme string `json:"scheme"`
	// Header holds the signature, after Prefix.
	Header string `json:"header"`
	Prefix string `json:"prefix,omitempty"`
	// Base is the signed text with the placeholders of the scheme.
	Base string `json:"base,omitempty"`
	// Secret is the name of the secret.
	Secret string `json:"secret"`
	// Tolerance is how old a signed time may be; 0 means that none is signed.
	Tolerance time.Duration `json:"tolerance_ns,omitempty"`
}

// Hook is the [hook] table.
type Hook struct {
	// Order is the hook's place: lower runs first, ties go by name.
	Order int `json:"order"`
}

// Bounds of a manifest.
const (
	maxManifest    = 256 << 10 // bytes of plugin.toml
	minMemory      = 10        // MiB: 160 pages
	maxMemory      = 2048      // MiB
	maxCallTimeout = 10 * time.Minute
	maxOutput      = 1 << 30
	maxModels      = 1000
)

// ParseManifest reads a plugin.toml. The error is a *LoadError with all that is
// wrong.
func ParseManifest(data []byte) (Manifest, error) {
	m, problems := parseManifest(data)
	if len(problems) > 0 {
		name := m.Name
		if name == "" {
			name = "plugin.toml"
		}
		return Manifest{}, &LoadError{Plugin: name, Problems: problems}
	}
	return m, nil
}

func parseManifest(data []byte) (Manifest, []string) {
	t, err := openTable(data)
	if err != nil {
		return Manifest{}, []string{err.Error()}
	}
	m := Manifest{
		ABI:         t.integer("abi", 0, -1<<31, 1<<31-1),
		Kind:        abi.Kind(t.oneOf("kind", "", string(abi.KindProvider), string(abi.KindChannel), string(abi.KindHook), string(abi.KindTool))),
		IO:          abi.IO(t.oneOf("io", string(abi.IOExtism), string(abi.IOExtism), string(abi.IOStdio))),
		Name:        t.text("name"),
		Version:     t.text("version"),
		Description: t.text("description"),
		License:     t.text("license"),
		Homepage:    t.text("homepage"),
	}
	t.checkIdentity(m)
	m.Capabilities = t.capabilities()
	m.Config = t.schema()
	m.Limits = t.limits()
	if p, ok := t.table("provider"); ok || m.Kind == abi.KindProvider {
		m.Provider = p.provider()
	}
	if c, ok := t.table("channel"); ok || m.Kind == abi.KindChannel {
		m.Channel = c.channel()
	}
	if h, ok := t.table("hook"); ok || m.Kind == abi.KindHook {
		m.Hook = &Hook{Order: h.integer("order", 0, -1<<31, 1<<31-1)}
		h.rest()
	}
	t.checkTables(m)
	t.rest()
	return m, t.problems()
}

func (t *table) checkIdentity(m Manifest) {
	switch {
	case !t.has("abi"):
		t.problem("abi", "is missing; this host speaks ABI %d", abi.Version)
	case m.ABI != abi.Version:
		t.problem("abi", "is %d, this host speaks ABI %d", m.ABI, abi.Version)
	}
	switch {
	case !t.has("name"):
		t.problem("name", "is missing")
	case len(m.Name) > 64 || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(m.Name):
		t.problem("name", "is %q; it is made of a-z, 0-9 and single \"-\", at most 64", m.Name)
	}
	switch {
	case !t.has("version"):
		t.problem("version", "is missing")
	case len(m.Version) > 64 || !regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_-]*$`).MatchString(m.Version):
		t.problem("version", "is %q; it is made of letters, digits and \".+_-\", at most 64", m.Version)
	}
}

// checkTables refuses the table of another kind.
func (t *table) checkTables(m Manifest) {
	for _, kind := range []abi.Kind{abi.KindProvider, abi.KindChannel, abi.KindHook} {
		if t.has(string(kind)) && m.Kind != kind && m.Kind != "" {
			t.problem(string(kind), "is a table for another kind of plugin than %q", m.Kind)
		}
	}
}

func (t *table) capabilities() Capabilities {
	c, _ := t.table("capabilities")
	defer c.rest()
	return Capabilities{
		HTTP:    c.texts("http"),
		KV:      c.boolean("kv"),
		Clock:   c.boolean("clock"),
		Random:  c.boolean("random"),
		Secrets: c.texts("secrets"),
		Tools:   c.texts("tools"),
	}
}

func (t *table) limits() Limits {
	l, _ := t.table("limits")
	defer l.rest()
	return Limits{
		Memory:      l.integer("memory_mb", 64, minMemory, maxMemory),
		CallTimeout: l.millis("call_timeout_ms", 2*time.Second, time.Millisecond, maxCallTimeout),
		Output:      l.integer("output_bytes", 4<<20, 1, maxOutput),
	}
}

func (t *table) provider() *Provider {
	defer t.rest()
	p := &Provider{
		Framing:        abi.Framing(t.oneOf("framing", string(abi.FramingSSE), string(abi.FramingSSE), string(abi.FramingNDJSON))),
		DefaultBaseURL: t.baseURL("default_base_url"),
		IdleTimeout:    t.millis("idle_timeout_ms", 0, 0, 24*time.Hour),
		EndCompletes:   t.boolean("end_completes"),
		WantsMessages:  t.boolean("wants_messages"),
		MessagesLimit:  t.integer("messages_limit", 0, 0, 1<<20),
		ListsModels:    t.boolean("lists_models"),
	}
	for _, m := range t.tables("models", maxModels) {
		if !m.has("id") {
			m.problem("id", "is missing")
		}
		p.Models = append(p.Models, abi.Model{
			ID:      m.text("id"),
			Context: int64(m.integer("context", 0, 0, 1<<31-1)),
			Output:  int64(m.integer("output", 0, 0, 1<<31-1)),
		})
		m.rest()
	}
	return p
}

func (t *table) channel() *Channel {
	defer t.rest()
	c := &Channel{
		DefaultBaseURL: t.baseURL("default_base_url"),
		TextLimit:      t.integer("text_limit", 0, 0, 1<<31-1),
		Edits:          t.boolean("edits"),
		Typing:         t.boolean("typing"),
		Choices:        t.boolean("choices"),
		Reconcile:      t.boolean("reconcile"),
	}
	for _, mode := range t.texts("mode") {
		switch m := Mode(mode); {
		case m != ModePoll && m != ModeSocket && m != ModeWebhook:
			t.problem("mode", "has %q; the modes are poll, socket and webhook", mode)
		case slices.Contains(c.Modes, m):
			t.problem("mode", "has %q twice", mode)
		default:
			c.Modes = append(c.Modes, m)
		}
	}
	if !t.has("mode") {
		t.problem("mode", "is missing")
	}
	w, _ := t.table("webhook")
	s, signed := w.table("signature")
	switch webhook := slices.Contains(c.Modes, ModeWebhook); {
	case webhook && !signed:
		w.problem("signature", "is missing; a webhook without one is not received")
	case signed:
		c.Signature = s.signature()
	}
	w.rest()
	return c
}

func (t *table) signature() *Signature {
	defer t.rest()
	s := &Signature{
		Scheme:    t.oneOf("scheme", "", "hmac-sha256", "equal"),
		Header:    t.text("header"),
		Prefix:    t.text("prefix"),
		Base:      t.text("base"),
		Secret:    t.text("secret"),
		Tolerance: t.millis("tolerance_ms", 0, 0, 24*time.Hour),
	}
	for _, key := range []string{"header", "secret"} {
		if !t.has(key) {
			t.problem(key, "is missing")
		}
	}
	if s.Scheme == "hmac-sha256" && s.Base == "" {
		t.problem("base", "is missing; it is the text that is signed")
	}
	return s
}

func (t *table) baseURL(key string) string {
	text := t.text(key)
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		t.problem(key, "is %q; it is an http or https address without user, query and fragment", text)
	}
	return strings.TrimRight(text, "/")
}
