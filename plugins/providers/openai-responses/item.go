package main

import (
	"strings"

	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// The types of item that are handled by themselves. Every other is something
// that the provider has executed.
const (
	typeMessage    = "message"
	typeReasoning  = "reasoning"
	typeCall       = "function_call"
	typeCompaction = "compaction" // what the provider has made of a long conversation
)

// output is an item of the output.
type output struct {
	typ, id, callID, name, arguments string
	phase                            string // of a message: commentary or final_answer
	text                             string
	refused                          bool
	reasoning                        string
	encrypted                        bool   // there is something to send back in it
	shown                            string // what there is to show of a tool
	raw                              []byte
}

func readItemOf(raw []byte) output {
	o := output{raw: raw}
	s := jsonscan.New(raw)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		o.member(&s, key)
	}
	return o
}

func (o *output) member(s *jsonscan.Scanner, key []byte) {
	switch string(key) {
	case "type":
		o.typ = lenient.String(s)
	case "id":
		o.id = lenient.String(s)
	case "call_id":
		o.callID = lenient.String(s)
	case "name":
		o.name = lenient.String(s)
	case "arguments":
		o.arguments = readArguments(s)
	case "phase":
		o.phase = lenient.String(s)
	case "content":
		o.content(s)
	case "summary":
		o.summary(s)
	case "encrypted_content":
		o.encrypted = lenient.String(s) != "" || o.encrypted
	case "code", "query":
		o.shown = lenient.String(s)
	case "action": // of a web search
		o.action(s)
	case "queries":
		o.queries(s)
	}
}

// content reads the parts of a message, or the reasoning of an open model, which
// has to be sent back as well.
func (o *output) content(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		return
	}
	for s.Array(); s.Elem(); {
		if s.Kind() != jsonscan.Object {
			continue
		}
		p := readPart(s)
		switch p.typ {
		case "refusal":
			o.refused = o.refused || p.text != ""
			o.text += p.text
		case "reasoning_text":
			o.encrypted = true
			o.reasoning = joined(o.reasoning, p.text)
		default:
			o.text += p.text
		}
	}
}

func (o *output) summary(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		return
	}
	for s.Array(); s.Elem(); {
		if s.Kind() == jsonscan.Object {
			o.reasoning = joined(o.reasoning, readPart(s).text)
		}
	}
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + paragraph + b
}

type part struct{ typ, text string }

func readPart(s *jsonscan.Scanner) part {
	var p part
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return p
		}
		switch string(key) {
		case "type":
			p.typ = lenient.String(s)
		case "text", "refusal":
			p.text += lenient.String(s)
		}
	}
}

func (o *output) action(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "query", "url", "pattern":
			o.shown = lenient.String(s)
		}
	}
}

func (o *output) queries(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		return
	}
	for s.Array(); s.Elem(); {
		if q := lenient.String(s); q != "" && o.shown == "" {
			o.shown = q
		}
	}
}

// toolName names what the provider has executed: web_search for an item of type
// web_search_call, and a tool of an MCP server by its own name.
func (o *output) toolName() string {
	name := strings.TrimSuffix(o.typ, "_call")
	if o.name != "" {
		name += " " + o.name
	}
	return name
}
