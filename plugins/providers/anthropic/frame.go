package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// frame is what a frame of a stream says, whatever its type. It is read
// completely before anything of it is used: half a frame tells nothing.
//
// Members come in any order, may be null or missing, and may be of a kind that
// nobody expects; then they are skipped.
type frame struct {
	typ     string
	index   int64 // of the block, -1 if there is none
	message []byte
	block   []byte
	delta   delta
	usage   *usage
	failed  bool // the frame has an error
}

// delta is the member delta: a piece of a block, or how the message ends.
type delta struct {
	typ       string
	text      []byte // the JSON string of text, thinking or partial_json
	signature string
	citation  []byte // a JSON object
	stop      string
}

func readFrame(data []byte) (frame, error) {
	f := frame{index: -1}
	s := jsonscan.New(data)
	if s.Kind() != jsonscan.Object {
		return f, s.End()
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		f.member(&s, key)
	}
	return f, s.End()
}

func (f *frame) member(s *jsonscan.Scanner, key []byte) {
	switch string(key) {
	case "type":
		f.typ = lenient.String(s)
	case "index":
		if n, ok := lenient.Int(s); ok && n >= 0 && n <= maxIndex {
			f.index = n
		}
	case "message":
		f.message = lenient.Object(s)
	case "content_block":
		f.block = lenient.Object(s)
	case "delta":
		f.delta = readDelta(s)
	case "usage":
		f.usage = readUsage(s)
	case "error":
		f.failed = isError(s)
	}
}

// maxIndex bounds the index of a block.
const maxIndex = 1 << 30

func readDelta(s *jsonscan.Scanner) delta {
	var d delta
	if s.Kind() != jsonscan.Object {
		return d
	}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return d
		}
		switch string(key) {
		case "type":
			d.typ = lenient.String(s)
		case "text", "thinking", "partial_json":
			if s.Kind() == jsonscan.String {
				d.text = s.Raw()
			}
		case "signature":
			d.signature = lenient.String(s)
		case "citation":
			d.citation = lenient.Object(s)
		case "stop_reason":
			d.stop = lenient.String(s)
		}
	}
}

// usage is what a message or a delta counts. The input does not count what
// came from the cache or went into it.
type usage struct{ input, output, read, written, thought *int64 }

func readUsage(s *jsonscan.Scanner) *usage {
	if s.Kind() != jsonscan.Object {
		return nil
	}
	u := &usage{}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return u
		}
		var to **int64
		switch string(key) {
		case "input_tokens":
			to = &u.input
		case "output_tokens":
			to = &u.output
		case "cache_read_input_tokens":
			to = &u.read
		case "cache_creation_input_tokens":
			to = &u.written
		case "output_tokens_details":
			u.thought = readThought(s)
		}
		if n, ok := lenient.Int(s); ok && to != nil && n >= 0 {
			*to = &n
		}
	}
}

// readThought reads how much of the output was thinking.
func readThought(s *jsonscan.Scanner) *int64 {
	if s.Kind() != jsonscan.Object {
		return nil
	}
	var thought *int64
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return thought
		}
		if string(key) == "thinking_tokens" {
			if n, ok := lenient.Int(s); ok && n >= 0 {
				thought = &n
			}
		}
	}
}

// tokens gives what abi.Usage wants: the input with what the cache gave and
// took. before is what the message began with, for a later one that counts the
// input alone. No prompt has no tokens: servers that say 0 do not know (CST-2).
func (u *usage) tokens(before *usage) abi.Usage {
	out := abi.Usage{Output: u.output, CacheRead: u.read, CacheWrite: u.written, Reasoning: u.thought}
	if before != nil && out.CacheRead == nil {
		out.CacheRead = before.read
	}
	if before != nil && out.CacheWrite == nil {
		out.CacheWrite = before.written
	}
	if u.input != nil {
		n := *u.input
		for _, part := range []*int64{out.CacheRead, out.CacheWrite} {
			if part != nil {
				n += *part
			}
		}
		if n > 0 {
			out.Input = &n
		}
	}
	return out
}
