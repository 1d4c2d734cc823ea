package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
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

func (l *list) text(s string) { l.dst = appendText(l.dst, s) }

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
// signature is refused, so it stays out.
func (l *list) assistant(parts []abi.Part) {
	for _, p := range parts {
		switch p.Type {
		case abi.PartText:
			l.block(p.Text)
		case abi.PartReasoning, abi.PartProviderTool:
			if isObject(p.Opaque) {
				l.next(p.Opaque)
			} else if p.Type == abi.PartReasoning && p.Signature != "" {
				l.next(`{"type":"thinking","thinking":`)
				l.text(p.Text)
				l.raw(`,"signature":`)
				l.text(p.Signature)
				l.raw(`}`)
			}
		case abi.PartToolCall:
			l.next(`{"type":"tool_use","id":`)
			l.text(callID(p.CallID))
			l.raw(`,"name":`)
			l.text(p.Name)
			l.raw(`,"input":` + argumentsObject(p.Arguments) + `}`)
		case abi.PartToolResult, abi.PartImage, abi.PartFile: // not a model's
		}
	}
}

func (l *list) results(parts []abi.Part) {
	for _, p := range parts {
		if p.Type != abi.PartToolResult {
			continue
		}
		l.next(`{"type":"tool_result","tool_use_id":`)
		l.text(callID(p.CallID))
		if strings.TrimSpace(p.Text) != "" {
			l.raw(`,"content":`)
			l.text(p.Text)
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
