package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// messagesPlace is where the host puts the fragments.
const messagesPlace = `"{{messages}}"`

const messagesPath = "/v1/messages"

// Request builds the request for an answer.
func (messages) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	o, err := readOptions(r.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	for _, t := range r.Tools {
		if strings.Contains(string(t.InputSchema), messagesPlace) {
			return abi.HTTPRequest{}, errors.New("schema of tool " + t.Name + " must not hold " + messagesPlace)
		}
	}
	accept := "application/json"
	if r.Stream {
		accept = "text/event-stream"
	}
	return abi.HTTPRequest{
		Method:  "POST",
		URL:     apiRoot(r.BaseURL) + messagesPath,
		Headers: o.requestHeaders(accept, true),
		Body:    string(requestBody(&r, &o)),
	}, nil
}

// apiRoot returns the address that the paths of the API are appended to.
// Anthropic's own SDKs want it bare; people also configure it with /v1, or whole.
func apiRoot(baseURL string) string {
	return strings.TrimSuffix(strings.TrimSuffix(baseURL, messagesPath), "/v1")
}

func (o *options) requestHeaders(accept string, body bool) []abi.Header {
	var headers []abi.Header
	if body {
		headers = append(headers, abi.Header{Name: "Content-Type", Value: "application/json"})
	}
	headers = append(headers, abi.Header{Name: "Accept", Value: accept}, abi.Header{Name: "anthropic-version", Value: o.version})
	if len(o.betas) > 0 {
		headers = append(headers, abi.Header{Name: "anthropic-beta", Value: strings.Join(o.betas, ",")})
	}
	switch o.auth {
	case authAPIKey:
		headers = append(headers, abi.Header{Name: "x-api-key", Value: "{{secret:api_key}}"})
	case authBearer:
		headers = append(headers, abi.Header{Name: "Authorization", Value: "Bearer {{secret:api_key}}"})
	}
	return append(headers, o.headers...)
}

// members writes the members of the request's object. A member that the option
// extra_body sets too is left to it.
type members struct {
	list
	extra []field
}

// key begins a member; it returns false if the member is to be left out.
func (m *members) key(name string) bool {
	for _, f := range m.extra {
		if f.name == name {
			return false
		}
	}
	m.raw(`,"` + name + `":`)
	return true
}

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{list: list{dst: make([]byte, 0, 1024+len(r.System))}, extra: o.extraBody}
	cache := o.cached(r.BaseURL)
	m.raw(`{"model":`)
	m.text(r.Model)
	if m.key("max_tokens") {
		m.dst = strconv.AppendInt(m.dst, o.most(r.MaxTokens), 10)
	}
	m.system(r.System, o, cache)
	m.raw(`,"messages":[` + messagesPlace + `],"stream":`)
	m.dst = strconv.AppendBool(m.dst, r.Stream)
	if cache == cacheAll && m.key("cache_control") {
		m.raw(o.cacheControl())
	}
	m.thinking(r, o)
	if o.effort != "" && m.key("output_config") {
		m.raw(`{"effort":`)
		m.text(o.effort)
		m.raw(`}`)
	}
	// The API refuses a temperature beside thinking.
	if r.Temperature != nil && o.budget == 0 && o.thinking != "adaptive" && m.key("temperature") {
		m.dst = strconv.AppendFloat(m.dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && m.key("stop_sequences") {
		var l list
		for _, s := range r.Stop {
			l.next("")
			l.text(s)
		}
		m.raw(`[` + string(l.dst) + `]`)
	}
	m.tools(r, o, cache)
	for _, f := range o.extraBody {
		m.raw(`,`)
		m.text(f.name)
		m.raw(`:`)
		m.dst = append(m.dst, f.value...)
	}
	m.raw(`}`)
	return m.dst
}

// most is the longest answer: the budget for thinking is part of it.
func (o *options) most(asked int64) int64 {
	n := o.maxTokens
	if asked > 0 {
		n = asked
	}
	return n + o.budget
}

func (m *members) system(text string, o *options, cache string) {
	switch {
	case strings.TrimSpace(text) == "" || !m.key("system"):
	case cache == cacheOff:
		m.text(text)
	default:
		m.raw(`[{"type":"text","text":`)
		m.text(text)
		m.raw(`,"cache_control":` + o.cacheControl() + `}]`)
	}
}

// thinking writes how the model shall think. The API refuses it beside a tool
// that must be called.
func (m *members) thinking(r *abi.ChatRequest, o *options) {
	kind := o.thinking
	switch {
	case o.budget > 0:
		kind = "enabled"
	case kind == "off":
		kind = "disabled"
	}
	if kind == "" || kind != "disabled" && forced(r) || !m.key("thinking") {
		return
	}
	m.raw(`{"type":`)
	m.text(kind)
	if kind == "enabled" {
		m.raw(`,"budget_tokens":`)
		m.dst = strconv.AppendInt(m.dst, o.budget, 10)
	}
	if o.display != "" && (kind == "enabled" || kind == "adaptive") {
		m.raw(`,"display":`)
		m.text(o.display)
	}
	m.raw(`}`)
}

// forced tells whether a tool must be called.
func forced(r *abi.ChatRequest) bool {
	return len(r.Tools) > 0 && r.ToolChoice != "" && r.ToolChoice != "auto" && r.ToolChoice != "none"
}

// tools writes the tools, the last of the agent's with the mark of the cache, so
// that they are kept although there may be no system prompt.
func (m *members) tools(r *abi.ChatRequest, o *options, cache string) {
	if len(r.Tools)+len(o.tools) > 0 && m.key("tools") {
		var l list
		for _, t := range o.tools {
			l.next(string(t))
		}
		for i, t := range r.Tools {
			l.next("")
			l.tool(t, o, cache != cacheOff && i == len(r.Tools)-1)
		}
		m.raw(`[` + string(l.dst) + `]`)
	}
	if len(r.Tools) == 0 || r.ToolChoice == "" || r.ToolChoice == "auto" || !m.key("tool_choice") {
		return
	}
	switch r.ToolChoice {
	case "none":
		m.raw(`{"type":"none"}`)
	case "required":
		m.raw(`{"type":"any"}`)
	default:
		m.raw(`{"type":"tool","name":`)
		m.text(r.ToolChoice)
		m.raw(`}`)
	}
}

func (l *list) tool(t abi.Tool, o *options, mark bool) {
	l.raw(`{"name":`)
	l.text(t.Name)
	if t.Description != "" {
		l.raw(`,"description":`)
		l.text(t.Description)
	}
	l.raw(`,"input_schema":`)
	if len(t.InputSchema) > 0 {
		l.dst = append(l.dst, t.InputSchema...)
	} else {
		l.raw(`{"type":"object"}`)
	}
	if mark {
		l.raw(`,"cache_control":` + o.cacheControl())
	}
	l.raw(`}`)
}

// appendText appends a JSON string that does not hold the place of the messages.
// Only the end of a text can, because that alone has a bare quote behind it.
func appendText(dst []byte, s string) []byte {
	before, ok := strings.CutSuffix(s, messagesPlace[1:len(messagesPlace)-1])
	if !ok {
		return jsonscan.AppendString(dst, s)
	}
	dst = jsonscan.AppendString(dst, before)
	return append(dst[:len(dst)-1], `\u007b{messages}}"`...)
}
