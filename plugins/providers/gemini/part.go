package main

import (
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// part is a Part: exactly one of text, a call of a tool, and something else, with
// what is said about it.
type part struct {
	text      []byte // a JSON string; nil if there is none
	thought   bool   // the text is the model's reasoning
	signature string // has to be sent back on this very part (C050)
	call      *call
	other     string // the member that holds something else, "" if none does
	shown     string // what there is to show of it
}

// call is a functionCall. It comes whole, its arguments are an object, and
// before Gemini 3 it has no id.
type call struct {
	id, name, args string
}

func readPart(s *jsonscan.Scanner) part {
	var p part
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return p
		}
		switch string(key) {
		case "text":
			if s.Kind() == jsonscan.String {
				p.text = s.Raw()
			}
		case "thought":
			p.thought = s.Kind() == jsonscan.Bool && s.Bool()
		case "thoughtSignature", "thought_signature": // the latter from some gateways
			p.signature = lenient.String(s)
		case "functionCall":
			if s.Kind() == jsonscan.Object {
				p.call = readCall(s)
			}
		case "partMetadata", "videoMetadata", "mediaResolution": // say something about the part
		default:
			if s.Kind() == jsonscan.Object {
				p.other = string(key)
				p.shown = readShown(s)
			}
		}
	}
}

func readCall(s *jsonscan.Scanner) *call {
	k := &call{name: "unnamed"}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return k
		}
		switch string(key) {
		case "id":
			k.id = lenient.String(s)
		case "name":
			if name := lenient.String(s); name != "" {
				k.name = name
			}
		case "args":
			if !s.Null() {
				k.args = string(s.Raw())
			}
		}
	}
}

// readShown returns what a person can read of executableCode (code),
// codeExecutionResult (output) and inlineData (mimeType).
func readShown(s *jsonscan.Scanner) string {
	shown := ""
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return shown
		}
		switch string(key) {
		case "code", "output", "mimeType":
			shown = lenient.String(s)
		}
	}
}

// toolName names what the provider itself has executed.
func toolName(member string) string {
	switch member {
	case "executableCode", "codeExecutionResult":
		return "code_execution"
	case "inlineData":
		return "inline_data"
	}
	return member
}

// rawParts returns the parts of the candidate as they are written. It reads the
// document once more, because hardly any frame has a part that needs it.
func rawParts(data []byte) [][]byte {
	var parts [][]byte
	inMember(data, "candidates", func(s *jsonscan.Scanner) {
		for s.Array(); s.Elem() && parts == nil; {
			candidate := s.Raw()
			if index, ok := memberInt(candidate, "index"); ok && index != 0 {
				continue
			}
			inMember(candidate, "content", func(s *jsonscan.Scanner) {
				inMember(s.Raw(), "parts", func(s *jsonscan.Scanner) {
					for s.Array(); s.Elem(); {
						parts = append(parts, s.Raw())
					}
				})
			})
		}
	})
	return parts
}

// inMember calls read at the value of a member of an object.
func inMember(object []byte, name string, read func(*jsonscan.Scanner)) {
	s := jsonscan.New(object)
	if s.Kind() != jsonscan.Object {
		return
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == name {
			read(&s)
			return
		}
	}
}

func memberInt(object []byte, name string) (n int64, ok bool) {
	inMember(object, name, func(s *jsonscan.Scanner) { n, ok = lenient.Int(s) })
	return n, ok
}
