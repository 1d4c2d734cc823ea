package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zchost/zchost/abi"
)

// maxTools is the most tools of a Set: more than that no model can use.
const maxTools = 256

// Set is the tools of a turn, in a fixed order. It is never changed.
type Set struct {
	tools  []Tool
	specs  []abi.Tool
	byName map[string]int
	schema []*jsonschema.Resolved
}

// NewSet returns a set. Names have to be valid and unique, and schemas such
// that they can be checked; all problems are in one error.
func NewSet(tools []Tool) (*Set, error) {
	s := &Set{byName: make(map[string]int, len(tools))}
	valid := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	var problems []error
	if len(tools) > maxTools {
		return nil, fmt.Errorf("%d tools; at most %d are possible", len(tools), maxTools)
	}
	for _, t := range tools {
		spec := t.Spec()
		schema, err := resolve(spec.InputSchema)
		switch {
		case !valid.MatchString(spec.Name):
			err = fmt.Errorf("the name %q has other characters than a-z, A-Z, 0-9, _ and -, or more than 64", spec.Name)
		case err != nil:
			err = fmt.Errorf("tool %s of %s: input schema: %w", spec.Name, spec.Source, err)
		case slices.ContainsFunc(s.specs, func(o abi.Tool) bool { return o.Name == spec.Name }):
			err = fmt.Errorf("there are two tools named %s", spec.Name)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		s.byName[spec.Name] = len(s.tools)
		s.tools = append(s.tools, t)
		s.schema = append(s.schema, schema)
		s.specs = append(s.specs, abi.Tool{Name: spec.Name, Description: spec.Description, InputSchema: spec.InputSchema})
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return s, nil
}

// resolve makes a schema ready. Nothing is fetched for a reference.
func resolve(text abi.Raw) (*jsonschema.Resolved, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if schema.Type != "object" {
		return nil, errors.New(`its type is not "object"`)
	}
	r, err := schema.Resolve(&jsonschema.ResolveOptions{})
	if err != nil {
		return nil, fmt.Errorf("resolve: %w", err)
	}
	return r, nil
}

// Specs describes the tools to a model. The slice is shared.
func (s *Set) Specs() []abi.Tool { return s.specs }

// Tools returns the tools. The slice is shared.
func (s *Set) Tools() []Tool { return s.tools }

// Find returns the tool with that name.
func (s *Set) Find(name string) (Tool, bool) {
	i, ok := s.byName[name]
	if !ok {
		return nil, false
	}
	return s.tools[i], true
}

// InvalidError says that a call cannot run. Its text is for the model: it says
// what to do instead.
type InvalidError struct {
	// Tool is the name that was called.
	Tool string
	// Reason says what is wrong.
	Reason string
}

// Error tells what is wrong with the call.
func (e *InvalidError) Error() string {
	return fmt.Sprintf("The call of %s was not run: %s.", e.Tool, e.Reason)
}

// maxNamed is how many names an error lists.
const maxNamed = 40

// Check says whether a call may run; if not it returns an *InvalidError.
func (s *Set) Check(name, arguments string) error {
	i, ok := s.byName[name]
	if !ok {
		return &InvalidError{name, "there is no such tool; there are: " + s.names()}
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(arguments), &object); err != nil || object == nil {
		return &InvalidError{name, "its arguments are not a JSON object"}
	}
	if err := s.schema[i].Validate(object); err != nil {
		return &InvalidError{name, "its arguments do not fit its input schema: " + strings.TrimPrefix(err.Error(), "validating root: ")}
	}
	return nil
}

func (s *Set) names() string {
	var names []string
	for _, t := range s.specs[:min(len(s.specs), maxNamed)] {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}
