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
	authAPIKey = "x-api-key"
	authBearer = "bearer"
	authNone   = "none"
)

// The values of the option cache: what is kept for the next request.
const (
	cacheAll    = "all"
	cachePrefix = "prefix"
	cacheOff    = "off"
)

const (
	defaultVersion   = "2023-06-01"
	defaultMaxTokens = 16384
)

// options are the endpoint's settings; plugin.toml describes them.
type options struct {
	auth      string
	version   string
	betas     []string
	maxTokens int64
	cache     string // "": by the address
	ttl       string
	thinking  string
	display   string // of the thinking
	budget    int64
	effort    string
	tools     [][]byte // the provider's own tools
	headers   []abi.Header
	extraBody []compose.Field
}

func readOptions(raw abi.Raw) (options, error) {
	o := options{auth: authAPIKey, version: defaultVersion, maxTokens: defaultMaxTokens}
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
	case "version":
		o.version = s.String()
	case "betas":
		for s.Array(); s.Elem(); {
			o.betas = append(o.betas, s.String())
		}
	case "max_tokens":
		o.maxTokens = s.Int()
	case "cache":
		o.cache = s.String()
	case "cache_ttl":
		o.ttl = s.String()
	case "thinking":
		o.thinking = s.String()
	case "thinking_display":
		o.display = s.String()
	case "thinking_budget":
		o.budget = s.Int()
	case "effort":
		o.effort = s.String()
	case "tools":
		for s.Array(); s.Elem(); {
			o.tools = append(o.tools, s.Raw())
		}
	case "headers":
		o.headers = compose.ReadPairs(s)
	case "extra_body":
		o.extraBody = compose.ReadFields(s)
	}
}

// check refuses what would break the request. The host has checked the options
// against the manifest's schema; this is what a schema cannot say.
func (o *options) check() error {
	if o.auth != authAPIKey && o.auth != authBearer && o.auth != authNone {
		return errors.New("option auth is " + o.auth + ", want x-api-key, bearer or none")
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
	for _, t := range o.tools {
		if strings.Contains(string(t), messagesPlace) {
			return errors.New("option tools must not hold " + messagesPlace)
		}
	}
	return nil
}

// cached is what is kept for the next request. Anthropic itself keeps the
// conversation when the request asks for it as a whole; servers that are only
// compatible may not know that.
func (o *options) cached(baseURL string) string {
	if o.cache != "" {
		return o.cache
	}
	host := strings.TrimPrefix(strings.TrimPrefix(baseURL, "https://"), "http://")
	host, _, _ = strings.Cut(host, "/")
	if host == "api.anthropic.com" || strings.HasSuffix(host, ".anthropic.com") {
		return cacheAll
	}
	return cachePrefix
}

// cacheControl is the mark at the end of what is kept.
func (o *options) cacheControl() string {
	if o.ttl != "" && o.ttl != "5m" {
		return `{"type":"ephemeral","ttl":"` + o.ttl + `"}`
	}
	return `{"type":"ephemeral"}`
}
