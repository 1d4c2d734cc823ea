package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// messagesPlace is where the host puts the fragments.
const messagesPlace = compose.MessagesPlace

// Request builds the request for an answer.
// https://docs.ollama.com/api/chat
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
type members struct{ compose.Members }

// value writes a member with a JSON value; none if the value is absent.
func (m *members) value(name string, value []byte) {
	if len(value) > 0 && m.Key(name) {
		m.Dst = append(m.Dst, value...)
	}
}

func requestBody(r *abi.ChatRequest, o *options) []byte {
	m := members{compose.Members{Dst: make([]byte, 0, 1024+len(r.System)), Extra: o.extraBody}}
	m.Raw(`{"model":`)
	m.Text(r.Model)
	m.Raw(`,"messages":[`)
	if r.System != "" {
		m.Raw(`{"role":"system","content":`)
		m.Text(r.System)
		m.Raw(`},`)
	}
	m.Raw(messagesPlace + `],"stream":` + strconv.FormatBool(r.Stream))
	m.tools(r)
	m.value("think", o.think)
	m.value("keep_alive", o.keepAlive)
	m.value("options", parameters(r, o))
	m.Close()
	return m.Dst
}

// parameters is the member options, nil if there are none.
func parameters(r *abi.ChatRequest, o *options) []byte {
	m := members{compose.Members{Dst: []byte{'{'}, Extra: o.parameters}}
	if o.numCtx > 0 && m.Key("num_ctx") {
		m.Dst = strconv.AppendInt(m.Dst, o.numCtx, 10)
	}
	if r.MaxTokens > 0 && m.Key("num_predict") {
		m.Dst = strconv.AppendInt(m.Dst, r.MaxTokens, 10)
	}
	if r.Temperature != nil && m.Key("temperature") {
		m.Dst = strconv.AppendFloat(m.Dst, *r.Temperature, 'g', -1, 64)
	}
	if len(r.Stop) > 0 && m.Key("stop") {
		m.Raw(`[`)
		for _, stop := range r.Stop {
			m.Next()
			m.Text(stop)
		}
		m.Raw(`]`)
	}
	m.Close()
	if len(m.Dst) == len(`{}`) {
		return nil
	}
	return m.Dst
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
	if len(tools) == 0 || !m.Key("tools") {
		return
	}
	m.Raw(`[`)
	for _, t := range tools {
		m.Next()
		m.Raw(`{"type":"function","function":{"name":`)
		m.Text(t.Name)
		m.Raw(`,"description":`)
		m.Text(t.Description)
		m.Raw(`,"parameters":`)
		if len(t.InputSchema) > 0 {
			m.Dst = append(m.Dst, t.InputSchema...)
		} else {
			m.Raw(`{"type":"object","properties":{}}`)
		}
		m.Raw(`}}`)
	}
	m.Raw(`]`)
}
