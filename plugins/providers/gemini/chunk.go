package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// chunk is what a frame of a stream, or the body of a whole answer, says: both
// are a GenerateContentResponse. It is read completely before anything of it is
// used: half a frame tells nothing.
//
// Members come in any order, may be null or missing, and may be of a kind that
// nobody expects; then they are skipped.
type chunk struct {
	before    state // id and model are read only if they were not told
	id, model string

	answer    bool // there are candidates, a usage or a feedback to the prompt
	candidate      // the one that was asked for

	usage   *abi.Usage
	blocked string // why the prompt was refused
	why     string // the provider's words for that, or for the finish reason
	failed  bool   // the frame is an error
}

// candidate is one of the answers, of which a request asks for one.
type candidate struct {
	index  int64
	parts  []part
	finish string
}

// read reads a frame or body.
func (c *chunk) read(data []byte) error {
	s := jsonscan.New(data)
	if s.Kind() != jsonscan.Object {
		c.failed = s.Kind() == jsonscan.Array // an error in an array
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
	case "candidates":
		if s.Kind() == jsonscan.Array {
			c.answer = true
			s.Array()
			c.readCandidates(s)
		}
	case "usageMetadata":
		c.answer = c.answer || s.Kind() == jsonscan.Object
		c.usage = readUsage(s)
	case "promptFeedback":
		if s.Kind() == jsonscan.Object {
			c.answer = true
			c.feedback(s)
		}
	case "error":
		c.failed = lenient.Told(s)
	case "responseId":
		if !c.before.told {
			c.id = lenient.String(s)
		}
	case "modelVersion":
		if !c.before.told {
			c.model = lenient.String(s)
		}
	}
}

// feedback reads promptFeedback, which has safety ratings, and a blockReason if
// there is no answer because of the prompt.
func (c *chunk) feedback(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		switch {
		case !ok:
			if c.blocked == "BLOCK_REASON_UNSPECIFIED" {
				c.blocked = ""
			}
			return
		case string(key) == "blockReason":
			c.blocked = lenient.String(s)
		case string(key) == "blockReasonMessage":
			c.why = lenient.String(s)
		}
	}
}

// readCandidates reads the candidate with the index 0, which may be left out,
// and ignores all others.
func (c *chunk) readCandidates(s *jsonscan.Scanner) {
	for found := false; s.Elem(); {
		if found || s.Kind() != jsonscan.Object {
			continue
		}
		c.readCandidate(s)
		if found = c.index == 0; !found {
			c.candidate = candidate{}
		}
	}
}

func (c *chunk) readCandidate(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "index":
			c.index, _ = lenient.Int(s)
		case "content":
			if s.Kind() == jsonscan.Object {
				c.content(s)
			}
		case "finishReason":
			c.finish = lenient.String(s)
		}
	}
}

// content reads a Content, which may be {} beside a finish reason (C048).
func (c *candidate) content(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		if string(key) == "parts" && s.Kind() == jsonscan.Array {
			for s.Array(); s.Elem(); {
				if s.Kind() == jsonscan.Object {
					c.parts = append(c.parts, readPart(s))
				} else {
					c.parts = append(c.parts, part{}) // keeps the count
				}
			}
		}
	}
}
