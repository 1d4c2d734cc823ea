package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
	"github.com/zchost/zchost/sdk/provider/openai"
)

// dialect is what vendors of chat completions add to OpenAI's errors.
func dialect() openai.Dialect {
	return openai.Dialect{Member: readMember, Sure: sureClass, Vague: vagueClass}
}

func readMember(e *openai.Error, key string, s *jsonscan.Scanner) bool {
	switch key {
	case "error_type": // Hugging Face TGI
		e.Kind = lenient.String(s)
	case "status": // Gemini's is a word
		if s.Kind() == jsonscan.Number {
			return false
		}
		e.Word = lenient.String(s)
	case "details":
		readDelay(e, s)
	default:
		return false
	}
	return true
}

// readDelay reads Google's list, in which one entry has the time to wait as a text
// of seconds: "34.07s".
func readDelay(e *openai.Error, s *jsonscan.Scanner) {
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
				e.RetryMS = openai.Milliseconds(strings.TrimSuffix(lenient.String(s), "s"), 1000)
			}
		}
	}
}

// sureClass is the class of a canonical code of google.rpc.
func sureClass(word string, status int64) abi.FailureClass {
	switch word {
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return abi.FailureAuth
	case "NOT_FOUND":
		if status == 404 {
			return abi.FailureModelNotFound
		}
	case "UNAVAILABLE":
		return abi.FailureOverloaded
	case "RESOURCE_EXHAUSTED":
		return abi.FailureRateLimited
	}
	return ""
}

// vagueClass is the class of a word that says less than a status.
func vagueClass(word string) abi.FailureClass {
	switch word {
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION",
		"validation": // TGI
		return abi.FailureInvalidRequest
	case "DEADLINE_EXCEEDED":
		return abi.FailureTimeout
	}
	return ""
}
