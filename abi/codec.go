package abi

import (
	"math"
	"strconv"

	"github.com/zchost/zchost/abi/jsonscan"
)

// DecodeError says that a document is not what it should be.
type DecodeError struct {
	// Document is the name of the type.
	Document string
	// Err says what is wrong and where.
	Err error
}

// Error names the document and tells what is wrong.
func (e *DecodeError) Error() string { return "decode " + e.Document + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

func decodeError(document string, err error) error {
	if err == nil {
		return nil
	}
	return &DecodeError{document, err}
}

// closeWith ends an object or array whose members each end with a comma.
func closeWith(dst []byte, end byte) []byte {
	if last := len(dst) - 1; dst[last] == ',' {
		dst[last] = end
		return dst
	}
	return append(dst, end)
}

// appendFloat appends null for what JSON cannot hold.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

func appendRaw(dst []byte, r Raw) []byte {
	if len(r) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, r...)
}

func scanRaw(s *jsonscan.Scanner) Raw { return append(Raw(nil), s.Raw()...) }

func scanStrings(s *jsonscan.Scanner) []string {
	var list []string
	for s.Array(); s.Elem(); {
		if s.Null() {
			list = append(list, "")
			continue
		}
		list = append(list, s.String())
	}
	return list
}
