package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
)

// maxQuote bounds how much of something unexpected is quoted, in bytes.
const maxQuote = 200

// Error says why a response is no answer.
func (responses) Error(r abi.HTTPResponse) abi.Failure {
	e, ok := readError([]byte(r.Body))
	f := e.failure(r.Status)
	f.Status = r.Status
	if ms := milliseconds(r.Header("retry-after-ms"), 1); ms > 0 { // OpenAI, Azure
		f.RetryAfterMS = ms
	}
	if !ok {
		f.Message = unexpectedBody(&r)
	}
	if !ok || r.Status < 400 || r.Status == 404 || r.Status == 405 {
		f.Message += " (" + where(r.URL) + ")"
	}
	return f
}

func (e *apiError) failure(status int64) abi.Failure {
	f := abi.Failure{Class: e.class(status), Message: e.message, Code: e.code}
	for _, word := range []string{e.kind, e.inner} {
		if f.Code == "" {
			f.Code = word
		}
	}
	if f.Message == "" {
		f.Message = f.Code
	}
	if e.raw != "" {
		f.Message += ": " + e.raw
	}
	if e.number >= 400 && e.number < 600 {
		f.Status = e.number
	}
	return f
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
	if url == "" {
		return "check base_url"
	}
	root := apiRoot(url)
	if !versioned(root) {
		return "from " + url + ": is base_url without its /v1? try " + root + "/v1"
	}
	return "from " + url + ": check base_url"
}

// versioned reports whether the address has a segment like v1 or v1beta.
func versioned(url string) bool {
	for _, segment := range strings.Split(url, "/") {
		if len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9' {
			return true
		}
	}
	return false
}

func quote(text string) string {
	if len(text) > maxQuote {
		text = strings.ToValidUTF8(text[:maxQuote], "") + "…"
	}
	return text
}
