package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// chunk is what a frame of a stream, or the body of a whole answer, says. It is
// read completely before anything of it is used: half a frame tells nothing.
//
// Members come in any order (llama.cpp puts finish_reason and index in front of
// delta), may be null or missing, and may be of a kind that nobody expects; then
// they are skipped.
type chunk struct {
	before    state // id and model are read only if they were not told
	id, model string

	choices bool // there is an array of choices
	choice       // the one that was asked for

	usage   *abi.Usage
	timings *abi.Usage
	failed  bool // the frame as a whole is an error
}

// choice is a choice, whose message is whole or a piece.
type choice struct {
	index     int64
	text      piece
	content   piece // the member reasoning_content
	reasoning piece // the member reasoning
	details   details
	calls     []call
	refused   bool
	finish    string // empty if there is none: some servers send "" in every chunk
	failure   []byte // an error that is the choice's
}

// call is a tool call, or a fragment of one.
type call struct {
	index           *int64 // nil if the server sends none, which is not 0 (C022)
	id, name, input string
}

// resume makes the pieces follow those of the chunks before.
func (c *chunk) resume() {
	if c.before.text|c.before.reasoning != 0 { // hardly ever
		why := after(c.before.reasoning)
		c.text, c.content, c.reasoning, c.details.text = after(c.before.text), why, why, why
	}
}

// read reads a frame or body.
func (c *chunk) read(data []byte) error {
	c.resume()
	s := jsonscan.New(data)
	if s.Kind() != jsonscan.Object {
		// Gemini's compatible endpoint wraps an error in an array.
		c.failed = s.Kind() == jsonscan.Array
		return s.End()
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		c.member(&s, key)
	}
	return s.End()
}

func (c *chunk) member(s *jsonscan.Scanner, key []byte) {
	switch string(key) {
	case "choices":
		if s.Kind() == jsonscan.Array {
			c.choices = true
			s.Array()
			c.readChoices(s)
		}
	case "usage":
		c.setUsage(readUsage(s))
	case "x_groq": // Groq's, in the last chunk
		if s.Kind() == jsonscan.Object {
			c.groq(s)
		}
	case "timings": // llama.cpp's; usage knows better
		c.timings = readTimings(s)
	case "error":
		c.failed = c.failed || lenient.Told(s)
	case "object": // vLLM's errors have no member error
		c.failed = c.failed || string(s.Raw()) == `"error"`
	case "id":
		if !c.before.told() {
			c.id = lenient.String(s)
		}
	case "model":
		if !c.before.told() {
			c.model = lenient.String(s)
		}
	}
}

func (c *chunk) groq(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		switch {
		case !ok:
			return
		case string(key) == "usage":
			c.setUsage(readUsage(s))
		case string(key) == "error":
			c.failed = c.failed || lenient.Told(s)
		}
	}
}

// readChoices reads the choice with the index 0, which may be left out, and
// ignores all others: the request asks for one.
func (c *chunk) readChoices(s *jsonscan.Scanner) {
	for found := false; s.Elem(); {
		if found || s.Kind() != jsonscan.Object {
			continue
		}
		c.readChoice(s)
		if found = c.index == 0; !found {
			c.choice = choice{}
			c.resume()
		}
	}
}

func (c *chunk) readChoice(s *jsonscan.Scanner) {
	var message []byte
	delta := false
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "index":
			c.index, _ = lenient.Int(s)
		case "delta":
			if s.Kind() == jsonscan.Object {
				delta = true
				c.delta(s)
			}
		case "message":
			if s.Kind() == jsonscan.Object {
				message = s.Raw()
			}
		case "finish_reason":
			c.finish = lenient.String(s)
		case "usage": // Moonshot's, in the last chunk
			c.setUsage(readUsage(s))
		case "error": // OpenRouter's
			if s.Kind() == jsonscan.Object {
				c.failure = s.Raw()
			}
		}
	}
	if message != nil && !delta {
		m := jsonscan.New(message)
		c.delta(&m)
	}
}

// delta reads the piece of a streamed message, or a whole message.
func (c *choice) delta(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "content":
			c.readContent(s)
		case "reasoning_content":
			c.content.read(s)
		case "reasoning":
			c.reasoning.read(s)
		case "reasoning_details":
			c.details.read(s)
		case "refusal":
			c.refusal(s)
		case "tool_calls":
			if s.Kind() == jsonscan.Array {
				for s.Array(); s.Elem(); {
					c.toolCall(s)
				}
			}
		case "function_call":
			c.functionCall(s)
		}
	}
}

// refusal reads OpenAI's refusal, which comes in place of content.
func (c *choice) refusal(s *jsonscan.Scanner) {
	before := c.text
	c.text.read(s)
	c.refused = c.refused || c.text != before
}

// readContent reads content: a string, or Mistral's array of parts, which also
// holds the reasoning.
func (c *choice) readContent(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		c.text.read(s)
		return
	}
	for s.Array(); s.Elem(); {
		if s.Kind() == jsonscan.Object {
			c.part(s)
		} else {
			c.text.read(s)
		}
	}
}

// part reads {"type":"text","text":…} or {"type":"thinking","thinking":…}, whose
// value is a string or an array of text parts.
func (c *choice) part(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		switch {
		case !ok:
			return
		case string(key) == "text":
			c.text.read(s)
		case string(key) == "thinking" && s.Kind() == jsonscan.Array:
			for s.Array(); s.Elem(); {
				c.thinking(s)
			}
		case string(key) == "thinking":
			c.content.read(s)
		}
	}
}

func (c *choice) thinking(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		if string(key) == "text" {
			c.content.read(s)
		}
	}
}

// reasoned returns the piece of reasoning: the first member that has one.
func (c *choice) reasoned() *piece {
	switch {
	case c.content.said():
		return &c.content
	case c.reasoning.said():
		return &c.reasoning
	}
	return &c.details.text
}

func (c *chunk) setUsage(u *abi.Usage) {
	if u != nil {
		c.usage = u
	}
}

// counted returns what is known of the usage, nil if nothing is.
func (c *chunk) counted() *abi.Usage {
	if c.usage != nil {
		return c.usage
	}
	return c.timings
}
