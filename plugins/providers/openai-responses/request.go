package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// messagesPlace is where the host puts the fragments.
const messagesPlace = compose.MessagesPlace

const responsesPath = "/responses"

// Request builds the request for an answer. The API has no stop texts.
func (responses) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
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
		URL:     apiRoot(r.BaseURL) + responsesPath + compose.Query(o.query),
		Headers: o.requestHeaders(accept, true),
		Body:    string(requestBody(&r, &o)),
	}, nil
}

// apiRoot returns the address that the paths of the API are appended to. People
// also configure the whole address.
func apiRoot(baseURL string) string {
	return strings.TrimSuffix(baseURL, responsesPath)
}

func (o *options) requestHeaders(accept string, body bool) []abi.Header {
	var headers []abi.Header
	if body {
		headers = append(headers, abi.Header{Name: "Content-Type", Value: "application/json"})
	}
	headers = append(headers, abi.Header{Name: "Accept", Value: accept})
	switch o.auth {
	case authBearer:
		headers = append(headers, abi.Header{Name: "Authorization", Value: "Bearer {{secret:api_key}}"})
	case authAPIKey:
		headers = append(headers, abi.Header{Name: "api-key", Value: "{{secret:api_key}}"})
	}
	return append(headers, o.headers...)
}

// members writes the members of the request's object. A member that the option
// extra_body sets too is left to it.
type members struct{ compose.Members }

// word writes a member whose value is a text, if there is one.
func (m *members) word(name, value string) {
	if value != "" && m.Key(name) {
		m.Text(value)
	}
}

// object writes a member that is an object of one or two words.
func (m *members) object(name string, words ...[2]string) {
	var l list
	for _, w := range words {
		if w[1] != "" {
			l.next(`"` + w[0] + `":`)
			l.text(w[1])
		}
	}
	if len(l.dst) > 0 && m.Key(name) {
		m.Raw(`{` + string(l.dst) + `}`)
	}
}

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{compose.Members{Dst: make([]byte, 0, 1024+len(r.System)), Extra: o.extraBody}}
	m.Raw(`{"model":`)
	m.Text(r.Model)
	m.word("instructions", r.System)
	m.Raw(`,"input":[` + messagesPlace + `],"stream":`)
	m.Dst = strconv.AppendBool(m.Dst, r.Stream)
	if m.Key("store") {
		m.Raw(`false`)
	}
	m.include(o.included(r.Model))
	m.object("reasoning", [2]string{"effort", o.effort}, [2]string{"summary", o.summary})
	m.object("text", [2]string{"verbosity", o.verbosity})
	m.word("service_tier", o.serviceTier)
	if r.MaxTokens > 0 && m.Key("max_output_tokens") {
		m.Dst = strconv.AppendInt(m.Dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && m.Key("temperature") {
		m.Dst = strconv.AppendFloat(m.Dst, *r.Temperature, 'g', -1, 64)
	}
	m.tools(r, o)
	m.Close()
	return m.Dst
}

func (m *members) include(names []string) {
	var l list
	for _, name := range names {
		l.next("")
		l.text(name)
	}
	if len(names) > 0 && m.Key("include") {
		m.Raw(`[` + string(l.dst) + `]`)
	}
}

func (m *members) tools(r *abi.ChatRequest, o *options) {
	if len(r.Tools)+len(o.tools) > 0 && m.Key("tools") {
		var l list
		for _, t := range r.Tools {
			l.next("")
			l.tool(t)
		}
		for _, t := range o.tools {
			l.next(string(t))
		}
		m.Raw(`[` + string(l.dst) + `]`)
	}
	if len(r.Tools) == 0 || r.ToolChoice == "" || r.ToolChoice == "auto" || !m.Key("tool_choice") {
		return
	}
	switch r.ToolChoice {
	case "none", "required":
		m.Text(r.ToolChoice)
	default:
		m.Raw(`{"type":"function","name":`)
		m.Text(r.ToolChoice)
		m.Raw(`}`)
	}
}

// tool writes a function. Left out, strict is true and refuses most schemas.
func (l *list) tool(t abi.Tool) {
	l.raw(`{"type":"function","name":`)
	l.text(t.Name)
	if t.Description != "" {
		l.raw(`,"description":`)
		l.text(t.Description)
	}
	if len(t.InputSchema) > 0 {
		l.raw(`,"parameters":`)
		l.dst = append(l.dst, t.InputSchema...)
	}
	l.raw(`,"strict":false}`)
}
