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

// Request builds the request for an answer.
// https://docs.ollama.com/api/chat
func (chat) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
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
		accept = "application/x-ndjson"
	}
	return abi.HTTPRequest{
		Method:  "POST",
		URL:     endpoint(r.BaseURL, "chat"),
		Headers: append([]abi.Header{{Name: "Content-Type", Value: "application/json"}}, o.requestHeaders(accept)...),
		Body:    string(requestBody(&r, &o)),
	}, nil
}

// endpoint is the address of a part of the API. People also configure base_url
// with the /api of the vendor's examples.
func endpoint(baseURL, name string) string {
	base := strings.TrimSuffix(baseURL, "/chat")
	if strings.HasSuffix(base, "/api") {
		return base + "/" + name
	}
	return baseURL + "/api/" + name
}

func (o *options) requestHeaders(accept string) []abi.Header {
	headers := []abi.Header{{Name: "Accept", Value: accept}}
	if o.auth == authBearer {
		headers = append(headers, abi.Header{Name: "Authorization", Value: "Bearer {{secret:api_key}}"})
	}
	return append(headers, o.headers...)
}

// members writes the members of an object. A member that the options set too is
// left to them.
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
	m.next()
	m.text(name)
	m.raw(`:`)
	return true
}

// value writes a member with a JSON value; none if the value is absent.
func (m *members) value(name string, value []byte) {
	if len(value) > 0 && m.key(name) {
		m.dst = append(m.dst, value...)
	}
}

// close writes the members of the options, and the end.
func (m *members) close() {
	for _, f := range m.extra {
		m.next()
		m.text(f.name)
		m.raw(`:`)
		m.dst = append(m.dst, f.value...)
	}
	m.raw(`}`)
}

// next writes the comma before a member or element that is not the first.
func (m *members) next() {
	if last := m.dst[len(m.dst)-1]; last != '{' && last != '[' {
		m.raw(`,`)
	}
}

func (m *members) raw(text string) { m.dst = append(m.dst, text...) }

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
		m.raw(`{"role":"system","content":`)
		m.text(r.System)
		m.raw(`},`)
	}
	m.raw(messagesPlace + `],"stream":` + strconv.FormatBool(r.Stream))
	m.tools(r)
	m.value("think", o.think)
	m.value("keep_alive", o.keepAlive)
	m.value("options", parameters(r, o))
	m.close()
	return m.dst
}

// parameters is the member options, nil if there are none.
func parameters(r *abi.ChatRequest, o *options) []byte {
	m := members{dst: []byte{'{'}, extra: o.parameters}
	if o.numCtx > 0 && m.key("num_ctx") {
		m.dst = strconv.AppendInt(m.dst, o.numCtx, 10)
	}
	if r.MaxTokens > 0 && m.key("num_predict") {
		m.dst = strconv.AppendInt(m.dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && m.key("temperature") {
		m.dst = strconv.AppendFloat(m.dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && m.key("stop") {
		m.raw(`[`)
		for _, stop := range r.Stop {
			m.next()
			m.text(stop)
		}
		m.raw(`]`)
	}
	m.close()
	if len(m.dst) == len(`{}`) {
		return nil
	}
	return m.dst
}

// tools writes the tools. The API has no tool_choice: a tool that must be called
// is the only one that is offered, and when none may be called there is none.
func (m *members) tools(r *abi.ChatRequest) {
	var tools []abi.Tool
	for _, t := range r.Tools {
		switch r.ToolChoice {
		case "", "auto", "required", t.Name:
			tools = append(tools, t)
		}
	}
	if len(tools) == 0 || !m.key("tools") {
		return
	}
	m.raw(`[`)
	for _, t := range tools {
		m.next()
		m.raw(`{"type":"function","function":{"name":`)
		m.text(t.Name)
		m.raw(`,"description":`)
		m.text(t.Description)
		m.raw(`,"parameters":`)
		if len(t.InputSchema) > 0 {
			m.dst = append(m.dst, t.InputSchema...)
		} else {
			m.raw(`{"type":"object","properties":{}}`)
		}
		m.raw(`}}`)
	}
	m.raw(`]`)
}
