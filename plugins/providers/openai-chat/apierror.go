package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// apiError is what a body or frame says about an error. The usual form is
// {"error":{"message":…,"type":…,"code":…}}, but error may be a string, the
// members may be the object's own (vLLM, Mistral, gateways), the message may be
// called detail, and Gemini puts the object into an array.
type apiError struct {
	message string
	raw     string // OpenRouter's error.metadata.raw
	code    string // error.code, as text if it is a number
	kind    string // error.type
	inner   string // Azure's error.innererror.code
	word    string // Gemini's error.status, a word
	param   string
	number  int64 // the code, or status, if it is a number
	flagged bool  // OpenRouter's moderation has refused the input
	retryMS int64 // Gemini's retryDelay
}

// readError reads the error in a document. It returns false if the document is
// not JSON or tells nothing.
func readError(data []byte) (apiError, bool) {
	var e apiError
	s := jsonscan.New(data)
	e.read(&s)
	return e, s.End() == nil && (e.message != "" || e.code != "" || e.kind != "" || e.word != "")
}

func (e *apiError) read(s *jsonscan.Scanner) {
	switch s.Kind() {
	case jsonscan.String:
		e.message = s.String()
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
func (e *apiError) object(s *jsonscan.Scanner) {
	var inner apiError
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
	e.replaceBy(&inner)
}

func (e *apiError) member(s *jsonscan.Scanner, key []byte) {
	switch string(key) {
	case "message", "msg", "detail", "error_description":
		if e.message == "" {
			e.readMessage(s)
		}
	case "code":
		e.readCode(s)
	case "type", "error_type": // error_type: Hugging Face TGI
		e.kind = lenient.String(s)
	case "status":
		if n, ok := lenient.Int(s); !ok {
			e.word = lenient.String(s)
		} else if e.number == 0 {
			e.number = n
		}
	case "param":
		e.param = lenient.String(s)
	case "innererror":
		var inner apiError
		inner.read(s)
		e.inner = inner.code
	case "metadata":
		e.metadata(s)
	case "details":
		e.details(s)
	}
}

// readMessage reads a message. FastAPI's is an array of objects, of which the
// first says enough.
func (e *apiError) readMessage(s *jsonscan.Scanner) {
	var inner apiError
	inner.read(s)
	e.message = inner.message
}

func (e *apiError) readCode(s *jsonscan.Scanner) {
	if n, ok := lenient.Int(s); ok {
		e.number = n
		e.code = strconv.FormatInt(n, 10)
		return
	}
	e.code = lenient.String(s)
	if n, err := strconv.ParseInt(e.code, 10, 64); err == nil {
		e.number = n
	}
}

// metadata reads OpenRouter's: the upstream's own words, without which the
// message is only "Provider returned error", and the reasons of a moderation.
func (e *apiError) metadata(s *jsonscan.Scanner) {
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
			e.raw = lenient.String(s)
		case "reasons":
			e.flagged = s.Kind() == jsonscan.Array && len(s.Raw()) > len(`[]`)
		}
	}
}

// details reads Google's list, in which one entry has the time to wait as a text
// of seconds: "34.07s".
func (e *apiError) details(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		return
	}
	for s.Array(); s.Elem(); {
		if s.Kind() != jsonscan.Object {
			continue
		}
		for s.Object(); ; {
			key, ok := s.Key()
			if !ok {
				break
			}
			if string(key) == "retryDelay" {
				e.retryMS = milliseconds(strings.TrimSuffix(lenient.String(s), "s"), 1000)
			}
		}
	}
}

// replaceBy takes over what the inner error says.
func (e *apiError) replaceBy(inner *apiError) {
	for _, f := range []struct{ to, from *string }{
		{&e.message, &inner.message},
		{&e.raw, &inner.raw},
		{&e.code, &inner.code},
		{&e.kind, &inner.kind},
		{&e.inner, &inner.inner},
		{&e.word, &inner.word},
		{&e.param, &inner.param},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if inner.number != 0 {
		e.number = inner.number
	}
	e.retryMS = max(e.retryMS, inner.retryMS)
	e.flagged = e.flagged || inner.flagged
}

// milliseconds reads a number of units of so many milliseconds; 0 if it is none,
// or one that no wait could be.
func milliseconds(text string, unit float64) int64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n > 0 && n*unit < 1e12) {
		return 0
	}
	return int64(n * unit)
}
