// Package openai reads what the servers with APIs like OpenAI's have in common:
// their errors and their lists of models. What a vendor adds goes into a Dialect.
package openai

import (
	"strconv"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// Error is what a body or frame says about an error. The usual form is
// {"error":{"message":…,"type":…,"code":…}}, but error may be a string or in an
// array, the members may be the object's own (vLLM, Mistral, gateways), and the
// message may be called detail. What is not said is "" or 0.
type Error struct {
	Message string
	Raw     string // OpenRouter's error.metadata.raw
	Code    string // error.code, as text if it is a number
	Kind    string // error.type
	Inner   string // Azure's error.innererror.code
	Word    string // Gemini's error.status, a word; a dialect reads it
	Param   string
	Number  int64 // the code, or status, if it is a number
	Flagged bool  // OpenRouter's moderation has refused the input
	RetryMS int64 // how long to wait; a dialect reads it
}

// Dialect is what an API has of its own. Its functions may be nil.
type Dialect struct {
	// Member reads a member of an error in the API's own way, and returns true if
	// it did; it must not read from s if it returns false.
	Member func(e *Error, key string, s *jsonscan.Scanner) bool
	// Sure is the class of a word, such as a code, that says more than the status,
	// and Vague of one that says less; "" if it is none of the API's own.
	Sure  func(word string, status int64) abi.FailureClass
	Vague func(word string) abi.FailureClass
}

// Read reads the error in a document. It returns false if the document is not JSON
// or tells nothing.
func (d *Dialect) Read(data []byte) (Error, bool) {
	s := jsonscan.New(data)
	r := reader{d: d}
	r.read(&s)
	e := r.Error
	return e, s.End() == nil && (e.Message != "" || e.Code != "" || e.Kind != "" || e.Word != "")
}

// reader reads one error.
type reader struct {
	Error
	d *Dialect
}

func (e *reader) read(s *jsonscan.Scanner) {
	switch s.Kind() {
	case jsonscan.String:
		e.Message = s.String()
	case jsonscan.Object:
		e.object(s)
	case jsonscan.Array:
		for first := s.Array(); s.Elem(); first = false {
			if first {
				e.read(s)
			}
		}
	case jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
	}
}

// object reads an object that is an error or holds one. What the inner one says
// wins, wherever it stands.
func (e *reader) object(s *jsonscan.Scanner) {
	inner := reader{d: e.d}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "error", "errors":
			inner.read(s)
		default:
			e.member(s, key)
		}
	}
	e.replaceBy(&inner.Error)
}

func (e *reader) member(s *jsonscan.Scanner, key []byte) {
	if e.d.Member != nil && e.d.Member(&e.Error, string(key), s) {
		return
	}
	switch string(key) {
	case "message", "msg", "detail", "error_description":
		if e.Message == "" {
			e.readMessage(s)
		}
	case "code":
		e.readCode(s)
	case "type":
		e.Kind = lenient.String(s)
	case "status":
		if n, ok := lenient.Int(s); ok && e.Number == 0 {
			e.Number = n
		}
	case "param":
		e.Param = lenient.String(s)
	case "innererror":
		inner := reader{d: e.d}
		inner.read(s)
		e.Inner = inner.Code
	case "metadata":
		e.metadata(s)
	}
}

// readMessage reads a message. FastAPI's is an array of objects, of which the
// first says enough.
func (e *reader) readMessage(s *jsonscan.Scanner) {
	inner := reader{d: e.d}
	inner.read(s)
	e.Message = inner.Message
}

func (e *reader) readCode(s *jsonscan.Scanner) {
	if n, ok := lenient.Int(s); ok {
		e.Number = n
		e.Code = strconv.FormatInt(n, 10)
		return
	}
	e.Code = lenient.String(s)
	if n, err := strconv.ParseInt(e.Code, 10, 64); err == nil {
		e.Number = n
	}
}

// metadata reads OpenRouter's: the upstream's own words, without which the
// message is only "Provider returned error", and the reasons of a moderation.
func (e *reader) metadata(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "raw":
			e.Raw = lenient.String(s)
		case "reasons":
			e.Flagged = s.Kind() == jsonscan.Array && len(s.Raw()) > len(`[]`)
		}
	}
}

// replaceBy takes over what the inner error says.
func (e *Error) replaceBy(inner *Error) {
	for _, f := range []struct{ to, from *string }{
		{&e.Message, &inner.Message},
		{&e.Raw, &inner.Raw},
		{&e.Code, &inner.Code},
		{&e.Kind, &inner.Kind},
		{&e.Inner, &inner.Inner},
		{&e.Word, &inner.Word},
		{&e.Param, &inner.Param},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if inner.Number != 0 {
		e.Number = inner.Number
	}
	e.RetryMS = max(e.RetryMS, inner.RetryMS)
	e.Flagged = e.Flagged || inner.Flagged
}

// Milliseconds reads a number of units of so many milliseconds; 0 if it is none,
// or one that no wait could be.
func Milliseconds(text string, unit float64) int64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n*unit < 1e12) {
		return 0
	}
	return int64(n * unit)
}
