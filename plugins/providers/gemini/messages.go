package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// anySignature stands for the signature of a call that this model did not make,
// such as one of another vendor's. Gemini 3 refuses a call without any.
const anySignature = "skip_thought_signature_validator"

// Messages renders each message as a Content.
func (gemini) Messages(in abi.ChatMessages) ([]string, error) {
	o, err := readOptions(in.Options)
	if err != nil {
		return nil, err
	}
	fragments := make([]string, len(in.Messages))
	for i, m := range in.Messages {
		c := content{callIDs: o.callIDs}
		if m.Role == abi.RoleAssistant && o.signCalls && unsigned(m.Parts) {
			c.standIn = anySignature
		}
		if err := c.message(m); err != nil {
			return nil, err
		}
		fragments[i] = string(c.dst)
	}
	return fragments, nil
}

// unsigned tells whether no part has a signature.
func unsigned(parts []abi.Part) bool {
	for _, p := range parts {
		if p.Signature != "" || p.Opaque != "" {
			return false
		}
	}
	return true
}

// content writes a Content.
type content struct {
	dst     []byte
	parts   int
	callIDs bool
	standIn string // the signature for the first call
}

func (c *content) message(m abi.Message) error {
	switch m.Role {
	case abi.RoleUser, abi.RoleTool: // results of tools are the user's
		c.raw(`{"role":"user","parts":[`)
	case abi.RoleAssistant:
		c.raw(`{"role":"model","parts":[`)
	default:
		return errors.New("unknown role " + string(m.Role))
	}
	for _, p := range m.Parts {
		c.part(p)
	}
	if c.parts == 0 { // the API refuses an empty list
		c.raw(`{"text":""}`)
	}
	c.raw(`]}`)
	return nil
}

func (c *content) raw(text string) { c.dst = append(c.dst, text...) }

func (c *content) text(s string) { c.dst = compose.AppendText(c.dst, s) }

// begin begins a part with its first member.
func (c *content) begin(member string) {
	if c.parts++; c.parts > 1 {
		c.raw(`,`)
	}
	c.raw(`{"`)
	c.raw(member)
	c.raw(`":`)
}

// end ends a part.
func (c *content) end(signature string) {
	if signature != "" {
		c.raw(`,"thoughtSignature":`)
		c.text(signature)
	}
	c.raw(`}`)
}

func (c *content) part(p abi.Part) {
	switch p.Type {
	case abi.PartText:
		if p.Text != "" || p.Signature != "" {
			c.begin("text")
			c.text(p.Text)
			c.end(p.Signature)
		}
	case abi.PartReasoning: // thoughts without a signature need not go back
		if p.Signature != "" {
			c.begin("text")
			c.text(p.Text)
			c.raw(`,"thought":true`)
			c.end(p.Signature)
		}
	case abi.PartToolCall:
		c.call(p)
	case abi.PartToolResult:
		c.result(p)
	case abi.PartProviderTool: // the whole part, as it came (STR-8)
		s := jsonscan.New([]byte(p.Opaque))
		if s.Kind() == jsonscan.Object && s.End() == nil {
			if c.parts++; c.parts > 1 {
				c.raw(`,`)
			}
			c.raw(p.Opaque)
		}
	case abi.PartImage, abi.PartFile:
		c.begin("inlineData")
		c.raw(`{"mimeType":`)
		c.text(mediaType(p.MediaType))
		c.raw(`,"data":`)
		c.text("{{blob:" + p.Blob + "}}")
		c.raw(`}`)
		c.end("")
	}
}

func (c *content) call(p abi.Part) {
	c.begin("functionCall")
	c.raw(`{`)
	c.id(p.CallID)
	c.raw(`"name":`)
	c.text(p.Name)
	c.raw(`,"args":`)
	c.raw(argumentsObject(p.Arguments))
	c.raw(`}`)
	signature := p.Signature
	if signature == "" {
		signature = c.standIn
	}
	c.standIn = "" // of calls side by side the first alone is signed
	c.end(signature)
}

// result renders what a tool returned. The API asks for an object and knows the
// names output and error.
func (c *content) result(p abi.Part) {
	c.begin("functionResponse")
	c.raw(`{`)
	c.id(p.CallID)
	c.raw(`"name":`)
	c.text(p.Name)
	if p.IsError {
		c.raw(`,"response":{"error":`)
	} else {
		c.raw(`,"response":{"output":`)
	}
	c.text(p.Text)
	c.raw(`}}`)
	c.end("")
}

// id writes the member id. The host's own id says as well which result belongs
// to which call.
func (c *content) id(id string) {
	if c.callIDs && id != "" {
		c.raw(`"id":`)
		c.text(id)
		c.raw(`,`)
	}
}

// argumentsObject returns the arguments, or an empty object in place of what is
// no JSON object, for which the API would refuse the whole history.
func argumentsObject(arguments string) string {
	s := jsonscan.New([]byte(arguments))
	if s.Kind() != jsonscan.Object || s.End() != nil {
		return "{}"
	}
	return arguments
}

// mediaType returns the type under which the API takes a file: it knows texts,
// but not those that are called application.
func mediaType(t string) string {
	name, _, _ := strings.Cut(t, ";")
	switch name = strings.TrimSpace(strings.ToLower(name)); name {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/x-javascript", "application/typescript", "application/x-sh", "application/sql":
		return "text/plain"
	case "image/jpg":
		return "image/jpeg"
	}
	return name
}
