package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// messagesPlace is where the host puts the fragments.
const messagesPlace = compose.MessagesPlace

const chatPath = "/chat/completions"

// Request builds the request for an answer.
func (chat) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
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
		URL:     apiRoot(r.BaseURL) + chatPath + compose.Query(o.query),
		Headers: o.requestHeaders(accept, true),
		Body:    string(requestBody(&r, &o)),
	}, nil
}

// apiRoot returns the address that the paths of the API are appended to. People
// also configure the whole address of the chat endpoint.
func apiRoot(baseURL string) string {
	return strings.TrimSuffix(baseURL, chatPath)
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

// element begins the element of an array with that index.
func (m *members) element(i int) { m.Dst = append(m.Dst, "[,"[min(i, 1)]) }

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{compose.Members{Dst: make([]byte, 0, 1024+len(r.System)), Extra: o.extraBody}}
	m.Raw(`{"model":`)
	m.Text(r.Model)
	m.Raw(`,"messages":[`)
	if r.System != "" {
		m.Raw(`{"role":`)
		m.Text(o.systemRole)
		m.Raw(`,"content":`)
		m.Text(r.System)
		m.Raw(`},`)
	}
	m.Raw(messagesPlace + `]`)
	if r.Stream {
		m.Raw(`,"stream":true`)
		if o.includeUsage && m.Key("stream_options") {
			m.Raw(`{"include_usage":true}`)
		}
	} else {
		m.Raw(`,"stream":false`)
	}
	m.sampling(r, o)
	m.tools(r)
	m.Close()
	return m.Dst
}

func (m *members) sampling(r *abi.ChatRequest, o *options) {
	if r.MaxTokens > 0 && m.Key(o.maxTokens(r.BaseURL)) {
		m.Dst = strconv.AppendInt(m.Dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && m.Key("temperature") {
		m.Dst = strconv.AppendFloat(m.Dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && m.Key("stop") {
		for i, stop := range r.Stop {
			m.element(i)
			m.Text(stop)
		}
		m.Raw(`]`)
	}
}

// maxTokens names the field for the limit. OpenAI has renamed it, and its newer
// models refuse the old name; the others know the old name.
func (o *options) maxTokens(baseURL string) string {
	switch {
	case o.maxTokensField != "":
		return o.maxTokensField
	case strings.HasPrefix(baseURL, "https://api.openai.com/"):
		return "max_completion_tokens"
	}
	return "max_tokens"
}

func (m *members) tools(r *abi.ChatRequest) {
	if len(r.Tools) == 0 {
		return
	}
	if m.Key("tools") {
		for i, t := range r.Tools {
			m.element(i)
			m.tool(t)
		}
		m.Raw(`]`)
	}
	if r.ToolChoice == "" || r.ToolChoice == "auto" || !m.Key("tool_choice") {
		return
	}
	switch r.ToolChoice {
	case "none", "required":
		m.Text(r.ToolChoice)
	default:
		m.Raw(`{"type":"function","function":{"name":`)
		m.Text(r.ToolChoice)
		m.Raw(`}}`)
	}
}

func (m *members) tool(t abi.Tool) {
	m.Raw(`{"type":"function","function":{"name":`)
	m.Text(t.Name)
	if t.Description != "" {
		m.Raw(`,"description":`)
		m.Text(t.Description)
	}
	if len(t.InputSchema) > 0 {
		m.Raw(`,"parameters":`)
		m.Dst = append(m.Dst, t.InputSchema...)
	}
	m.Raw(`}}`)
}
