package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/failure"
)

// Error says why a response is no answer.
func (gemini) Error(r abi.HTTPResponse) abi.Failure {
	e, ok := readError([]byte(r.Body))
	f := e.failure(r.Status)
	f.Status = r.Status
	if !ok {
		f.Message = failure.UnexpectedBody(&r)
	}
	if !ok || r.Status < 400 || r.Status == 404 || r.Status == 405 {
		f.Message += " (" + where(r.URL) + ")"
	}
	return f
}

func (e *apiError) failure(status int64) abi.Failure {
	f := abi.Failure{Class: e.class(status), Message: e.message, RetryAfterMS: e.retryMS}
	for _, code := range []string{e.reason, e.word, e.code} {
		if f.Code == "" {
			f.Code = code
		}
	}
	if f.Code == "" && e.number != 0 {
		f.Code = strconv.FormatInt(e.number, 10)
	}
	if f.Message == "" {
		f.Message = f.Code
	}
	if f.Class == abi.FailureQuota {
		f.RetryAfterMS = 0 // the delay is that of a quota of the minute
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
	if root, _, ok := strings.Cut(url, "/models/"); ok && !failure.Versioned(root) {
		return "from " + url + ": is base_url without its /v1beta? try " + root + "/v1beta"
	}
	return "from " + url + ": check base_url and the model's name"
}
