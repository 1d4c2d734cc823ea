package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// The values of the option auth: how the key is sent.
const (
	authAPIKey = "api-key"
	authBearer = "bearer"
	authNone   = "none"
)

// options are the endpoint's settings; plugin.toml describes them.
type options struct {
	auth        string
	schemaField string
	callIDs     bool
	signCalls   bool
	headers     []abi.Header
	query       []abi.Header
	thinking    []field // members of thinkingConfig
	generation  []field // further members of generationConfig
	extraBody   []field
	tools       [][]byte // the provider's own tools
}

// field is a member of a JSON object; the value is JSON.
type field struct {
	name  string
	value []byte
}

func readOptions(raw abi.Raw) (options, error) {
	o := options{auth: authAPIKey, schemaField: "parametersJsonSchema", callIDs: true, signCalls: true}
	if len(raw) == 0 {
		return o, nil
	}
	s := jsonscan.New(raw)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		o.read(&s, string(key))
	}
	if err := s.End(); err != nil {
		return o, errors.New("read options: " + err.Error())
	}
	return o, o.check()
}

func (o *options) read(s *jsonscan.Scanner, key string) {
	switch key {
	case "auth":
		o.auth = s.String()
	case "schema_field":
		o.schemaField = s.String()
	case "call_ids":
		o.callIDs = s.Bool()
	case "sign_calls":
		o.signCalls = s.Bool()
	case "headers":
		o.headers = readPairs(s)
	case "query":
		o.query = readPairs(s)
	case "thinking_budget":
		o.thinking = append(o.thinking, field{"thinkingBudget", s.Raw()})
	case "thinking_level":
		o.thinking = append(o.thinking, field{"thinkingLevel", s.Raw()})
	case "include_thoughts":
		o.thinking = append(o.thinking, field{"includeThoughts", s.Raw()})
	case "generation_config":
		o.generation = readFields(s)
	case "extra_body":
		o.extraBody = readFields(s)
	case "tools":
		for s.Array(); s.Elem(); {
			o.tools = append(o.tools, s.Raw())
		}
	}
}

// check refuses what would break the request. The host has checked the options
// against the manifest's schema; this is what a schema cannot say.
func (o *options) check() error {
	if o.auth != authBearer && o.auth != authAPIKey && o.auth != authNone {
		return errors.New("option auth is " + o.auth + ", want api-key, bearer or none")
	}
	if o.schemaField != "parametersJsonSchema" && o.schemaField != "parameters" {
		return errors.New("option schema_field is " + o.schemaField + ", want parametersJsonSchema or parameters")
	}
	for _, f := range o.extraBody {
		if f.name == "contents" || f.name == "generationConfig" {
			return errors.New("option extra_body must not set " + f.name)
		}
	}
	all := o.tools
	for _, fields := range [][]field{o.extraBody, o.generation, o.thinking} {
		for _, f := range fields {
			all = append(all, f.value)
		}
	}
	for _, value := range all {
		if strings.Contains(string(value), messagesPlace) {
			return errors.New("the options must not hold " + messagesPlace)
		}
	}
	return nil
}

func readPairs(s *jsonscan.Scanner) []abi.Header {
	var pairs []abi.Header
	for s.Object(); ; {
		name, ok := s.Key()
		if !ok {
			return pairs
		}
		pairs = append(pairs, abi.Header{Name: string(name), Value: s.String()})
	}
}

func readFields(s *jsonscan.Scanner) []field {
	var fields []field
	for s.Object(); ; {
		name, ok := s.Key()
		if !ok {
			return fields
		}
		fields = append(fields, field{string(name), s.Raw()})
	}
}
