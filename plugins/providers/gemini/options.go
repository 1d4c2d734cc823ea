package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
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
	thinking    []compose.Field // members of thinkingConfig
	generation  []compose.Field // further members of generationConfig
	extraBody   []compose.Field
	tools       [][]byte // the provider's own tools
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
		o.headers = compose.ReadPairs(s)
	case "query":
		o.query = compose.ReadPairs(s)
	case "thinking_budget":
		o.thinking = append(o.thinking, compose.Field{Name: "thinkingBudget", Value: s.Raw()})
	case "thinking_level":
		o.thinking = append(o.thinking, compose.Field{Name: "thinkingLevel", Value: s.Raw()})
	case "include_thoughts":
		o.thinking = append(o.thinking, compose.Field{Name: "includeThoughts", Value: s.Raw()})
	case "generation_config":
		o.generation = compose.ReadFields(s)
	case "extra_body":
		o.extraBody = compose.ReadFields(s)
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
		if f.Name == "contents" || f.Name == "generationConfig" {
			return errors.New("option extra_body must not set " + f.Name)
		}
	}
	all := o.tools
	for _, fields := range [][]compose.Field{o.extraBody, o.generation, o.thinking} {
		for _, f := range fields {
			all = append(all, f.Value)
		}
	}
	for _, value := range all {
		if strings.Contains(string(value), messagesPlace) {
			return errors.New("the options must not hold " + messagesPlace)
		}
	}
	return nil
}
