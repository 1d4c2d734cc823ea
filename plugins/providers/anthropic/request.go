package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// messagesPlace is where the host puts the fragments.
const messagesPlace = compose.MessagesPlace

const messagesPath = "/v1/messages"

// Request builds the request for an answer.
func (messages) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	o, err := readOptions(r.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	if err := compose.CheckSchemas(r.Tools); err != nil {
		return abi.HTTPRequest{}, err
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
type members struct{ compose.Members }

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{compose.Members{Dst: make([]byte, 0, 1024+len(r.System)), Extra: o.extraBody}}
	cache := o.cached(r.BaseURL)
	m.Raw(`{"model":`)
	m.Text(r.Model)
	if m.Key("max_tokens") {
		m.Dst = strconv.AppendInt(m.Dst, o.most(r.MaxTokens), 10)
	}
	m.system(r.System, o, cache)
	m.Raw(`,"messages":[` + messagesPlace + `],"stream":`)
	m.Dst = strconv.AppendBool(m.Dst, r.Stream)
	if cache == cacheAll && m.Key("cache_control") {
		m.Raw(o.cacheControl())
	}
	m.thinking(r, o)
	if o.effort != "" && m.Key("output_config") {
		m.Raw(`{"effort":`)
		m.Text(o.effort)
		m.Raw(`}`)
	}
	// The API refuses a temperature beside thinking.
	if r.Temperature != nil && o.budget == 0 && o.thinking != "adaptive" && m.Key("temperature") {
		m.Dst = strconv.AppendFloat(m.Dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && m.Key("stop_sequences") {
		var l list
		for _, s := range r.Stop {
			l.next("")
			l.text(s)
		}
		m.Raw(`[` + string(l.dst) + `]`)
	}
	m.tools(r, o, cache)
	m.Close()
	return m.Dst
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
	case strings.TrimSpace(text) == "" || !m.Key("system"):
	case cache == cacheOff:
		m.Text(text)
	default:
		m.Raw(`[{"type":"text","text":`)
		m.Text(text)
		m.Raw(`,"cache_control":` + o.cacheControl() + `}]`)
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
	if kind == "" || kind != "disabled" && forced(r) || !m.Key("thinking") {
		return
	}
	m.Raw(`{"type":`)
	m.Text(kind)
	if kind == "enabled" {
		m.Raw(`,"budget_tokens":`)
		m.Dst = strconv.AppendInt(m.Dst, o.budget, 10)
	}
	if o.display != "" && (kind == "enabled" || kind == "adaptive") {
		m.Raw(`,"display":`)
		m.Text(o.display)
	}
	m.Raw(`}`)
}

// forced tells whether a tool must be called.
func forced(r *abi.ChatRequest) bool {
	return len(r.Tools) > 0 && r.ToolChoice != "" && r.ToolChoice != "auto" && r.ToolChoice != "none"
}

// tools writes the tools, the last of the agent's with the mark of the cache, so
// that they are kept although there may be no system prompt.
func (m *members) tools(r *abi.ChatRequest, o *options, cache string) {
	if len(r.Tools)+len(o.tools) > 0 && m.Key("tools") {
		var l list
		for _, t := range o.tools {
			l.next(string(t))
		}
		for i, t := range r.Tools {
			l.next("")
			l.tool(t, o, cache != cacheOff && i == len(r.Tools)-1)
		}
		m.Raw(`[` + string(l.dst) + `]`)
	}
	if len(r.Tools) == 0 || r.ToolChoice == "" || r.ToolChoice == "auto" || !m.Key("tool_choice") {
		return
	}
	switch r.ToolChoice {
	case "none":
		m.Raw(`{"type":"none"}`)
	case "required":
		m.Raw(`{"type":"any"}`)
	default:
		m.Raw(`{"type":"tool","name":`)
		m.Text(r.ToolChoice)
		m.Raw(`}`)
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
