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

const chatPath = "/chat/completions"

// Request builds the request for an answer.
func (chat) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	o, err := readOptions(r.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	if err := checkSchemas(r.Tools); err != nil {
		return abi.HTTPRequest{}, err
	}
	accept := "application/json"
	if r.Stream {
		accept = "text/event-stream"
	}
	return abi.HTTPRequest{
		Method:  "POST",
		URL:     apiRoot(r.BaseURL) + chatPath + o.queryString(),
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

// queryString encodes the option query. Braces and colons stay, so that a value
// may be a secret's placeholder.
func (o *options) queryString() string {
	var b []byte
	for i, p := range o.query {
		b = append(b, "?&"[min(i, 1)])
		b = appendQuery(b, p.Name)
		b = append(b, '=')
		b = appendQuery(b, p.Value)
	}
	return string(b)
}

func appendQuery(b []byte, text string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte("-_.~{}:", c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', digits[c>>4], digits[c&15])
	}
	return b
}

// members writes the members of the request's object. A member that the option
// extra_body sets too is left to it.
type members struct {
	dst   []byte
	extra []field
}

// key begins a member; it returns false if the member is to be left out.
func (m *members) key(name string) bool {
	for _, f := range m.extra {
		if f.name == name {
			return false
		}
	}
	m.dst = append(m.dst, ',', '"')
	m.dst = append(m.dst, name...)
	m.dst = append(m.dst, '"', ':')
	return true
}

func (m *members) raw(text string) { m.dst = append(m.dst, text...) }

// element begins the element of an array with that index.
func (m *members) element(i int) { m.dst = append(m.dst, "[,"[min(i, 1)]) }

func (m *members) text(s string) { m.dst = appendText(m.dst, s) }

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

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{dst: make([]byte, 0, 1024+len(r.System)), extra: o.extraBody}
	m.raw(`{"model":`)
	m.text(r.Model)
	m.raw(`,"messages":[`)
	if r.System != "" {
		m.raw(`{"role":`)
		m.text(o.systemRole)
		m.raw(`,"content":`)
		m.text(r.System)
		m.raw(`},`)
	}
	m.raw(messagesPlace + `]`)
	if r.Stream {
		m.raw(`,"stream":true`)
		if o.includeUsage && m.key("stream_options") {
			m.raw(`{"include_usage":true}`)
		}
	} else {
		m.raw(`,"stream":false`)
	}
	m.sampling(r, o)
	m.tools(r)
	for _, f := range o.extraBody {
		m.raw(`,`)
		m.text(f.name)
		m.raw(`:`)
		m.dst = append(m.dst, f.value...)
	}
	m.raw(`}`)
	return m.dst
}

func (m *members) sampling(r *abi.ChatRequest, o *options) {
	if r.MaxTokens > 0 && m.key(o.maxTokens(r.BaseURL)) {
		m.dst = strconv.AppendInt(m.dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && m.key("temperature") {
		m.dst = strconv.AppendFloat(m.dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && m.key("stop") {
		for i, stop := range r.Stop {
			m.element(i)
			m.text(stop)
		}
		m.raw(`]`)
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
	if m.key("tools") {
		for i, t := range r.Tools {
			m.element(i)
			m.tool(t)
		}
		m.raw(`]`)
	}
	if r.ToolChoice == "" || r.ToolChoice == "auto" || !m.key("tool_choice") {
		return
	}
	switch r.ToolChoice {
	case "none", "required":
		m.text(r.ToolChoice)
	default:
		m.raw(`{"type":"function","function":{"name":`)
		m.text(r.ToolChoice)
		m.raw(`}}`)
	}
}

func (m *members) tool(t abi.Tool) {
	m.raw(`{"type":"function","function":{"name":`)
	m.text(t.Name)
	if t.Description != "" {
		m.raw(`,"description":`)
		m.text(t.Description)
	}
	if len(t.InputSchema) > 0 {
		m.raw(`,"parameters":`)
		m.dst = append(m.dst, t.InputSchema...)
	}
	m.raw(`}}`)
}

// checkSchemas refuses a schema that would make the place of the messages
// ambiguous.
func checkSchemas(tools []abi.Tool) error {
	for _, t := range tools {
		if strings.Contains(string(t.InputSchema), messagesPlace) {
			return errors.New("schema of tool " + t.Name + " must not hold " + messagesPlace)
		}
	}
	return nil
}
