package config

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// tables are the structs that the file's tables are read into, by name.
func tables() []struct {
	name string
	typ  reflect.Type
} {
	return []struct {
		name string
		typ  reflect.Type
	}{
		{"agents.NAME", reflect.TypeFor[Agent]()},
		{"models.NAME", reflect.TypeFor[Model]()},
		{"providers.NAME", reflect.TypeFor[Provider]()},
		{"tools.NAME", reflect.TypeFor[Tool]()},
		{"tools.NAME.allow", reflect.TypeFor[Allow]()},
		{"mcp.NAME", reflect.TypeFor[MCP]()},
		{"shell", reflect.TypeFor[Shell]()},
		{"fetch", reflect.TypeFor[Fetch]()},
		{"cost", reflect.TypeFor[Cost]()},
		{`cost.rates."PROVIDER/MODEL"`, reflect.TypeFor[Rate]()},
		{"reliability", reflect.TypeFor[Reliability]()},
		{"log", reflect.TypeFor[Log]()},
	}
}

// TestTags: every key says what it does, its limits can be read, and its
// default lies within them and is what Knobs gives.
func TestTags(t *testing.T) {
	t.Parallel()
	for _, table := range tables() {
		for _, f := range fieldsOf(table.typ) {
			if f.doc == "" || math.IsNaN(f.min) || math.IsNaN(f.max) || f.min > f.max {
				t.Errorf("%s.%s: %+v", table.name, f.key, f)
			}
			number := f.typ.Kind() == reflect.Int || f.typ.Kind() == reflect.Int64 || f.typ.Kind() == reflect.Float64
			if number && !f.isAmount() && math.IsInf(f.max, 1) {
				t.Errorf("%s.%s has no limits", table.name, f.key)
			}
			if f.def == "" {
				continue
			}
			r := &report{}
			d := decoder{report: r, origins: map[string]Origin{}}
			d.field(defaultOf(f), reflect.New(f.typ).Elem(), f, f.key)
			if err := r.err(); err != nil {
				t.Errorf("%s.%s: default: %v", table.name, f.key, err)
			}
		}
	}
}

// TestDefaultsOfKnobs holds the tags and Knobs together (REL-9).
func TestDefaultsOfKnobs(t *testing.T) {
	t.Parallel()
	var c Config
	k := c.Knobs("", "")
	var written Config
	v := reflect.ValueOf(&written.Reliability).Elem()
	d := decoder{report: &report{}, origins: map[string]Origin{}}
	for _, f := range fieldsOf(v.Type()) {
		if f.def != "" {
			d.field(defaultOf(f), v.FieldByIndex(f.index), f, f.key)
		}
	}
	if err := d.report.err(); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(k, written.Knobs("", "")); diff != "" {
		t.Error(diff)
	}
	if k.IdleTimeout != 0 || DefaultIdleTimeout != 5*time.Minute {
		t.Error("idle_timeout: the plugin's value must be able to go before the default")
	}
}

// TestReference holds docs/config.md together with the structs; -update writes
// it.
func TestReference(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "docs", "config.md")
	got := page()
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not up to date; `go test ./host/config -run TestReference -update` writes it:\n%s", path, diff)
	}
}

// page is docs/config.md.
func page() string {
	var b strings.Builder
	b.WriteString(introduction)
	about := map[string]string{}
	for _, f := range fieldsOf(reflect.TypeFor[Config]()) {
		about[f.key] = f.doc
	}
	about["tools.NAME.allow"] = docOf(reflect.TypeFor[Tool](), "allow")
	about[`cost.rates."PROVIDER/MODEL"`] = docOf(reflect.TypeFor[Cost](), "rates")
	knobs := map[string]bool{}
	for _, f := range fieldsOf(reflect.TypeFor[Reliability]()) {
		knobs[f.key] = true
	}
	for _, table := range tables() {
		key, _, _ := strings.Cut(table.name, ".")
		fmt.Fprintf(&b, "\n## [%s]\n\n%s\n\n| key | type | default | |\n| --- | --- | --- | --- |\n", table.name, cmp.Or(about[table.name], about[key]))
		shared := false
		for _, f := range fieldsOf(table.typ) {
			if knobs[f.key] && key != "reliability" {
				shared = true
				continue
			}
			tables := f.typ.Kind() == reflect.Map && f.typ.Elem().Kind() == reflect.Struct
			if f.typ.Kind() != reflect.Struct && !tables { // those have a section of their own
				b.WriteString(row(f))
			}
		}
		if shared {
			b.WriteString("\nAnd every key of [[reliability]](#reliability).\n")
		}
	}
	b.WriteString("\n## Example\n\nWhat `zchost init` writes where OPENAI_API_KEY is set:\n\n```toml\n" + Template([]string{"OPENAI_API_KEY=x"}, "") + "```\n")
	return b.String()
}

func docOf(t reflect.Type, key string) string {
	f, _ := findField(fieldsOf(t), key)
	return f.doc
}

func row(f field) string {
	doc := f.doc
	if f.required {
		doc += " Required."
	}
	def := ""
	if f.def != "" {
		def = "`" + string(appendTOML(nil, defaultOf(f))) + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", f.key, typeText(f), def, doc)
}

func typeText(f field) string {
	limits := ""
	if f.limits != "" && f.typ.Kind() != reflect.String && f.typ.Kind() != reflect.Slice {
		limits = ", " + strings.Replace(f.limits, "..", " to ", 1)
	}
	switch {
	case f.isDuration():
		return "duration" + limits
	case len(f.enum) > 0:
		return "`\"" + strings.Join(f.enum, "\"`, `\"") + "\"`"
	case f.typ == reflect.TypeFor[json.RawMessage]():
		return "table"
	case f.isAmount():
		return "amount"
	case f.typ.Kind() == reflect.Bool:
		return "true or false"
	case f.typ.Kind() == reflect.Map && f.value:
		return "table of references or text"
	case f.typ.Kind() == reflect.Map:
		return "table of references"
	case f.secret && f.typ.Kind() == reflect.String:
		return "reference"
	case f.secret:
		return "list of references"
	case f.hosts != "":
		return "list of hosts"
	case f.typ.Kind() == reflect.Slice:
		return "list of text"
	case f.typ.Kind() == reflect.Float64:
		return "number" + limits
	case f.typ.Kind() == reflect.String:
		return "text"
	default:
		return "whole number" + limits
	}
}

const introduction = `# Config

<!-- Written by "go test ./host/config -run TestReference -update" from the structs in host/config/config.go. -->

zchost reads ` + "`config.toml`" + ` in its home directory (` + "`~/.zchost`" + `, or what ` + "`ZCHOST_HOME` or `--home`" + ` says); ` + "`--config`" + ` names another
file. Without a file, or with an empty one, the agent ` + "`main`" + ` answers with the built-in demo. ` + "`zchost init`" + ` writes a first config,
` + "`zchost config check`" + ` lists all mistakes at once, ` + "`zchost config show`" + ` shows what is in force and where each value comes from, and
` + "`zchost config schema`" + ` prints a JSON Schema for editors.

- **Mistakes** are errors: a key that there is not, a value of another type, a name that leads nowhere, fallbacks in a circle or more
  than three in a row. Each is told with file, line and column.
- **Environment.** Every key can be set by a variable, which goes before the file: ` + "`ZCHOST_`" + ` and the key in capitals, with two underscores
  between its parts. ` + "`ZCHOST_AGENTS__MAIN__MODEL`" + ` is ` + "`model` in `[agents.main]`" + `. For a name with other signs write one underscore for each:
  ` + "`ZCHOST_MODELS__MY_LOCAL__MODEL` sets `[models.my-local]`" + `. Text and durations are written as they are, everything else as in TOML. An empty
  variable sets nothing.
- **Secrets** are never in the config, only references to them: ` + "`env:NAME`" + ` for an environment variable, ` + "`file:PATH`" + ` for the contents of a file
  (absolute, or from ` + "`~/`" + `), ` + "`cmd:COMMAND`" + ` for what a command prints. Variables such as ` + "`${NAME}`" + ` are not put into other values.
- **Durations** are text with a unit: ` + "`\"500ms\"`, `\"30s\"`, `\"2m30s\"`" + `.
- **Values** of the variables and headers of an MCP server are references like these, or plain text that says so: ` + "`text:info`" + `. Text that looks
  like a secret is refused.
- **Amounts** of money are numbers, taken exactly as written: at most 9 places after the point, without sign and exponent.
- **Names** of agents, profiles and providers have letters, digits, ` + "`-`, `_` and `.`" + `, at most 64. A file has at most 1 MiB, a list at most 32 entries.
- **Hosts** are names or IP addresses, without scheme and path; without a port the ports 80 and 443 are meant.
- **Known vendors.** Where ` + "`OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `GEMINI_API_KEY`" + ` is set, a profile may name the provider ` + "`openai`, `anthropic` or `gemini`" + `
  without a table for it.
`
