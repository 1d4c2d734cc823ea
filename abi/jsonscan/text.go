package jsonscan

import (
	"bytes"
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
	from := s.pos + 1
	w := word(s.words, from)
	n := leading(stops(w))
	// Most keys fit into one word: a quote, and only ASCII before it.
	if w>>uint(8*n)&0xFF == '"' && w<<uint(64-8*n)&highBits == 0 {
		s.pos = from + n + 1
		return text{from, from + n, true}
	}
	return s.longText(from)
}

// longText is text for all strings.
func (s *Scanner) longText(from int) text {
	to, high := plainRun(s.words, from)
	if s.at0(to) == '"' && high&highBits == 0 {
		s.pos = to + 1
		return text{from, to, true}
	}
	if s.at0(to) == '"' {
		s.pos = to + 1
		return text{from, to, utf8.Valid(s.data[from:to])}
	}
	return s.escapedText(from, to)
}

// escapedText is text for a string that has an escape at i, or a fault.
func (s *Scanner) escapedText(from, i int) text {
	for s.at0(i) != '"' {
		if s.at0(i) != '\\' {
			s.fail(i, "control character in a string")
			return text{}
		}
		if i = s.escape(i); i < 0 {
			return text{}
		}
		i, _ = plainRun(s.words, i)
	}
	s.pos = i + 1
	return text{from, i, false}
}

// escape checks the escape sequence at i and returns the place behind it, or -1
// if there is none.
func (s *Scanner) escape(i int) int {
	c := s.at0(i + 1)
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
	b := padded(src)
	for i := 0; i < len(src); {
		end, _ := plainRun(b, i)
		end = min(end, len(src))
		dst = appendValid(dst, src[i:end])
		if i = end; i == len(src) {
			break
		}
		c := src[i+1]
		if c != 'u' {
			dst = append(dst, escapes[c])
			i += 2
			continue
		}
		r, n := unescape(src[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return dst
}

// unescape returns the rune that \uXXXX at the start of src stands for, together
// with the other half if it is a surrogate pair, and how long that is.
func unescape(src []byte) (r rune, n int) {
	r = hex4(src[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(src) >= 12 && src[6] == '\\' && src[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(src[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// unquotePart is unquote for a part of a string; see StringPart.
func unquotePart(src []byte, high rune) (part string, rest rune) {
	if len(src) == 0 {
		return "", high
	}
	var dst []byte
	if high != 0 {
		r := utf16.DecodeRune(high, escapedUnit(src))
		if r != utf8.RuneError {
			src = src[6:]
		}
		dst = utf8.AppendRune(dst, r)
	}
	if rest = lastHigh(src); rest != 0 {
		src = src[:len(src)-6]
	}
	return string(unquote(dst, src)), rest
}

// lastHigh returns the high half of a surrogate pair that is the last character
// of src, 0 if that is something else.
func lastHigh(src []byte) rune {
	at := len(src) - 6
	if at < 0 {
		return 0
	}
	unit := escapedUnit(src[at:])
	if unit < 0xD800 || unit > 0xDBFF {
		return 0
	}
	// The backslash is itself escaped if an odd number stands in front of it.
	before := len(bytes.TrimRight(src[:at], `\`))
	if (at-before)%2 != 0 {
		return 0
	}
	return unit
}

// escapedUnit returns the unit of UTF-16 that \uXXXX at the start of src stands
// for, 0 if something else is there.
func escapedUnit(src []byte) rune {
	if len(src) < 6 || src[0] != '\\' || src[1] != 'u' {
		return 0
	}
	return max(hex4(src[2:6]), 0)
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
