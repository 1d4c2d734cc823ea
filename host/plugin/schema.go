package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// resolveSchema checks a JSON Schema and makes it ready for use. Nothing is
// fetched for a reference to another document: it is an error.
func resolveSchema(text []byte) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	if s.Type != "object" {
		return nil, errors.New(`its type is not "object"`)
	}
	if err := checkTypes(&s); err != nil {
		return nil, err
	}
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return nil, fmt.Errorf("resolve schema: %w", err)
	}
	return r, nil
}

// checkTypes refuses a name of a type that JSON does not have, which the library
// takes for a type that nothing matches.
func checkTypes(s *jsonschema.Schema) error {
	if s == nil {
		return nil
	}
	known := []string{"", "null", "boolean", "object", "array", "number", "string", "integer"}
	for _, name := range append([]string{s.Type}, s.Types...) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no type %q", name)
		}
	}
	for _, sub := range subschemas(s) {
		if err := checkTypes(sub); err != nil {
			return err
		}
	}
	return nil
}

// subschemas returns the schemas directly inside s; some may be nil.
func subschemas(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{
		s.Items, s.AdditionalItems, s.Contains, s.UnevaluatedItems, s.AdditionalProperties, s.PropertyNames,
		s.UnevaluatedProperties, s.Not, s.If, s.Then, s.Else, s.ContentSchema,
	}
	for _, list := range [][]*jsonschema.Schema{s.PrefixItems, s.ItemsArray, s.AllOf, s.AnyOf, s.OneOf} {
		all = append(all, list...)
	}
	for _, named := range []map[string]*jsonschema.Schema{
		s.Defs, s.Definitions, s.Properties, s.PatternProperties, s.DependentSchemas, s.DependencySchemas,
	} {
		all = slices.AppendSeq(all, maps.Values(named))
	}
	return all
}
