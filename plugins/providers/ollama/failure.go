package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/failure"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// apiError is what a body or line says about an error: {"error":"…"}, and
// nothing else that a program can go by. Proxies add a number, or make an object
// of it.
type apiError struct {
	message string
	number  int64
}

// isError reports whether the value of a member error tells of an error.
func isError(s *jsonscan.Scanner) bool {
	switch s.Kind() {
	case jsonscan.String, jsonscan.Object:
		return len(s.Raw()) > len(`""`)
	case jsonscan.Array, jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
	}
	return false
}

// readError reads the error in a document. It returns false if the document is
// not JSON or tells nothing.
func readError(data []byte) (apiError, bool) {
	var e apiError
	s := jsonscan.New(data)
	if s.Kind() == jsonscan.Object {
		e.object(&s)
	}
	return e, s.End() == nil && e.message != ""
}

func (e *apiError) object(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "error":
			if s.Kind() == jsonscan.Object {
				e.object(s)
			} else if text := lenient.String(s); text != "" {
				e.message = text
			}
		case "message", "detail":
			if text := lenient.String(s); e.message == "" {
				e.message = text
			}
		case "status", "code", "StatusCode":
			if n := readCount(s); n != nil && *n >= 400 && *n < 600 {
				e.number = *n
			}
		}
	}
}

// Error says why a response is no answer.
// https://docs.ollama.com/api/errors
func (chat) Error(r abi.HTTPResponse) abi.Failure {
	e, ok := readError([]byte(r.Body))
	f := abi.Failure{Class: e.class(r.Status), Message: e.message, Status: r.Status}
	switch {
	case r.Status == 404 && ok: // an unknown path gives a text that is not JSON
		f.Class = abi.FailureModelNotFound
	case r.Status == 400 && e.message == tooLong:
		f.Class = abi.FailureContextOverflow
	}
	if !ok {
		f.Message = failure.UnexpectedBody(&r)
	}
	if !ok || r.Status < 400 || r.Status == 404 || r.Status == 405 {
		f.Message += " (" + where(r.URL) + ")"
	}
	return f
}

// tooLong is the whole of what the server says when the prompt does not fit and
// truncate is false: that and nothing else, so no text that only speaks of it is
// taken for it. There is no field that tells.
const tooLong = "the input length exceeds the context length"

// lineError reads an error in an answer whose status was 200.
func lineError(data []byte) abi.Failure {
	e, ok := readError(data)
	if !ok {
		e.message = "the server reported an error: " + failure.Quote(string(data))
	}
	return abi.Failure{Class: e.class(0), Message: e.message, Status: e.number}
}

// class decides what kind of failure it is, from the HTTP status, never from words
// in the message. A status of 200 or 0 says nothing: then a number in the body
// stands for it.
func (e *apiError) class(status int64) abi.FailureClass {
	if status < 400 {
		status = e.number
	}
	if status == 504 { // of a gateway
		return abi.FailureServer
	}
	if c := failure.ByStatus(status); c != "" {
		return c
	}
	// An error without a number after the request was accepted: the server's.
	return abi.FailureServer
}

// where names the address, and what is most often wrong with it.
func where(url string) string {
	root, _, _ := strings.Cut(url, "/api/")
	switch {
	case url == "":
		return "check base_url"
	case strings.HasSuffix(root, "/v1"):
		return "from " + url + ": base_url is without /v1 here: try " + strings.TrimSuffix(root, "/v1")
	}
	return "from " + url + ": check base_url"
}
