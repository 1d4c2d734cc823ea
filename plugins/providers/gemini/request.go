package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// messagesPlace is where the host puts the fragments.
const messagesPlace = `"{{messages}}"`

// modelsPrefix is what the names of models begin with in the API.
const modelsPrefix = "models/"

// Request builds the request for an answer.
func (gemini) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	o, err := readOptions(r.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	if err := checkSchemas(r.Tools); err != nil {
		return abi.HTTPRequest{}, err
	}
	path, err := modelPath(r.Model)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	out := abi.HTTPRequest{
		Method: "POST",
		URL:    r.BaseURL + path + ":generateContent" + o.queryString(),
		Body:   string(requestBody(&r, &o)),
	}
	accept := "application/json"
	if r.Stream {
		accept = "text/event-stream"
		out.URL = r.BaseURL + path + ":streamGenerateContent" + o.queryString(abi.Header{Name: "alt", Value: "sse"})
	}
	out.Headers = o.requestHeaders(accept, true)
	return out, nil
}

// modelPath returns the path of a model. A name with a slash is a path already:
// models/…, tunedModels/…, or Vertex AI's publishers/….
func modelPath(model string) (string, error) {
	for _, segment := range strings.Split(model, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", errors.New("the model's name " + failure.Quote(model) + " is no path")
		}
	}
	path := "/" + modelsPrefix + model
	if strings.Contains(model, "/") {
		path = "/" + model
	}
	return string(appendEscaped(nil, path, "-_.~/@")), nil
}

func (o *options) requestHeaders(accept string, body bool) []abi.Header {
	var headers []abi.Header
	if body {
		headers = append(headers, abi.Header{Name: "Content-Type", Value: "application/json"})
	}
	headers = append(headers, abi.Header{Name: "Accept", Value: accept})
	switch o.auth {
	case authAPIKey:
		headers = append(headers, abi.Header{Name: "x-goog-api-key", Value: "{{secret:api_key}}"})
	case authBearer:
		headers = append(headers, abi.Header{Name: "Authorization", Value: "Bearer {{secret:api_key}}"})
	}
	return append(headers, o.headers...)
}

// queryString encodes our own parameters and the option query. Braces and colons
// stay, so that a value may be a secret's placeholder.
func (o *options) queryString(own ...abi.Header) string {
	var b []byte
	for i, p := range append(own, o.query...) {
		b = append(b, "?&"[min(i, 1)])
		b = appendEscaped(b, p.Name, "-_.~{}:")
		b = append(b, '=')
		b = appendEscaped(b, p.Value, "-_.~{}:")
	}
	return string(b)
}

// appendEscaped appends text with percent-encoding, except for letters, digits
// and what is listed.
func appendEscaped(b []byte, text, except string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte(except, c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', digits[c>>4], digits[c&15])
	}
	return b
}

// members writes the members of an object. A member that is also among the
// further ones is left to them.
type members struct {
	dst   []byte
	first bool
	extra []field
}

// key begins a member; it returns false if the member is to be left out.
func (m *members) key(name string) bool {
	for _, f := range m.extra {
		if f.name == name {
			return false
		}
	}
	m.member(name)
	return true
}

func (m *members) member(name string) {
	if !m.first {
		m.dst = append(m.dst, ',')
	}
	m.first = false
	m.text(name)
	m.dst = append(m.dst, ':')
}

func (m *members) fields(fields []field) {
	for _, f := range fields {
		m.member(f.name)
		m.dst = append(m.dst, f.value...)
	}
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
	m.raw(`{"contents":[` + messagesPlace + `]`)
	if r.System != "" && m.key("systemInstruction") {
		m.raw(`{"parts":[{"text":`)
		m.text(r.System)
		m.raw(`}]}`)
	}
	m.tools(r, o)
	m.generation(r, o)
	m.fields(o.extraBody)
	m.raw(`}`)
	return m.dst
}

// generation writes generationConfig, if there is anything in it.
func (m *members) generation(r *abi.ChatRequest, o *options) {
	c := members{dst: []byte{'{'}, first: true, extra: o.generation}
	if r.MaxTokens > 0 && c.key("maxOutputTokens") {
		c.dst = strconv.AppendInt(c.dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && c.key("temperature") {
		c.dst = strconv.AppendFloat(c.dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && c.key("stopSequences") {
		for i, stop := range r.Stop {
			c.element(i)
			c.text(stop)
		}
		c.raw(`]`)
	}
	if len(o.thinking) > 0 && c.key("thinkingConfig") {
		t := members{dst: append(c.dst, '{'), first: true}
		t.fields(o.thinking)
		c.dst = append(t.dst, '}')
	}
	c.fields(o.generation)
	if len(c.dst) > 1 && m.key("generationConfig") {
		m.dst = append(append(m.dst, c.dst...), '}')
	}
}

func (m *members) tools(r *abi.ChatRequest, o *options) {
	if len(r.Tools)+len(o.tools) > 0 && m.key("tools") {
		n := 0
		if len(r.Tools) > 0 {
			m.element(0)
			m.raw(`{"functionDeclarations":`)
			for i, t := range r.Tools {
				m.element(i)
				m.tool(t, o.schemaField)
			}
			m.raw(`]}`)
			n++
		}
		for i, t := range o.tools {
			m.element(n + i)
			m.dst = append(m.dst, t...)
		}
		m.raw(`]`)
	}
	if len(r.Tools) > 0 && r.ToolChoice != "" && r.ToolChoice != "auto" && m.key("toolConfig") {
		m.choice(r.ToolChoice)
	}
}

func (m *members) choice(choice string) {
	m.raw(`{"functionCallingConfig":{"mode":`)
	switch choice {
	case "none":
		m.raw(`"NONE"`)
	case "required":
		m.raw(`"ANY"`)
	default:
		m.raw(`"ANY","allowedFunctionNames":[`)
		m.text(choice)
		m.raw(`]`)
	}
	m.raw(`}}`)
}

// tool writes a FunctionDeclaration, whose description must not be left out.
func (m *members) tool(t abi.Tool, schemaField string) {
	m.raw(`{"name":`)
	m.text(t.Name)
	m.raw(`,"description":`)
	if t.Description == "" {
		m.text(t.Name)
	} else {
		m.text(t.Description)
	}
	if len(t.InputSchema) > 0 {
		m.raw(`,"` + schemaField + `":`)
		m.dst = append(m.dst, t.InputSchema...)
	}
	m.raw(`}`)
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
