package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// text is where the contents of a string are, without the quotes.
type text struct {
	from, to int
	plain    bool // no escapes, and valid UTF-8
}

// text reads and checks a string. The scanner is at its opening quote.
func (s *Scanner) text() text {
	t := text{from: s.pos + 1, plain: true}
	i := t.from
	var high uint64 // of all words: is there anything but ASCII
	for {
		w := word(s.data, i)
		m := stops(w)
		if m == 0 {
			high |= w
			i += 8
			// A second word on the way saves half of the jumps.
			w = word(s.data, i)
			m = stops(w)
			if m == 0 {
				high |= w
				i += 8
				continue
			}
		}
		n := leading(m)
		high |= w & (1<<(8*n) - 1)
		i += n
		if c := s.byteAt(i); c == '"' {
			break
		} else if c != '\\' {
			s.fail(i, "control character in a string")
			return text{}
		}
		t.plain = false
		if i = s.escape(i); i < 0 {
			return text{}
		}
	}
	t.to = i
	s.pos = i + 1
	if high&highBits != 0 && t.plain {
		t.plain = utf8.Valid(s.data[t.from:t.to])
	}
	return t
}

// escape checks the escape sequence at i and returns the place behind it, or -1
// if there is none.
func (s *Scanner) escape(i int) int {
	c := s.byteAt(i + 1)
	if escapes[c] != 0 {
		return i + 2
	}
	if c == 'u' && i+6 <= len(s.data) && hex4(s.data[i+2:i+6]) >= 0 {
		return i + 6
	}
	if c == 'u' && i+6 > len(s.data) {
		i = len(s.data)
	}
	s.fail(i, "malformed escape in a string")
	return -1
}

// unquote appends the contents of a string that has been checked: escapes are
// replaced by what they stand for, and what is not UTF-8 by U+FFFD.
func unquote(dst, src []byte) []byte {
	for len(src) > 0 {
		n := run(src)
		dst = appendValid(dst, src[:n])
		if src = src[n:]; len(src) == 0 {
			break
		}
		if c := src[1]; c != 'u' {
			dst = append(dst, escapes[c])
			src = src[2:]
			continue
		}
		r := hex4(src[2:6])
		src = src[6:]
		if utf16.IsSurrogate(r) {
			r, src = surrogate(r, src)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// surrogate joins a half of a surrogate pair with the escaped other half, if
// that follows.
func surrogate(r rune, rest []byte) (rune, []byte) {
	if len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if joined := utf16.DecodeRune(r, hex4(rest[2:6])); joined != utf8.RuneError {
			return joined, rest[6:]
		}
	}
	return utf8.RuneError, rest
}

// run counts the bytes in front of the first escape.
func run(src []byte) int {
	for i := 0; i < len(src); {
		n := leading(stops(word(src, i)))
		i += n
		if n < 8 {
			return min(i, len(src))
		}
	}
	return len(src)
}

// hex4 returns the value of four hexadecimal digits, or -1.
func hex4(b []byte) rune {
	_ = b[3]
	d0, d1, d2, d3 := rune(hexDigits[b[0]]), rune(hexDigits[b[1]]), rune(hexDigits[b[2]]), rune(hexDigits[b[3]])
	if (d0|d1|d2|d3)&0x10 != 0 {
		return -1
	}
	return d0<<12 | d1<<8 | d2<<4 | d3
}
