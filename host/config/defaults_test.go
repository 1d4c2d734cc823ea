package config

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDefaultsOfTools holds the tags together with what Toolbox, ShellLimits,
// FetchLimits, Server and Currency give.
func TestDefaultsOfTools(t *testing.T) {
	t.Parallel()
	var shell Shell
	var fetch Fetch
	var agent Agent
	var server MCP
	var money Cost
	for _, table := range []any{&shell, &fetch, &agent, &server, &money} {
		v := reflect.ValueOf(table).Elem()
		d := decoder{report: &report{}, origins: map[string]Origin{}}
		for _, f := range fieldsOf(v.Type()) {
			if f.def != "" {
				d.field(defaultOf(f), v.FieldByIndex(f.index), f, f.key)
			}
		}
		if err := d.report.err(); err != nil {
			t.Fatal(err)
		}
	}
	none := Config{MCP: map[string]MCP{"a": {}}}
	written := Config{Agents: map[string]Agent{"a": agent}, Shell: shell, Fetch: fetch, Cost: money, MCP: map[string]MCP{"a": server}}
	for what, pair := range map[string][2]any{
		"agent":    {none.Toolbox("a"), written.Toolbox("a")},
		"shell":    {none.ShellLimits(), shell},
		"fetch":    {none.FetchLimits(), fetch},
		"server":   {none.Server("a"), server},
		"currency": {none.Currency(), money.Currency},
	} {
		if diff := cmp.Diff(pair[1], pair[0]); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
}
