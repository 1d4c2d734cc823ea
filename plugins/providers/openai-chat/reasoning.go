package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// Reasoning comes under three names. reasoning_content is DeepSeek's, and
// Qwen's, llama.cpp's and others'; reasoning is OpenRouter's, Groq's, Ollama's,
// LM Studio's and newer vLLM's; some send both with the same text, so only one
// is read. OpenRouter adds reasoning_details, an array that holds the same text
// once more, with what has to be sent back: signatures and encrypted reasoning.
//
// An element that has to be sent back is the event's signature, as it is (STR-8).
// Reasoning without one is not sent back: most servers ignore it, and some
// refuse it.

// details are what reasoning_details holds.
type details struct {
	text   piece
	opaque [][]byte // the elements that have to be sent back
}

func (d *details) read(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		return
	}
	for s.Array(); s.Elem(); {
		if s.Kind() == jsonscan.Object {
			d.element(s.Raw())
		}
	}
}

func (d *details) element(raw []byte) {
	opaque := false
	s := jsonscan.New(raw)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "text", "summary":
			d.text.read(&s)
		case "signature", "data":
			opaque = opaque || s.Kind() == jsonscan.String
		}
	}
	if opaque {
		d.opaque = append(d.opaque, raw)
	}
}

// appendDetails appends the member reasoning_details, if there is anything to
// send back.
func appendDetails(dst []byte, parts []abi.Part) []byte {
	end := len(dst)
	for _, p := range parts {
		if p.Type != abi.PartReasoning || p.Signature == "" {
			continue
		}
		s := jsonscan.New([]byte(p.Signature))
		if s.Kind() != jsonscan.Object || s.End() != nil {
			continue // another vendor's: the session has moved (C050)
		}
		if len(dst) == end {
			dst = append(dst, `,"reasoning_details":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = appendDetail(dst, p)
	}
	if len(dst) > end {
		dst = append(dst, ']')
	}
	return dst
}

// appendDetail appends the element with the text of the whole part: in a stream,
// the element with the signature comes last and has none.
func appendDetail(dst []byte, p abi.Part) []byte {
	first, text := true, p.Text != ""
	dst = append(dst, '{')
	s := jsonscan.New([]byte(p.Signature))
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsonscan.AppendString(dst, key), ':')
		if string(key) == "text" && p.Text != "" {
			dst, text = compose.AppendText(dst, p.Text), false
			continue
		}
		if string(key) == "data" {
			text = false // encrypted: it has no text
		}
		dst = append(dst, s.Raw()...)
	}
	if text && !first {
		dst = compose.AppendText(append(dst, `,"text":`...), p.Text)
	}
	return append(dst, '}')
}
