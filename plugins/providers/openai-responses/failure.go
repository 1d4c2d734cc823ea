package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// Error says why a response is no answer.
func (responses) Error(r abi.HTTPResponse) abi.Failure {
	e, ok := readError([]byte(r.Body))
	f := e.failure(r.Status)
	f.Status = r.Status
	if ms := milliseconds(r.Header("retry-after-ms"), 1); ms > 0 { // OpenAI, Azure
		f.RetryAfterMS = ms
	}
	if !ok {
		f.Message = failure.UnexpectedBody(&r)
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

// where names the address, and what is most often wrong with it.
func where(url string) string {
	if url == "" {
		return "check base_url"
	}
	root := apiRoot(url)
	if !failure.Versioned(root) {
		return "from " + url + ": is base_url without its /v1? try " + root + "/v1"
	}
	return "from " + url + ": check base_url"
}
