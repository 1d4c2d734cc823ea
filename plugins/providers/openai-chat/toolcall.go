package main

import (
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// toolCall reads {"index":0,"id":…,"function":{"name":…,"arguments":…}}, of which
// a stream sends the arguments in pieces and the rest once.
func (c *choice) toolCall(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	var k call
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "index":
			if n, ok := lenient.Int(s); ok && n >= 0 {
				k.index = &n
			}
		case "id":
			k.id = lenient.String(s)
		case "function":
			k.function(s)
		}
	}
	c.calls = append(c.calls, k)
}

// functionCall reads the single call of the API's first version. It has no id,
// so its pieces are joined by the index.
func (c *choice) functionCall(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	k := call{index: new(int64)}
	k.function(s)
	c.calls = append(c.calls, k)
}

func (k *call) function(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	for s.Object(); ; {
		key, ok := s.Key()
		switch {
		case !ok:
			return
		case string(key) == "name":
			k.name = lenient.String(s)
		case string(key) == "arguments":
			k.input = readArguments(s)
		}
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
