package main

import (
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// frame is what a frame of a stream says, whatever its type: the events of the
// API share the names of their members. It is read completely before anything of
// it is used: half a frame tells nothing.
//
// Members come in any order, may be null or missing, and may be of a kind that
// nobody expects; then they are skipped.
type frame struct {
	typ       string
	delta     []byte // a JSON string; nil if there is none
	arguments string
	itemID    string
	place     int64 // output_index, -1 if there is none
	part      int64 // summary_index, or content_index of reasoning
	item      []byte
	response  []byte
	object    string // "response" if the frame is a whole response
	failed    bool   // the frame has an error
}

func readFrame(data []byte) (frame, error) {
	f := frame{place: -1}
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
	case "delta":
		if s.Kind() == jsonscan.String {
			f.delta = s.Raw()
		}
	case "item_id":
		f.itemID = lenient.String(s)
	case "output_index":
		if n, ok := lenient.Int(s); ok && n >= 0 && n <= maxPlace {
			f.place = n
		}
	case "summary_index":
		f.part, _ = lenient.Int(s)
	case "arguments":
		f.arguments = readArguments(s)
	case "item":
		f.item = lenient.Object(s)
	case "response":
		f.response = lenient.Object(s)
	case "object":
		f.object = lenient.String(s)
	case "error":
		f.failed = lenient.Told(s)
	}
}

// readArguments reads arguments: JSON as text, or, from some servers, the JSON
// itself (C028).
func readArguments(s *jsonscan.Scanner) string {
	switch s.Kind() {
	case jsonscan.String:
		return s.String()
	case jsonscan.Object, jsonscan.Array:
		return string(s.Raw())
	case jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
	}
	return ""
}
