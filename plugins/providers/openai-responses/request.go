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

const responsesPath = "/responses"

// Request builds the request for an answer. The API has no stop texts.
func (responses) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
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
		URL:     apiRoot(r.BaseURL) + responsesPath + o.queryString(),
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

// word writes a member whose value is a text, if there is one.
func (m *members) word(name, value string) {
	if value != "" && m.key(name) {
		m.text(value)
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
	if len(l.dst) > 0 && m.key(name) {
		m.raw(`{` + string(l.dst) + `}`)
	}
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

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{list: list{dst: make([]byte, 0, 1024+len(r.System))}, extra: o.extraBody}
	m.raw(`{"model":`)
	m.text(r.Model)
	m.word("instructions", r.System)
	m.raw(`,"input":[` + messagesPlace + `],"stream":`)
	m.dst = strconv.AppendBool(m.dst, r.Stream)
	if m.key("store") {
		m.raw(`false`)
	}
	m.include(o.included(r.Model))
	m.object("reasoning", [2]string{"effort", o.effort}, [2]string{"summary", o.summary})
	m.object("text", [2]string{"verbosity", o.verbosity})
	m.word("service_tier", o.serviceTier)
	if r.MaxTokens > 0 && m.key("max_output_tokens") {
		m.dst = strconv.AppendInt(m.dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && m.key("temperature") {
		m.dst = strconv.AppendFloat(m.dst, *r.Temperature, 'g', -1, 64)
	}
	m.tools(r, o)
	for _, f := range o.extraBody {
		m.raw(`,`)
		m.text(f.name)
		m.raw(`:`)
		m.dst = append(m.dst, f.value...)
	}
	m.raw(`}`)
	return m.dst
}

func (m *members) include(names []string) {
	var l list
	for _, name := range names {
		l.next("")
		l.text(name)
	}
	if len(names) > 0 && m.key("include") {
		m.raw(`[` + string(l.dst) + `]`)
	}
}

func (m *members) tools(r *abi.ChatRequest, o *options) {
	if len(r.Tools)+len(o.tools) > 0 && m.key("tools") {
		var l list
		for _, t := range r.Tools {
			l.next("")
			l.tool(t)
		}
		for _, t := range o.tools {
			l.next(string(t))
		}
		m.raw(`[` + string(l.dst) + `]`)
	}
	if len(r.Tools) == 0 || r.ToolChoice == "" || r.ToolChoice == "auto" || !m.key("tool_choice") {
		return
	}
	switch r.ToolChoice {
	case "none", "required":
		m.text(r.ToolChoice)
	default:
		m.raw(`{"type":"function","name":`)
		m.text(r.ToolChoice)
		m.raw(`}`)
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
