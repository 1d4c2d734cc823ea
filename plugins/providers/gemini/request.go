package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/compose"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// messagesPlace is where the host puts the fragments.
const messagesPlace = compose.MessagesPlace

// modelsPrefix is what the names of models begin with in the API.
const modelsPrefix = "models/"

// Request builds the request for an answer.
func (gemini) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	o, err := readOptions(r.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	if err := compose.CheckSchemas(r.Tools); err != nil {
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
	return string(compose.AppendEscaped(nil, path, "-_.~/@")), nil
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
	return compose.Query(append(own, o.query...))
}

// members writes the members of an object. A member that is also among the
// further ones is left to them.
type members struct{ compose.Members }

// element begins the element of an array with that index.
func (m *members) element(i int) { m.Dst = append(m.Dst, "[,"[min(i, 1)]) }

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{compose.Members{Dst: make([]byte, 0, 1024+len(r.System)), Extra: o.extraBody}}
	m.Raw(`{"contents":[` + messagesPlace + `]`)
	if r.System != "" && m.Key("systemInstruction") {
		m.Raw(`{"parts":[{"text":`)
		m.Text(r.System)
		m.Raw(`}]}`)
	}
	m.tools(r, o)
	m.generation(r, o)
	m.Close()
	return m.Dst
}

// generation writes generationConfig, if there is anything in it.
func (m *members) generation(r *abi.ChatRequest, o *options) {
	c := members{compose.Members{Dst: []byte{'{'}, Extra: o.generation}}
	if r.MaxTokens > 0 && c.Key("maxOutputTokens") {
		c.Dst = strconv.AppendInt(c.Dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && c.Key("temperature") {
		c.Dst = strconv.AppendFloat(c.Dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && c.Key("stopSequences") {
		for i, stop := range r.Stop {
			c.element(i)
			c.Text(stop)
		}
		c.Raw(`]`)
	}
	if len(o.thinking) > 0 && c.Key("thinkingConfig") {
		t := members{compose.Members{Dst: append(c.Dst, '{')}}
		t.Fields(o.thinking)
		c.Dst = append(t.Dst, '}')
	}
	c.Fields(o.generation)
	if len(c.Dst) > 1 && m.Key("generationConfig") {
		m.Dst = append(append(m.Dst, c.Dst...), '}')
	}
}

func (m *members) tools(r *abi.ChatRequest, o *options) {
	if len(r.Tools)+len(o.tools) > 0 && m.Key("tools") {
		n := 0
		if len(r.Tools) > 0 {
			m.element(0)
			m.Raw(`{"functionDeclarations":`)
			for i, t := range r.Tools {
				m.element(i)
				m.tool(t, o.schemaField)
			}
			m.Raw(`]}`)
			n++
		}
		for i, t := range o.tools {
			m.element(n + i)
			m.Dst = append(m.Dst, t...)
		}
		m.Raw(`]`)
	}
	if len(r.Tools) > 0 && r.ToolChoice != "" && r.ToolChoice != "auto" && m.Key("toolConfig") {
		m.choice(r.ToolChoice)
	}
}

func (m *members) choice(choice string) {
	m.Raw(`{"functionCallingConfig":{"mode":`)
	switch choice {
	case "none":
		m.Raw(`"NONE"`)
	case "required":
		m.Raw(`"ANY"`)
	default:
		m.Raw(`"ANY","allowedFunctionNames":[`)
		m.Text(choice)
		m.Raw(`]`)
	}
	m.Raw(`}}`)
}

// tool writes a FunctionDeclaration, whose description must not be left out.
func (m *members) tool(t abi.Tool, schemaField string) {
	m.Raw(`{"name":`)
	m.Text(t.Name)
	m.Raw(`,"description":`)
	if t.Description == "" {
		m.Text(t.Name)
	} else {
		m.Text(t.Description)
	}
	if len(t.InputSchema) > 0 {
		m.Raw(`,"` + schemaField + `":`)
		m.Dst = append(m.Dst, t.InputSchema...)
	}
	m.Raw(`}`)
}
