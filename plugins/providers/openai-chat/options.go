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
	auth           string
	includeUsage   bool
	maxTokensField string
	systemRole     string
	headers        []abi.Header
	query          []abi.Header
	extraBody      []compose.Field
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
			o.headers = compose.ReadPairs(&s)
		case "query":
			o.query = compose.ReadPairs(&s)
		case "extra_body":
			o.extraBody = compose.ReadFields(&s)
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
		switch f.Name {
		case "model", "messages", "stream":
			return errors.New("option extra_body must not set " + f.Name)
		}
		if strings.Contains(string(f.Value), messagesPlace) {
			return errors.New("option extra_body must not hold " + messagesPlace)
		}
	}
	return nil
}
