// Package tooltest checks what the host relies on in a tool plugin. The same
// suite runs against the plugin natively (tool.Native) and against the compiled
// module: against whatever has a method Call.
package tooltest

import (
	"context"
	"encoding/json"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zchost/zchost/abi"
)

// Plugin is what is tested.
type Plugin interface {
	// Call runs an export.
	Call(ctx context.Context, export string, in []byte) ([]byte, error)
}

// Suite is what the plugin is tested with. Every tool needs a case.
type Suite struct {
	// Options are the plugin's settings, a JSON object; empty is none.
	Options string
	// Cases are calls and what they give.
	Cases []Case
}

// Case is one call.
type Case struct {
	// Name names the case; empty means the arguments.
	Name string
	// Tool is the tool's name.
	Tool string
	// Arguments are a JSON object that is valid by the tool's schema.
	Arguments string
	// Want is the result.
	Want abi.ToolResult
}

// Run runs the suite. It checks that
//
//   - the list of tools is valid: names, descriptions, effects, and schemas that
//     compile and say object; and always the same;
//   - each case gives its result, which is valid UTF-8 and not empty;
//   - the same call gives the same, whatever was called before;
//   - unknown fields of a document are ignored, as later hosts send them.
func Run(t *testing.T, p Plugin, s Suite) {
	t.Helper()
	schemas := s.list(t, p)
	called := map[string]bool{}
	for _, c := range s.Cases {
		called[c.Tool] = true
		name := c.Name
		if name == "" {
			name = c.Tool + " " + c.Arguments
		}
		t.Run(name, func(t *testing.T) {
			schema, ok := schemas[c.Tool]
			if !ok {
				t.Fatalf("there is no tool %s", c.Tool)
			}
			fits(t, schema, c.Arguments)
			s.check(t, p, c, "")
			s.check(t, p, c, `,"of_a_later_host":{"deep":[1,null]}`)
		})
	}
	t.Run("again in another order", func(t *testing.T) {
		for i := range s.Cases {
			s.check(t, p, s.Cases[len(s.Cases)-1-i], "")
		}
	})
	for name := range schemas {
		if !called[name] {
			t.Errorf("no case calls %s", name)
		}
	}
}

// list checks the list of tools and returns their schemas.
func (s *Suite) list(t *testing.T, p Plugin) map[string]*jsonschema.Resolved {
	t.Helper()
	query := abi.ToolsQuery{Options: abi.Raw(s.Options)}
	out, err := p.Call(t.Context(), abi.ExportTools, query.AppendJSON(nil))
	if err != nil {
		t.Fatalf("tools: %v", err)
	}
	var list abi.ToolList
	if err := list.DecodeJSON(out); err != nil {
		t.Fatalf("tools: %v", err)
	}
	if n := len(list.Tools); n == 0 || n > abi.MaxTools {
		t.Errorf("tools: there are %d; possible are 1 to %d", n, abi.MaxTools)
	}
	schemas := map[string]*jsonschema.Resolved{}
	for _, tool := range list.Tools {
		if schemas[tool.Name] != nil {
			t.Errorf("there are two tools named %s", tool.Name)
		}
		schemas[tool.Name] = checkSpec(t, tool)
	}
	again, err := p.Call(t.Context(), abi.ExportTools, query.AppendJSON(nil))
	if diff := cmp.Diff(string(out), string(again)); diff != "" || err != nil {
		t.Errorf("tools gives something else the second time: %v\n%s", err, diff)
	}
	return schemas
}

// checkSpec checks one tool and returns its schema.
func checkSpec(t *testing.T, tool abi.ToolSpec) *jsonschema.Resolved {
	t.Helper()
	if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(tool.Name) {
		t.Errorf("the name %q has other characters than a-z, A-Z, 0-9, _ and -, or more than 64", tool.Name)
	}
	if tool.Description == "" || !utf8.ValidString(tool.Description) {
		t.Errorf("%s: the description is %q; a model chooses by it", tool.Name, tool.Description)
	}
	switch tool.Effect {
	case abi.EffectNone, abi.EffectRead, abi.EffectWrite:
	default:
		t.Errorf("%s: the effect is %q; there are none, read and write", tool.Name, tool.Effect)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatalf("%s: input_schema: %v", tool.Name, err)
	}
	if schema.Type != "object" {
		t.Errorf("%s: input_schema: the type is %q and not object", tool.Name, schema.Type)
	}
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{})
	if err != nil {
		t.Fatalf("%s: input_schema: %v", tool.Name, err)
	}
	return resolved
}

// fits checks that the host would let the call through.
func fits(t *testing.T, schema *jsonschema.Resolved, arguments string) {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(arguments), &object); err != nil {
		t.Fatalf("the arguments are not a JSON object: %v", err)
	}
	if err := schema.Validate(object); err != nil {
		t.Errorf("the host would refuse these arguments: %v", err)
	}
}

// check makes a call; more is added to its document.
func (s *Suite) check(t *testing.T, p Plugin, c Case, more string) {
	t.Helper()
	in := abi.ToolCall{ID: "test.1.1", Name: c.Tool, Arguments: abi.Raw(c.Arguments), Options: abi.Raw(s.Options)}
	text := in.AppendJSON(nil)
	text = append(append(text[:len(text)-1], more...), '}')
	out, err := p.Call(t.Context(), abi.ExportCall, text)
	if err != nil {
		t.Errorf("%s %s: %v", c.Tool, c.Arguments, err)
		return
	}
	var got abi.ToolResult
	if err := got.DecodeJSON(out); err != nil {
		t.Errorf("%s %s: %v", c.Tool, c.Arguments, err)
		return
	}
	if got.Content == "" || !utf8.ValidString(got.Content) {
		t.Errorf("%s %s: the content is %q: it has to be text, and some", c.Tool, c.Arguments, got.Content)
	}
	if diff := cmp.Diff(c.Want, got); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", c.Tool, c.Arguments, diff)
	}
}
