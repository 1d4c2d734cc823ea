package jsonscan

import "unicode/utf8"

// AppendString appends s as a JSON string with its quotes. What is not UTF-8
// becomes U+FFFD.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from, i := 0, 0
	var high uint64
	for i < len(s) {
		w := word(s, i)
		m := stops(w)
		if m == 0 {
			high |= w
			i += 8
			continue
		}
		n := leading(m)
		high |= w & (1<<(8*n) - 1)
		i += n
		if i >= len(s) {
			break
		}
		dst = appendRun(dst, s[from:i], high)
		dst = appendEscape(dst, s[i])
		i++
		from, high = i, 0
	}
	dst = appendRun(dst, s[from:], high)
	return append(dst, '"')
}

func appendRun[T ~string | ~[]byte](dst []byte, run T, high uint64) []byte {
	if high&highBits == 0 {
		return append(dst, run...)
	}
	return appendValid(dst, run)
}

// appendValid appends text and replaces what is not UTF-8.
func appendValid[T ~string | ~[]byte](dst []byte, text T) []byte {
	from := len(dst)
	dst = append(dst, text...)
	if utf8.Valid(dst[from:]) {
		return dst
	}
	dst = dst[:from]
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
