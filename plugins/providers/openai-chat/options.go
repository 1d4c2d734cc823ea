package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// The values of the option auth: how the key is sent.
const (
	authBearer = "bearer"
	authAPIKey = "api-key"
	authNone   = "none"
)

// options are the endpoint's settings; plugin.toml describes them.
type options struct {
	auth           string
	includeUsage   bool
	maxTokensField string
	systemRole     string
	headers        []abi.Header
	query          []abi.Header
	extraBody      []field
}

// field is a member of a JSON object; the value is JSON.
type field struct {
	name  string
	value []byte
}

func readOptions(raw abi.Raw) (options, error) {
	o := options{auth: authBearer, includeUsage: true, systemRole: "system"}
	if len(raw) == 0 {
		return o, nil
	}
	s := jsonscan.New(raw)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "auth":
			o.auth = s.String()
		case "include_usage":
			o.includeUsage = s.Bool()
		case "max_tokens_field":
			o.maxTokensField = s.String()
		case "system_role":
			o.systemRole = s.String()
		case "headers":
			o.headers = readPairs(&s)
		case "query":
			o.query = readPairs(&s)
		case "extra_body":
			for s.Object(); ; {
				name, ok := s.Key()
				if !ok {
					break
				}
				o.extraBody = append(o.extraBody, field{string(name), s.Raw()})
			}
		}
	}
	if err := s.End(); err != nil {
		return o, errors.New("read options: " + err.Error())
	}
	return o, o.check()
}

// check refuses what would break the request. The host has checked the options
// against the manifest's schema; this is what a schema cannot say.
func (o *options) check() error {
	if o.auth != authBearer && o.auth != authAPIKey && o.auth != authNone {
		return errors.New("option auth is " + o.auth + ", want bearer, api-key or none")
	}
	for _, f := range o.extraBody {
		switch f.name {
		case "model", "messages", "stream":
			return errors.New("option extra_body must not set " + f.name)
		}
		if strings.Contains(string(f.value), messagesPlace) {
			return errors.New("option extra_body must not hold " + messagesPlace)
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
