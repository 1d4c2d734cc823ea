package jsonscan

import "unicode/utf8"

// AppendString appends s as a JSON string with its quotes. What is not UTF-8
// becomes U+FFFD.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := len(dst)
	dst = append(dst, s...)
	if len(dst) >= wordLen {
		// Nearly always there is nothing to escape, and the copy is good.
		end, high := plainRun(dst, from)
		if end >= len(dst) && (high&highBits == 0 || utf8.Valid(dst[from:])) {
			return append(dst, '"')
		}
	}
	return append(appendEscaped(dst[:from], []byte(s)), '"')
}

func appendEscaped(dst, s []byte) []byte {
	b := padded(s)
	for i := 0; i < len(s); i++ {
		from := i
		i, _ = plainRun(b, i)
		i = min(i, len(s))
		dst = appendValid(dst, s[from:i])
		if i < len(s) {
			dst = appendEscape(dst, s[i])
		}
	}
	return dst
}

// appendValid appends text and replaces what is not UTF-8.
func appendValid(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for _, r := range string(text) {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// padded returns b, or a copy with zeros behind it if b is too short for word.
func padded(b []byte) []byte {
	if len(b) >= wordLen {
		return b
	}
	return append(make([]byte, 0, wordLen), b...)[:wordLen]
}
