package main

import (
	"strconv"
	"strings"

	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// apiError is what a body or frame says about an error: a google.rpc.Status as
// {"error":{"code":…,"message":…,"status":…,"details":[…]}}, sometimes in an
// array. Gateways have forms of their own, of which the message is read.
type apiError struct {
	message  string
	number   int64  // error.code, an HTTP status
	word     string // error.status, such as RESOURCE_EXHAUSTED
	code     string // error.code, if it is a word
	reason   string // google.rpc.ErrorInfo: reason
	retryMS  int64  // google.rpc.RetryInfo: retryDelay
	exceeded bool   // google.rpc.QuotaFailure: a quota of the day or month, or of nothing at all
}

// readError reads the error in a document. It returns false if the document is
// not JSON or tells nothing.
func readError(data []byte) (apiError, bool) {
	var e apiError
	s := jsonscan.New(data)
	e.read(&s)
	return e, s.End() == nil && (e.message != "" || e.word != "" || e.code != "" || e.number != 0)
}

func (e *apiError) read(s *jsonscan.Scanner) {
	switch s.Kind() {
	case jsonscan.String:
		e.message = s.String()
	case jsonscan.Object:
		for s.Object(); ; {
			key, ok := s.Key()
			if !ok {
				return
			}
			e.member(s, key)
		}
	case jsonscan.Array:
		for first := s.Array(); s.Elem(); first = false {
			if first {
				e.read(s)
			}
		}
	case jsonscan.Number, jsonscan.Bool, jsonscan.Null, jsonscan.Invalid:
	}
}

func (e *apiError) member(s *jsonscan.Scanner, key []byte) {
	switch string(key) {
	case "error":
		e.read(s)
	case "message", "detail":
		if e.message == "" {
			e.message = lenient.String(s)
		}
	case "code":
		if n, ok := lenient.Int(s); ok {
			e.number = n
			return
		}
		e.code = lenient.String(s)
		if n, err := strconv.ParseInt(e.code, 10, 64); err == nil {
			e.number, e.code = n, ""
		}
	case "status":
		e.word = lenient.String(s)
	case "details":
		if s.Kind() == jsonscan.Array {
			for s.Array(); s.Elem(); {
				if s.Kind() == jsonscan.Object {
					e.detail(s)
				}
			}
		}
	}
}

// detail reads one of the details. Their names do not overlap, so the type is
// not needed.
func (e *apiError) detail(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "reason":
			e.reason = lenient.String(s)
		case "retryDelay":
			e.retryMS = milliseconds(lenient.String(s))
		case "violations":
			if s.Kind() == jsonscan.Array {
				for s.Array(); s.Elem(); {
					if s.Kind() == jsonscan.Object {
						e.violation(s)
					}
				}
			}
		}
	}
}

// violation reads which quota was exceeded. Its id names the period, such as
// GenerateRequestsPerDayPerProjectPerModel-FreeTier; a quota of 0 is of a model
// that the plan does not have. Neither is over in the seconds that retryDelay
// says.
func (e *apiError) violation(s *jsonscan.Scanner) {
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		switch string(key) {
		case "quotaId":
			id := lenient.String(s)
			e.exceeded = e.exceeded || strings.Contains(id, "PerDay") || strings.Contains(id, "PerMonth")
		case "quotaValue":
			e.exceeded = e.exceeded || lenient.String(s) == "0"
		}
	}
}

// milliseconds reads protobuf's duration, a text of seconds such as "34.07s"; 0
// if it is none, or one that no wait could be.
func milliseconds(text string) int64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "s"), 64)
	if err != nil || !(n > 0 && n < 1e9) {
		return 0
	}
	return int64(n * 1000)
}
