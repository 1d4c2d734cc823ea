package config

import (
	"encoding/json"
	"math"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/zchost/zchost/host/cost"
)

// Schema returns the JSON Schema (2020-12) of the config, for editors and for
// other programs. It says what one key accepts; that names are there and
// fallbacks end is for Load.
func Schema() []byte {
	s := tableSchema(reflect.TypeFor[Config]())
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "zchost config"
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil // cannot be: the structs alone decide, and a test reads it
	}
	return append(b, '\n')
}

// tableSchema is the schema of a table with fixed keys.
func tableSchema(t reflect.Type) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, f := range fieldsOf(t) {
		s.Properties[f.key] = fieldSchema(f)
		s.PropertyOrder = append(s.PropertyOrder, f.key)
		if f.required {
			s.Required = append(s.Required, f.key)
		}
	}
	return s
}

func fieldSchema(f field) *jsonschema.Schema {
	s := typeSchema(f, f.typ)
	s.Description = f.doc
	if f.def != "" {
		s.Default = appendJSON(nil, defaultOf(f))
	}
	return s
}

func typeSchema(f field, t reflect.Type) *jsonschema.Schema {
	switch {
	case f.isDuration():
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`}
	case t == reflect.TypeFor[cost.Amount]():
		return amountSchema()
	case t == reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{Type: "object"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return tableSchema(t)
	case reflect.Map:
		most := maxNames
		return &jsonschema.Schema{
			Type: "object", MaxProperties: &most,
			PropertyNames:        &jsonschema.Schema{Pattern: f.names.pattern()},
			AdditionalProperties: typeSchema(f, t.Elem()),
		}
	case reflect.Slice:
		most := maxItems
		return &jsonschema.Schema{Type: "array", MaxItems: &most, Items: typeSchema(f, t.Elem())}
	case reflect.String:
		return textSchema(f)
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Float64:
		return &jsonschema.Schema{Type: "number", Minimum: &f.min, Maximum: &f.max}
	default:
		return &jsonschema.Schema{Type: "integer", Minimum: &f.min, Maximum: &f.max}
	}
}

func textSchema(f field) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	switch {
	case f.secret:
		s.Pattern = `^(env|file|cmd):`
	case f.value:
		s.Pattern = `^(env|file|cmd|text):`
	case f.key == "currency":
		s.Pattern = `^[A-Z]{3}$`
	case f.names != "" && f.typ.Kind() == reflect.Slice:
		s.Pattern = f.names.pattern()
	}
	for _, e := range f.enum {
		s.Enum = append(s.Enum, e)
	}
	if low := int(max(f.min, 0)); low > 0 {
		s.MinLength = &low
	}
	if !math.IsInf(f.max, 1) {
		high := int(f.max) // bytes, and so never fewer than characters
		s.MaxLength = &high
	}
	return s
}

// amountSchema is the schema of an amount of money. How many places after the
// point there are is for Load: a validator may have made a floating point
// number of it.
func amountSchema() *jsonschema.Schema {
	low, high := 0.0, 1e9
	return &jsonschema.Schema{Type: "number", Minimum: &low, Maximum: &high}
}
