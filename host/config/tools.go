package config

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/zchost/zchost/host/secret"
)

// Tool is one [tools.NAME] table: a tool plugin.
type Tool struct {
	Plugin string          `toml:"plugin" doc:"The tool plugin." range:"1..64" required:"true"`
	Config json.RawMessage `toml:"config" doc:"The plugin's own settings; its plugin.toml says which there are. The plugin sees them, so no secret belongs here."`
	Allow  Allow           `toml:"allow" doc:"What the plugin may do. One that asks for more is not loaded."`
}

// Allow is what a plugin may do, the table allow of [tools.NAME].
type Allow struct {
	HTTP    []string          `toml:"http" doc:"Hosts that it may call, each as the plugin asks for it: \"api.example.com\" with the ports 80 and 443, \"api.example.com:8443\", \"*.example.com\" for all names below, \"*\" for all hosts." hosts:"any" range:"1..253"`
	Private []string          `toml:"private" doc:"Hosts of http that may have a private address, as \"nas.lan\" or \"127.0.0.1:8080\"." hosts:"some" range:"1..253"`
	Clock   bool              `toml:"clock" doc:"Whether it may read the time." default:"false"`
	Random  bool              `toml:"random" doc:"Whether it may have random numbers." default:"false"`
	Secrets map[string]string `toml:"secrets" secret:"true" doc:"References to the secrets that its requests may carry, by the names that the plugin gives them. The plugin does not see their values."`
}

// MCP is one [mcp.NAME] table: a server of the Model Context Protocol, which
// is a command or an address.
type MCP struct {
	Command []string          `toml:"command" doc:"The program that is the server, with its arguments; no shell reads it. Either this or url." range:"0..4096"`
	URL     string            `toml:"url" doc:"The address of a server that speaks streamable HTTP. Either this or command." range:"1..2048"`
	Env     map[string]string `toml:"env" value:"true" names:"variable" doc:"Variables for the command, beside PATH, HOME and the like: references, as env:NAME, or plain text behind \"text:\"."`
	Headers map[string]string `toml:"headers" value:"true" names:"header" doc:"Headers for the requests to url: references, as env:NAME, or plain text behind \"text:\"."`
	Token   string            `toml:"token" secret:"true" doc:"A reference to a token that url wants, as env:NAME; sent as \"Authorization: Bearer TOKEN\"."`
	Dir     string            `toml:"dir" doc:"Where the command runs; relative to the directory of the config file. Without it the home directory." range:"1..4096"`
	Trust   bool              `toml:"trust" doc:"Whether its word counts that a tool only reads. Without it every call of its tools is one that may change something." default:"false"`
	Timeout time.Duration     `toml:"timeout" doc:"How long one call of its tools may take." default:"1m" range:"1s..1h"`
}

// Shell is the [shell] table.
type Shell struct {
	Timeout     time.Duration `toml:"timeout" doc:"How long a command may take." default:"1m" range:"1s..1h"`
	OutputBytes int64         `toml:"output_bytes" doc:"How much of a command's output is kept: its beginning and its end." default:"65536" range:"1024..1048576"`
	Env         []string      `toml:"env" names:"variable" doc:"The variables that commands get, and no others." default:"PATH|HOME|USER|LANG|LC_ALL|TZ|TERM|TMPDIR" range:"1..256"`
}

// Fetch is the [fetch] table.
type Fetch struct {
	Private     []string `toml:"private" doc:"Hosts that may be fetched from although they have a private address, as \"wiki.lan\" or \"127.0.0.1:8080\"." hosts:"some" range:"1..253"`
	OutputBytes int64    `toml:"output_bytes" doc:"How much of a page is kept." default:"65536" range:"1024..1048576"`
}

// Approve says which calls of tools ask a person first.
type Approve string

// The values of approve.
const (
	ApproveWrite  Approve = "write"  // calls that may change something
	ApproveAlways Approve = "always" // all calls
	ApproveNever  Approve = "never"  // none
)

// Toolbox is what an agent has of tools, defaults put in.
type Toolbox struct {
	Tools           []ToolRef
	Approve         Approve
	ApprovalTimeout time.Duration
	// Workspace is an absolute path if the home directory is; it need not be
	// there yet.
	Workspace     string
	MaxIterations int
	// CallTimeout and ResultBytes bound one call.
	CallTimeout time.Duration
	ResultBytes int
}

// Toolbox returns what an agent has of tools. An agent that there is not has
// none, and the defaults.
func (c Config) Toolbox(agent string) Toolbox {
	a := c.Agents[agent]
	b := Toolbox{
		Approve:         cmp.Or(a.Approve, ApproveWrite),
		ApprovalTimeout: cmp.Or(a.ApprovalTimeout, 5*time.Minute),
		Workspace:       filepath.Join(c.home, "workspace", agent),
		MaxIterations:   int(cmp.Or(a.MaxIterations, 25)),
		CallTimeout:     cmp.Or(a.ToolTimeout, time.Minute),
		ResultBytes:     int(cmp.Or(a.ToolResultBytes, 64<<10)),
	}
	if a.Workspace != "" {
		if path, err := c.expand(a.Workspace); err == nil {
			b.Workspace = path
		}
	}
	for _, t := range a.Tools {
		b.Tools = append(b.Tools, ParseToolRef(t))
	}
	return b
}

// Shell settings with defaults put in.
func (s Shell) withDefaults() Shell {
	s.Timeout = cmp.Or(s.Timeout, time.Minute)
	s.OutputBytes = cmp.Or(s.OutputBytes, 64<<10)
	if s.Env == nil {
		s.Env = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR"}
	}
	return s
}

// ShellLimits returns the [shell] table, defaults put in.
func (c Config) ShellLimits() Shell { return c.Shell.withDefaults() }

// FetchLimits returns the [fetch] table, defaults put in.
func (c Config) FetchLimits() Fetch {
	f := c.Fetch
	f.OutputBytes = cmp.Or(f.OutputBytes, 64<<10)
	return f
}

// Server returns an [mcp.NAME] table with defaults put in and dir resolved;
// the zero MCP for a name that there is not.
func (c Config) Server(name string) MCP {
	m, ok := c.MCP[name]
	if !ok {
		return m
	}
	m.Timeout = cmp.Or(m.Timeout, time.Minute)
	dir, err := c.expand(m.Dir)
	if m.Dir == "" || err != nil {
		dir = c.home
	}
	m.Dir = dir
	return m
}

// ToolSource says where a tool comes from.
type ToolSource string

// The sources.
const (
	SourceCore   ToolSource = "core"
	SourceMCP    ToolSource = "mcp"
	SourcePlugin ToolSource = "plugin"
)

// ToolRef is an entry of an agent's tools.
type ToolRef struct {
	Source ToolSource
	// Name is the core tool's, or that of the [mcp.NAME] or [tools.NAME] table.
	Name string
	// Tool is the one tool of the server or plugin that is meant, "" for all.
	Tool string
}

// ParseToolRef reads "read_file", "mcp:NAME", "mcp:NAME/TOOL", "plugin:NAME"
// or "plugin:NAME/TOOL".
func ParseToolRef(s string) ToolRef {
	for _, source := range []ToolSource{SourceMCP, SourcePlugin} {
		if rest, ok := strings.CutPrefix(s, string(source)+":"); ok {
			name, tool, _ := strings.Cut(rest, "/")
			return ToolRef{Source: source, Name: name, Tool: tool}
		}
	}
	return ToolRef{Source: SourceCore, Name: s}
}

// String is how the reference is written.
func (r ToolRef) String() string {
	s := r.Name
	if r.Source != SourceCore {
		s = string(r.Source) + ":" + s
	}
	if r.Tool != "" {
		s += "/" + r.Tool
	}
	return s
}

// CoreTools returns the names of the tools that every host has.
func CoreTools() []string {
	return []string{"read_file", "list_dir", "search_files", "write_file", "edit_file", "shell", "fetch_url"}
}

// Value is a value of an env or headers table: a reference to a secret, or
// plain text.
type Value struct {
	// Ref is the reference; zero for plain text.
	Ref secret.Ref
	// Text is the plain text, without its "text:".
	Text string
}

// plainText begins a value that is no reference.
const plainText = "text:"

// ParseValue reads a value of an env or headers table. Plain text has to say
// so, with "text:" before it: else a secret that was pasted in would pass for
// it. The error repeats nothing of s.
func ParseValue(s string) (Value, error) {
	if text, ok := strings.CutPrefix(s, plainText); ok {
		return Value{Text: text}, nil
	}
	ref, err := secret.ParseRef(s)
	return Value{Ref: ref}, err
}
