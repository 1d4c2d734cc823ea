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
	authBearer = "bearer"
	authAPIKey = "api-key"
	authNone   = "none"
)

// options are the endpoint's settings; plugin.toml describes them.
type options struct {
	auth        string
	encrypted   *bool // whether encrypted reasoning is asked for; nil: by the model
	effort      string
	summary     string
	verbosity   string
	serviceTier string
	include     []string
	tools       [][]byte // the provider's own tools
	headers     []abi.Header
	query       []abi.Header
	extraBody   []compose.Field
}

func readOptions(raw abi.Raw) (options, error) {
	o := options{auth: authBearer}
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
	case "encrypted_reasoning":
		o.encrypted = new(bool)
		*o.encrypted = s.Bool()
	case "reasoning_effort":
		o.effort = s.String()
	case "reasoning_summary":
		o.summary = s.String()
	case "verbosity":
		o.verbosity = s.String()
	case "service_tier":
		o.serviceTier = s.String()
	case "include":
		for s.Array(); s.Elem(); {
			o.include = append(o.include, s.String())
		}
	case "tools":
		for s.Array(); s.Elem(); {
			o.tools = append(o.tools, s.Raw())
		}
	case "headers":
		o.headers = compose.ReadPairs(s)
	case "query":
		o.query = compose.ReadPairs(s)
	case "extra_body":
		o.extraBody = compose.ReadFields(s)
	}
}

// check refuses what would break the request. The host has checked the options
// against the manifest's schema; this is what a schema cannot say.
func (o *options) check() error {
	if o.auth != authBearer && o.auth != authAPIKey && o.auth != authNone {
		return errors.New("option auth is " + o.auth + ", want bearer, api-key or none")
	}
	for _, f := range o.extraBody {
		switch f.Name {
		case "model", "input", "stream":
			return errors.New("option extra_body must not set " + f.Name)
		}
		if strings.Contains(string(f.Value), messagesPlace) {
			return errors.New("option extra_body must not hold " + messagesPlace)
		}
	}
	for _, t := range o.tools {
		if strings.Contains(string(t), messagesPlace) {
			return errors.New("option tools must not hold " + messagesPlace)
		}
	}
	return nil
}

// included lists what the answer shall have besides. Models that do not reason
// refuse to be asked for their reasoning.
func (o *options) included(model string) []string {
	encrypted := reasons(model)
	if o.encrypted != nil {
		encrypted = *o.encrypted
	}
	if !encrypted {
		return o.include
	}
	for _, i := range o.include {
		if i == encryptedReasoning {
			return o.include
		}
	}
	return append([]string{encryptedReasoning}, o.include...)
}

const encryptedReasoning = "reasoning.encrypted_content"

// reasons tells whether a model of OpenAI may reason: all but the older ones do.
func reasons(model string) bool {
	model = strings.TrimPrefix(model, "ft:")
	model = model[strings.LastIndexByte(model, '/')+1:]
	for _, prefix := range []string{"gpt-3.5", "gpt-4", "chatgpt-", "gpt-5-chat"} {
		if strings.HasPrefix(model, prefix) {
			return false
		}
	}
	return true
}
