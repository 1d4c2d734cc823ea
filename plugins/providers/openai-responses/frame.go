package main

import (
	"github.com/zchost/zchost/abi/jsonscan"
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
		f.typ = readString(s)
	case "delta":
		if s.Kind() == jsonscan.String {
			f.delta = s.Raw()
		}
	case "item_id":
		f.itemID = readString(s)
	case "output_index":
		if n, ok := readInt(s); ok && n >= 0 && n <= maxPlace {
			f.place = n
		}
	case "summary_index":
		f.part, _ = readInt(s)
	case "arguments":
		f.arguments = readArguments(s)
	case "item":
		f.item = readObject(s)
	case "response":
		f.response = readObject(s)
	case "object":
		f.object = readString(s)
	case "error":
		f.failed = isError(s)
	}
}

// readObject returns the next value as it is written if it is an object, and nil
// otherwise.
func readObject(s *jsonscan.Scanner) []byte {
	if s.Kind() != jsonscan.Object {
		return nil
	}
	return s.Raw()
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

// readString returns the next value if it is a string, and "" otherwise.
func readString(s *jsonscan.Scanner) string {
	if s.Kind() != jsonscan.String {
		return ""
	}
	return s.String()
}

// readInt returns the next value if it is a number.
func readInt(s *jsonscan.Scanner) (int64, bool) {
	if s.Kind() != jsonscan.Number {
		return 0, false
	}
	return int64(s.Float()), true
}
