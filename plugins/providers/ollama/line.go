package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// line is what a line of a stream, or the body of a whole answer, says. It is
// read completely before anything of it is used: half a line tells nothing.
//
// Members come in any order, may be null or missing, and may be of a kind that
// nobody expects; then they are skipped.
type line struct {
	before  state
	model   string
	message bool // there is a message
	text    piece
	thought piece
	calls   []call
	done    bool
	reason  string
	usage   abi.Usage
	failed  bool // the line is an error
}

// call is a tool call. It comes whole, and older servers give it no id.
type call struct{ id, name, input string }

// read reads a line or body.
func (l *line) read(data []byte) error {
	l.text, l.thought = after(l.before.text), after(l.before.thinking)
	s := jsonscan.New(data)
	if s.Kind() != jsonscan.Object {
		return s.End()
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		l.member(&s, key)
	}
	return s.End()
}

func (l *line) member(s *jsonscan.Scanner, key []byte) {
	switch string(key) {
	case "message":
		if s.Kind() == jsonscan.Object {
			l.message = true
			l.readMessage(s)
		}
	case "done":
		l.done = s.Kind() == jsonscan.Bool && s.Bool()
	case "model":
		if !l.before.told {
			l.model = lenient.String(s)
		}
	case "done_reason":
		l.reason = lenient.String(s)
	case "prompt_eval_count":
		l.usage.Input = readCount(s)
	case "eval_count":
		l.usage.Output = readCount(s)
	case "error":
		l.failed = l.failed || isError(s)
	}
}

func (l *line) readMessage(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "content":
			l.text.read(s)
		case "thinking", "reasoning_content": // the latter is of imitations
			l.thought.read(s)
		case "tool_calls":
			if s.Kind() == jsonscan.Array {
				for s.Array(); s.Elem(); {
					l.toolCall(s)
				}
			}
		}
	}
}

// toolCall reads {"id":…,"function":{"name":…,"arguments":{…}}}. The index that
// some servers give begins anew with every line, so it says nothing.
func (l *line) toolCall(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	var c call
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "id":
			c.id = lenient.String(s)
		case "function":
			c.function(s)
		}
	}
	l.calls = append(l.calls, c)
}

func (c *call) function(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	for s.Object(); ; {
		key, ok := s.Key()
		switch {
		case !ok:
			return
		case string(key) == "name":
			c.name = lenient.String(s)
		case string(key) == "arguments":
			c.input = readArguments(s)
		}
	}
}

// readArguments reads arguments: JSON itself, or, from some servers, JSON as
// text (C028).
func readArguments(s *jsonscan.Scanner) string {
	switch s.Kind() {
	case jsonscan.Object, jsonscan.Array:
		return string(s.Raw())
	case jsonscan.String:
		return s.String()
	case jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
	}
	return ""
}

// readCount returns a number of tokens, nil if the value is none.
func readCount(s *jsonscan.Scanner) *int64 {
	if s.Kind() != jsonscan.Number {
		return nil
	}
	n := int64(s.Float())
	if n < 0 {
		return nil
	}
	return &n
}
