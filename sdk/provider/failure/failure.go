// Package failure has what the method Error of most providers needs: which HTTP
// status is which class, and words for a body that is no error of the API.
package failure

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi"
)

// MaxQuote bounds how much of something unexpected is quoted, in bytes.
const MaxQuote = 200

// ByStatus is the class of an HTTP status, and "" for one below 400 or above 599,
// which says nothing:
//
//	401, 403       auth
//	402            quota
//	408, 504       timeout
//	409, 425       server: in conflict with another request, but not for long
//	413            context_overflow
//	429            rate_limited
//	503, 529       overloaded
//	other 4xx      invalid_request
//	other 5xx      server
//
// A 404 is invalid_request, because the address may be wrong: that it is the model
// which is missing (model_not_found) tells a field of the body. A typed field that
// says more than the status comes before it.
func ByStatus(status int64) abi.FailureClass {
	switch {
	case status == 401 || status == 403:
		return abi.FailureAuth
	case status == 402:
		return abi.FailureQuota
	case status == 408 || status == 504:
		return abi.FailureTimeout
	case status == 409 || status == 425:
		return abi.FailureServer
	case status == 413:
		return abi.FailureContextOverflow
	case status == 429:
		return abi.FailureRateLimited
	case status == 503 || status == 529:
		return abi.FailureOverloaded
	case status >= 400 && status < 500:
		return abi.FailureInvalidRequest
	case status >= 500 && status < 600:
		return abi.FailureServer
	}
	return ""
}

// UnexpectedBody describes a body that is neither an answer nor an error of the
// API, such as "HTTP 502 with a web page in place of an answer". It quotes what
// is no web page. The result is never empty.
func UnexpectedBody(r *abi.HTTPResponse) string {
	status := "HTTP " + strconv.FormatInt(r.Status, 10)
	body := strings.TrimSpace(r.Body)
	switch {
	case body == "":
		return status + " with an empty body"
	case body[0] == '<' || strings.HasPrefix(r.Header("content-type"), "text/html"):
		return status + " with a web page in place of an answer"
	case body[0] == '{' || body[0] == '[':
		return status + " with JSON that is neither an answer nor an error: " + Quote(body)
	}
	return status + " with a body that is not JSON: " + Quote(body)
}

// Quote returns the text, or its first MaxQuote bytes and an ellipsis, cut between
// characters.
func Quote(text string) string {
	if len(text) > MaxQuote {
		text = strings.ToValidUTF8(text[:MaxQuote], "") + "…"
	}
	return text
}

// Versioned reports whether the address has a segment such as v1 or v1beta. One
// without it often lacks just that.
func Versioned(url string) bool {
	for _, segment := range strings.Split(url, "/") {
		if len(segment) > 1 && segment[0] == 'v' && segment[1] >= '0' && segment[1] <= '9' {
			return true
		}
	}
	return false
}
