package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// noText stands for a message without anything that the API would take: it
// refuses empty messages and blank texts.
const noText = "(no text)"

// Messages renders each message as one of the API. The results of tools are a
// message of the user's there; the API joins it with a user's message after it.
func (messages) Messages(in abi.ChatMessages) ([]string, error) {
	fragments := make([]string, len(in.Messages))
	for i, m := range in.Messages {
		var l list
		role := "user"
		switch m.Role {
		case abi.RoleUser:
			l.user(m.Parts)
		case abi.RoleAssistant:
			role = "assistant"
			l.assistant(m.Parts)
		case abi.RoleTool:
			l.results(m.Parts)
		default:
			return nil, errors.New("unknown role " + string(m.Role))
		}
		if len(l.dst) == 0 && m.Role == abi.RoleTool {
			return nil, errors.New("a tool message holds no tool_result")
		}
		if len(l.dst) == 0 {
			l.block(noText)
		}
		fragments[i] = `{"role":"` + role + `","content":[` + string(l.dst) + `]}`
	}
	return fragments, nil
}

// list writes values with commas between them.
type list struct{ dst []byte }

// next begins the next value.
func (l *list) next(text string) {
	if len(l.dst) > 0 {
		l.dst = append(l.dst, ',')
	}
	l.raw(text)
}

func (l *list) raw(text string) { l.dst = append(l.dst, text...) }

func (l *list) text(s string) { l.dst = compose.AppendText(l.dst, s) }

// block writes a block of text, unless it is blank.
func (l *list) block(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	l.next(`{"type":"text","text":`)
	l.text(text)
	l.raw(`}`)
}

func (l *list) user(parts []abi.Part) {
	for _, p := range parts {
		switch p.Type {
		case abi.PartText:
			l.block(p.Text)
		case abi.PartImage:
			l.next(`{"type":"image","source":`)
			l.source(p)
			l.raw(`}`)
		case abi.PartFile:
			l.file(p)
		case abi.PartReasoning, abi.PartToolCall, abi.PartToolResult, abi.PartProviderTool: // not a person's
		}
	}
}

// file writes an attachment. Of files the API takes PDFs in this form alone.
func (l *list) file(p abi.Part) {
	if p.MediaType != "application/pdf" {
		l.block("(attached: " + p.Name + ", " + p.MediaType + ", which cannot be shown here)")
		return
	}
	l.next(`{"type":"document","source":`)
	l.source(p)
	if p.Name != "" {
		l.raw(`,"title":`)
		l.text(p.Name)
	}
	l.raw(`}`)
}

// source writes where the host puts the contents.
func (l *list) source(p abi.Part) {
	l.raw(`{"type":"base64","media_type":`)
	l.text(p.MediaType)
	l.raw(`,"data":`)
	l.text("{{blob:" + p.Blob + "}}")
	l.raw(`}`)
}

// assistant writes the blocks of an answer in their order. Thinking without its
// signature is refused, and so is an answer that ends with thinking, as one does
// that broke off: both stay out.
func (l *list) assistant(parts []abi.Part) {
	var thinking []string
	for i, p := range parts {
		block := ""
		switch p.Type {
		case abi.PartText:
			block = textBlock(p)
		case abi.PartReasoning:
			if t := thinkingBlock(p); t != "" {
				thinking = append(thinking, t)
			}
		case abi.PartProviderTool:
			if isObject(p.Opaque) && !left(p.Opaque, parts[i+1:]) {
				block = p.Opaque
			}
		case abi.PartToolCall:
			block = callBlock(p)
		case abi.PartToolResult, abi.PartImage, abi.PartFile: // not a model's
		}
		if block == "" {
			continue
		}
		for _, t := range thinking {
			l.next(t)
		}
		thinking = nil
		l.next(block)
	}
}

// left tells whether a block is the use of a tool of the provider's whose result
// did not come, because the answer broke off: text stands behind it, if only the
// mark that says so. The API refuses it then. It takes one at the end of an answer
// that it paused (C042), or beside calls that the host has run.
func left(opaque string, after []abi.Part) bool {
	use := readBlock([]byte(opaque))
	if use.typ != "server_tool_use" && use.typ != "mcp_tool_use" {
		return false
	}
	text := false
	for _, p := range after {
		switch {
		case p.Type == abi.PartToolCall:
			return false
		case p.Type == abi.PartProviderTool:
			if r := readBlock([]byte(p.Opaque)); r.id == use.id && r.typ != use.typ {
				return false
			}
		case p.Type == abi.PartText && strings.TrimSpace(p.Text) != "":
			text = true
		}
	}
	return text
}

// textBlock is a text with what it is taken from, which is its signature.
func textBlock(p abi.Part) string {
	var l list
	l.block(p.Text)
	s := jsonscan.New([]byte(p.Signature))
	if len(l.dst) > 0 && s.Kind() == jsonscan.Array && s.End() == nil {
		l.dst = l.dst[:len(l.dst)-1]
		l.raw(`,"citations":` + p.Signature + `}`)
	}
	return string(l.dst)
}

// thinkingBlock is thinking as the API gave it, "" if it cannot go back.
func thinkingBlock(p abi.Part) string {
	if isObject(p.Opaque) {
		return p.Opaque
	}
	if p.Signature == "" {
		return ""
	}
	var l list
	l.raw(`{"type":"thinking","thinking":`)
	l.text(p.Text)
	l.raw(`,"signature":`)
	l.text(p.Signature)
	l.raw(`}`)
	return string(l.dst)
}

func callBlock(p abi.Part) string {
	var l list
	l.raw(`{"type":"tool_use","id":`)
	l.text(callID(p.CallID))
	l.raw(`,"name":`)
	l.text(p.Name)
	l.raw(`,"input":` + argumentsObject(p.Arguments) + `}`)
	return string(l.dst)
}

func (l *list) results(parts []abi.Part) {
	for _, p := range parts {
		if p.Type != abi.PartToolResult {
			continue
		}
		l.next(`{"type":"tool_result","tool_use_id":`)
		l.text(callID(p.CallID))
		text := p.Text
		if strings.TrimSpace(text) == "" && p.IsError { // the API wants to know what was wrong
			text = noText
		}
		if strings.TrimSpace(text) != "" {
			l.raw(`,"content":`)
			l.text(text)
		}
		if p.IsError {
			l.raw(`,"is_error":true`)
		}
		l.raw(`}`)
	}
}

// callID makes an id of letters, digits, _ and -, as the API wants it, the same
// for a call and its result.
func callID(id string) string {
	b := []byte(id)
	for i, c := range b {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-'
		if !letter {
			b[i] = '_'
		}
	}
	return string(b)
}

func isObject(text string) bool {
	s := jsonscan.New([]byte(text))
	return s.Kind() == jsonscan.Object && s.End() == nil
}

// argumentsObject returns the arguments, or an empty object in place of what is
// no JSON object: the API refuses the whole history for it (C028, C030). The call
// itself was never run with such arguments.
func argumentsObject(arguments string) string {
	if !isObject(arguments) {
		return "{}"
	}
	return arguments
}
