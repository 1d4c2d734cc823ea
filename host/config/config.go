// Package config reads what the operator wants: a TOML file, overridden key by
// key from the environment, checked as a whole. All mistakes come back in one
// error, each with its place and what to do about it.
//
// The structs below are the single source: decoder, environment, JSON Schema,
// `config show` and docs/config.md all follow their tags. The tag toml is the
// key, doc what it does, default its value when nothing is set, range and enum
// what is accepted (lengths of texts, numbers, durations), ref the table whose
// names it takes, and secret marks references to secrets.
package config

import (
	"encoding/json"
	"time"
)

// Config is the effective configuration: file, environment and defaults
// together.
type Config struct {
	Agents      map[string]Agent    `toml:"agents" doc:"Who answers: each agent is a system prompt on a profile."`
	Models      map[string]Model    `toml:"models" doc:"Profiles: which model to ask, and which others when it fails."`
	Providers   map[string]Provider `toml:"providers" doc:"Endpoints that serve models."`
	Tools       map[string]Tool     `toml:"tools" doc:"Tool plugins, and what each may do. An agent has one if its tools name it, as \"plugin:NAME\"."`
	MCP         map[string]MCP      `toml:"mcp" names:"server" doc:"MCP servers, whose tools an agent has if its tools name the server, as \"mcp:NAME\", or one tool of it, as \"mcp:NAME/TOOL\". A NAME begins the names of its tools, so it has letters, digits, \"-\" and \"_\" alone, at most 32."`
	Shell       Shell               `toml:"shell" doc:"The tool shell, for the agents that have it."`
	Fetch       Fetch               `toml:"fetch" doc:"The tool fetch_url, for the agents that have it."`
	Cost        Cost                `toml:"cost" doc:"What may be spent, and what tokens cost. Amounts are exact decimal numbers: 0.075, 3, 1.25."`
	Reliability Reliability         `toml:"reliability" doc:"Retries and clocks for all providers and profiles; each key can be set in a [providers.NAME] or [models.NAME] table too, and the narrowest wins (REL-9)."`
	Log         Log                 `toml:"log" doc:"What the host writes about itself."`

	file    string
	dir     string // where relative paths begin
	home    string
	origins map[string]Origin
}

// Agent is one [agents.NAME] table.
type Agent struct {
	Model       string   `toml:"model" ref:"models" doc:"The profile that it asks. Needed when there are several."`
	System      string   `toml:"system" doc:"The system prompt." range:"0..262144"`
	SystemFile  string   `toml:"system_file" doc:"A file that holds the system prompt, in place of system; relative to the directory of the config file." range:"1..4096"`
	Locale      string   `toml:"locale" doc:"The language of markers and notices, as en or pt-BR; without it the reader's." range:"1..64"`
	MaxTokens   int64    `toml:"max_tokens" doc:"The most tokens of an answer; 0 leaves it to the provider. A profile's own value goes before it." default:"0" range:"0..100000000"`
	Temperature *float64 `toml:"temperature" doc:"The sampling temperature; without it the provider's. A profile's own value goes before it." range:"0..2"`

	Tools           []string      `toml:"tools" doc:"The tools that it has, and no others: read_file, list_dir, search_files, write_file, edit_file, shell, fetch_url, \"mcp:NAME\", \"mcp:NAME/TOOL\", \"plugin:NAME\", \"plugin:NAME/TOOL\"." range:"1..256"`
	Approve         Approve       `toml:"approve" doc:"Which calls of tools ask a person first: those that may change something, all, or none." default:"write" enum:"write|always|never"`
	ApprovalTimeout time.Duration `toml:"approval_timeout" doc:"How long a person is waited for; after that the call is refused." default:"5m" range:"1s..24h"`
	Workspace       string        `toml:"workspace" doc:"The directory that file tools and the shell work in, and none above it; relative to the directory of the config file. Without it workspace/AGENT in the home directory." range:"1..4096"`
	MaxIterations   int64         `toml:"max_iterations" doc:"How often the model is asked in one turn; after that the turn ends with a marker." default:"25" range:"1..200"`
	ToolTimeout     time.Duration `toml:"tool_timeout" doc:"How long one call of a tool may take." default:"1m" range:"1s..1h"`
	ToolResultBytes int64         `toml:"tool_result_bytes" doc:"The longest result of a call that the model gets to read; a longer one is cut at a line, visibly." default:"65536" range:"1024..1048576"`
}

// Model is one [models.NAME] table, a profile: an ordered list of candidates
// (REL-1).
type Model struct {
	Provider       string   `toml:"provider" ref:"providers" doc:"The provider that serves the model." required:"true"`
	Model          string   `toml:"model" doc:"The model's name at the provider." range:"1..256" required:"true"`
	FallbackModels []string `toml:"fallback_models" doc:"Further models at the same provider, asked in this order when the first fails." range:"1..256"`
	Fallback       []string `toml:"fallback" ref:"models" doc:"Other profiles, asked after that; at most three in a row."`
	MaxTokens      int64    `toml:"max_tokens" doc:"The most tokens of an answer; 0 leaves it to the agent." default:"0" range:"0..100000000"`
	Temperature    *float64 `toml:"temperature" doc:"The sampling temperature; without it the agent's." range:"0..2"`
	Context        int64    `toml:"context" doc:"How many tokens the model's window holds, for the first model of the profile: a conversation that would fill it is summarised before it is sent. 0 is unknown: then only when the provider says that it is full." default:"0" range:"0..100000000"`
	Reliability
}

// Provider is one [providers.NAME] table: an endpoint, and the plugin that
// speaks its protocol.
type Provider struct {
	Plugin  string          `toml:"plugin" doc:"The provider plugin that speaks the endpoint's protocol." range:"1..64" required:"true"`
	BaseURL string          `toml:"base_url" doc:"The endpoint's address; without it the plugin's default." range:"1..2048"`
	APIKeys []string        `toml:"api_keys" secret:"true" doc:"A pool of keys, each a reference: env:NAME, file:PATH or cmd:COMMAND."`
	Options json.RawMessage `toml:"options" doc:"The plugin's own settings; its plugin.toml says which there are. The plugin sees them, so no secret belongs here."`
	Reliability
}

// Completion says what a provider must send for an answer to count as
// complete (STR-1).
type Completion string

const (
	// CompletionLenient also takes a finish reason followed by the end.
	CompletionLenient Completion = "lenient"
	// CompletionSignal takes nothing but the protocol's completion signal.
	CompletionSignal Completion = "signal"
)

// Reliability holds the knobs as they are written; nil is not set here.
// Config.Knobs puts the levels together.
type Reliability struct {
	ProviderRetries   *int           `toml:"provider_retries" doc:"After a failure before any output the same candidate is asked again, without streaming, up to this many times and once more (REL-3)." default:"2" range:"0..20"`
	ProviderBackoffMS *int64         `toml:"provider_backoff_ms" doc:"The first wait between two attempts in milliseconds; it doubles up to 10 s (REL-6)." default:"500" range:"0..10000"`
	RetryAfterMax     *time.Duration `toml:"retry_after_max" doc:"The longest wait that a provider may ask for; a longer one moves on to the next candidate (REL-6)." default:"1m" range:"0s..1h"`
	TurnDeadline      *time.Duration `toml:"turn_deadline" doc:"How long all attempts of a turn may take together; the value of the agent's profile counts (REL-6)." default:"10m" range:"1s..24h"`
	HeaderTimeout     *time.Duration `toml:"header_timeout" doc:"How long to wait for connection and response header (STR-3)." default:"1m" range:"100ms..1h"`
	IdleTimeout       *time.Duration `toml:"idle_timeout" doc:"How long a stream may stay without a byte (STR-3); without it the plugin's own value, else 5m." range:"100ms..24h"`
	ProgressTimeout   *time.Duration `toml:"progress_timeout" doc:"How long a stream may bring bytes but nothing of the answer (STR-3)." default:"10m" range:"100ms..24h"`
	Completion        *Completion    `toml:"completion" doc:"\"lenient\" takes a finish reason and the end for a complete answer, with a warning; \"signal\" wants the protocol's completion signal (STR-1)." default:"lenient" enum:"lenient|signal"`
	KeyCooldown       *time.Duration `toml:"key_cooldown" doc:"How long a key rests after a failure that names no time (REL-8)." default:"1m" range:"0s..24h"`
}

// Log is the [log] table.
type Log struct {
	Level  string `toml:"level" doc:"The least that is written." default:"warn" enum:"trace|debug|info|warn|error|off"`
	Format string `toml:"format" doc:"How a line looks." default:"text" enum:"text|json"`
}

// File is the path of the file that was read, "" if there was none.
func (c Config) File() string { return c.file }

// Sampling is what a request asks of the model beside its text.
type Sampling struct {
	// MaxTokens limits the answer; 0 leaves it to the provider.
	MaxTokens int64
	// Temperature is nil for the provider's own.
	Temperature *float64
}

// Sampling returns what an agent asks for on a profile: the profile's value,
// else the agent's. A profile is the narrower of the two, because a model may
// refuse what suits the agent's others.
func (c Config) Sampling(agent, profile string) Sampling {
	a, m := c.Agents[agent], c.Models[profile]
	s := Sampling{MaxTokens: a.MaxTokens, Temperature: a.Temperature}
	if m.MaxTokens > 0 {
		s.MaxTokens = m.MaxTokens
	}
	if m.Temperature != nil {
		s.Temperature = m.Temperature
	}
	return s
}
