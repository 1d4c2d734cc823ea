package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// block is a block of the content.
type block struct {
	typ, id, name  string
	text, thinking string
	signature      string
	citations      []byte // a JSON array; nil if there is nothing in it
	input          []byte // a JSON value; nil if there is none
	content        []byte // of a result: a JSON value
	raw            []byte
}

func readBlock(raw []byte) block {
	b := block{raw: raw}
	s := jsonscan.New(raw)
	if s.Kind() != jsonscan.Object {
		return b
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "type":
			b.typ = lenient.String(&s)
		case "id", "tool_use_id":
			b.id = lenient.String(&s)
		case "name":
			b.name = lenient.String(&s)
		case "text":
			b.text = lenient.String(&s)
		case "thinking":
			b.thinking = lenient.String(&s)
		case "signature":
			b.signature = lenient.String(&s)
		case "citations":
			if s.Kind() == jsonscan.Array {
				b.citations = filled(s.Raw())
			}
		case "input":
			b.input = s.Raw()
		case "content":
			b.content = s.Raw()
		}
	}
	return b
}

// filled returns the JSON array, nil if there is nothing in it.
func filled(array []byte) []byte {
	s := jsonscan.New(array)
	s.Array()
	if !s.Elem() {
		return nil
	}
	return array
}

// withInput returns the block as it began, with an input that came in pieces in
// the place of its own.
func withInput(start, input string) string {
	if !isObject(input) {
		input = "{}"
	}
	var l list
	done := false
	s := jsonscan.New([]byte(start))
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		name := string(key)
		value := string(s.Raw())
		if name == "input" {
			value, done = input, true
		}
		l.next("")
		l.dst = append(append(jsonscan.AppendString(l.dst, name), ':'), value...)
	}
	if !done {
		l.next(`"input":` + input)
	}
	return "{" + string(l.dst) + "}"
}

// arguments are the input as text, "" if there is nothing in it: then it comes in
// pieces, or there is none.
func (b *block) arguments() string {
	s := jsonscan.New(b.input)
	if len(b.input) == 0 || s.Kind() != jsonscan.Object {
		return ""
	}
	s.Object()
	if _, ok := s.Key(); !ok {
		return ""
	}
	return string(b.input)
}

// executed tells whether the provider itself runs, or ran, what the block
// speaks of: everything that has no meaning of its own here.
func (b *block) executed() bool {
	switch b.typ {
	case "text", "thinking", "redacted_thinking", "tool_use":
		return false
	}
	return true
}

// toolName is how a provider's own tool is shown: the result of one has its name
// in its type.
func (b *block) toolName() string {
	if b.name != "" {
		return b.name
	}
	return strings.TrimSuffix(strings.TrimSuffix(b.typ, "_result"), "_tool")
}

// at returns the index of a part: the place of its block.
func at(place int64) *int64 {
	if place < 0 {
		return nil
	}
	return &place
}

// event is what a whole block tells, of text, thinking or a tool of the
// provider's.
func (b *block) event(place int64) abi.Event {
	switch b.typ {
	case "text":
		return abi.Event{Type: abi.EventText, Text: b.text, Signature: string(b.citations), Index: at(place)}
	case "thinking":
		return abi.Event{Type: abi.EventReasoning, Text: b.thinking, Signature: b.signature, Index: at(place)}
	case "redacted_thinking":
		return abi.Event{Type: abi.EventReasoning, Opaque: string(b.raw), Index: at(place)}
	case "tool_use":
		return abi.Event{Type: abi.EventToolCall, Index: at(place), ID: b.id, Name: b.name, Arguments: b.arguments()}
	}
	return abi.Event{Type: abi.EventProviderTool, ID: b.id, Name: b.toolName(), Text: b.shown(), Opaque: string(b.raw)}
}
