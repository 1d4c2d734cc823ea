package main

import (
	"errors"
	"strconv"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// Messages renders each message as the items of the input.
func (responses) Messages(in abi.ChatMessages) ([]string, error) {
	fragments := make([]string, len(in.Messages))
	for i, m := range in.Messages {
		f, err := fragment(m)
		if err != nil {
			return nil, err
		}
		fragments[i] = string(f)
	}
	return fragments, nil
}

func fragment(m abi.Message) ([]byte, error) {
	var l list
	switch m.Role {
	case abi.RoleUser:
		l.user(m.Parts)
	case abi.RoleAssistant:
		l.assistant(m.Parts)
	case abi.RoleTool:
		l.results(m.Parts)
		if len(l.dst) == 0 {
			return nil, errors.New("a tool message holds no tool_result")
		}
	default:
		return nil, errors.New("unknown role " + string(m.Role))
	}
	return l.dst, nil
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

func (l *list) user(parts []abi.Part) {
	var c list
	for _, p := range parts {
		switch p.Type {
		case abi.PartText:
			if p.Text != "" {
				c.next(`{"type":"input_text","text":`)
				c.text(p.Text)
				c.raw(`}`)
			}
		case abi.PartImage:
			c.next(`{"type":"input_image","detail":"auto","image_url":`)
			c.text(dataURL(p))
			c.raw(`}`)
		case abi.PartFile:
			c.next(`{"type":"input_file","filename":`)
			c.text(fileName(p))
			c.raw(`,"file_data":`)
			c.text(dataURL(p))
			c.raw(`}`)
		case abi.PartReasoning, abi.PartToolCall, abi.PartToolResult, abi.PartProviderTool: // not a person's
		}
	}
	if len(c.dst) == 0 {
		c.next(`{"type":"input_text","text":""}`)
	}
	l.next(`{"type":"message","role":"user","content":[`)
	l.dst = append(l.dst, c.dst...)
	l.raw(`]}`)
}

// dataURL is the address under which the API takes the contents themselves.
func dataURL(p abi.Part) string {
	return "data:" + p.MediaType + ";base64,{{blob:" + p.Blob + "}}"
}

// fileName returns a name, which the API needs to tell what kind of file it is.
func fileName(p abi.Part) string {
	if p.Name != "" || p.MediaType != "application/pdf" {
		return or(p.Name, "file")
	}
	return "file.pdf"
}

// assistant renders an answer as its items. An item of reasoning that is last
// came of an answer that broke off behind it; the API refuses one that nothing
// follows.
func (l *list) assistant(parts []abi.Part) {
	var reasoning []string
	item := func(text string) {
		for _, r := range reasoning {
			l.next(r)
		}
		reasoning = nil
		l.next(text)
	}
	for _, p := range parts {
		switch p.Type {
		case abi.PartText:
			if p.Text != "" {
				item(message(p.Text, p.Signature))
			}
		case abi.PartToolCall:
			item(functionCall(p))
		case abi.PartReasoning: // without the item itself it need not go back
			if isObject(p.Opaque) {
				reasoning = append(reasoning, p.Opaque)
			}
		case abi.PartProviderTool:
			if isObject(p.Opaque) {
				item(p.Opaque)
			}
		case abi.PartToolResult, abi.PartImage, abi.PartFile: // not a model's
		}
	}
	if len(l.dst) == 0 {
		l.next(message("", ""))
	}
}

func message(text, phase string) string {
	var l list
	l.raw(`{"type":"message","role":"assistant"`)
	if phase != "" {
		l.raw(`,"phase":`)
		l.text(phase)
	}
	l.raw(`,"content":`) // as text: a list would need the item's id and status
	l.text(text)
	l.raw(`}`)
	return string(l.dst)
}

func functionCall(p abi.Part) string {
	var l list
	l.raw(`{"type":"function_call","call_id":`)
	l.text(callID(p.CallID))
	l.raw(`,"name":`)
	l.text(p.Name)
	l.raw(`,"arguments":`)
	l.text(argumentsObject(p.Arguments))
	l.raw(`}`)
	return string(l.dst)
}

func (l *list) results(parts []abi.Part) {
	for _, p := range parts {
		if p.Type == abi.PartToolResult {
			l.next(`{"type":"function_call_output","call_id":`)
			l.text(callID(p.CallID))
			l.raw(`,"output":`)
			l.text(p.Text)
			l.raw(`}`)
		}
	}
}

// maxCallID is the longest call_id that the API takes, in bytes.
const maxCallID = 64

// callID makes an id of letters, digits, _ and - that is not too long, the same
// for a call and its result.
func callID(id string) string {
	b := make([]byte, 0, maxCallID)
	for i := 0; i < len(id) && i < maxCallID; i++ {
		c := id[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-'
		if !letter {
			c = '_'
		}
		b = append(b, c)
	}
	if len(id) > maxCallID { // its end is what sets it apart
		b = append(b[:maxCallID-9], '_')
		b = strconv.AppendUint(b, uint64(hash(id)), 16)
	}
	return string(b)
}

func isObject(text string) bool {
	s := jsonscan.New([]byte(text))
	return s.Kind() == jsonscan.Object && s.End() == nil
}

// argumentsObject returns the arguments, or an empty object in place of what is
// no JSON object: servers refuse the whole history for it (C028, C030). The call
// itself was never run with such arguments.
func argumentsObject(arguments string) string {
	if !isObject(arguments) {
		return "{}"
	}
	return arguments
}
