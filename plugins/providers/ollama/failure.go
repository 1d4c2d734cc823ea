package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// maxQuote bounds how much of something unexpected is quoted, in bytes.
const maxQuote = 200

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
			} else if text := readString(s); text != "" {
				e.message = text
			}
		case "message", "detail":
			if text := readString(s); e.message == "" {
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
		f.Message = unexpectedBody(&r)
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
		e.message = "the server reported an error: " + quote(string(data))
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
	switch {
	case status == 401 || status == 403:
		return abi.FailureAuth
	case status == 402: // of the cloud
		return abi.FailureQuota
	case status == 408:
		return abi.FailureTimeout
	case status == 409 || status == 425:
		return abi.FailureServer
	case status == 413:
		return abi.FailureContextOverflow
	case status == 429:
		return abi.FailureRateLimited
	case status == 503 || status == 529: // 503: the queue is full
		return abi.FailureOverloaded
	case status >= 400 && status < 500:
		return abi.FailureInvalidRequest
	}
	// An error without a number after the request was accepted: the server's.
	return abi.FailureServer
}

// unexpectedBody describes a body that is no error of the API.
func unexpectedBody(r *abi.HTTPResponse) string {
	status := "HTTP " + strconv.FormatInt(r.Status, 10)
	body := strings.TrimSpace(r.Body)
	switch {
	case body == "":
		return status + " with an empty body"
	case body[0] == '<' || strings.HasPrefix(r.Header("content-type"), "text/html"):
		return status + " with a web page in place of an answer"
	case body[0] == '{' || body[0] == '[':
		return status + " with JSON that is neither an answer nor an error: " + quote(body)
	}
	return status + " with a body that is not JSON: " + quote(body)
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

func quote(text string) string {
	if len(text) > maxQuote {
		text = strings.ToValidUTF8(text[:maxQuote], "") + "…"
	}
	return text
}
