package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
	"github.com/zchost/zchost/sdk/provider/openai"
)

// dialect is what the errors of this API have of their own.
func dialect() openai.Dialect {
	return openai.Dialect{Member: readMember, Sure: sureClass, Vague: vagueClass}
}

// readMember leaves out the type of an event: it is no type of an error.
func readMember(e *openai.Error, key string, s *jsonscan.Scanner) bool {
	if key != "type" {
		return false
	}
	if e.Kind = lenient.String(s); e.Kind == "error" {
		e.Kind = ""
	}
	return true
}

// sureClass is the class of a code that says more than the status.
func sureClass(word string, _ int64) abi.FailureClass {
	switch word {
	case "image_content_policy_violation", "bio_policy", "cyber_policy":
		return abi.FailureContentFiltered
	}
	return ""
}

// vagueClass is the class of a code that says less than a status.
func vagueClass(word string) abi.FailureClass {
	switch word {
	case "invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_too_large", "image_too_small",
		"image_parse_error", "invalid_image_mode", "image_file_too_large", "unsupported_image_media_type", "empty_image_file",
		"failed_to_download_image", "image_file_not_found": // of a response that failed
		return abi.FailureInvalidRequest
	case "vector_store_timeout":
		return abi.FailureTimeout
	}
	return ""
}
