// Package lenient reads members of JSON that may be missing, null or of a kind
// that nobody expects, as in the answers of servers that are only compatible. A
// value of another kind counts as missing and is skipped by the scanner; it is no
// error. What is not JSON at all is one, which Scanner.End reports as always.
package lenient

import "github.com/zchost/zchost/abi/jsonscan"

// MaxCount bounds what Count takes for a count.
const MaxCount = 1 << 40

// String returns the next value if it is a string, and "" otherwise.
func String(s *jsonscan.Scanner) string {
	if s.Kind() != jsonscan.String {
		return ""
	}
	return s.String()
}

// Int returns the next value if it is a number, and 0 and false otherwise. What
// follows the decimal point is cut off: some servers write 3.0 for 3. A number
// that is too large for an int64 gives any number: check the range.
func Int(s *jsonscan.Scanner) (int64, bool) {
	if s.Kind() != jsonscan.Number {
		return 0, false
	}
	return int64(s.Float()), true
}

// Count returns the next value if it is a number from 0 to MaxCount, such as one
// of tokens, and nil otherwise.
func Count(s *jsonscan.Scanner) *int64 {
	n, ok := Int(s)
	if !ok || n < 0 || n > MaxCount {
		return nil
	}
	return &n
}

// Object returns the next value as it is written if it is an object, and nil
// otherwise. The bytes are the document's own.
func Object(s *jsonscan.Scanner) []byte {
	if s.Kind() != jsonscan.Object {
		return nil
	}
	return s.Raw()
}

// Told reports whether the next value, of a member such as error, says anything:
// null, false, "", [] and {} do not, and every number does.
func Told(s *jsonscan.Scanner) bool {
	switch s.Kind() {
	case jsonscan.Bool:
		return s.Bool()
	case jsonscan.String, jsonscan.Object, jsonscan.Array:
		return len(s.Raw()) > len(`""`)
	case jsonscan.Number:
		return true
	case jsonscan.Null, jsonscan.Invalid:
	}
	return false
}
