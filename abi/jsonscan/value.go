package jsonscan

import "strconv"

// String reads the next value, a string.
func (s *Scanner) String() string {
	t, ok := s.str()
	if !ok {
		return ""
	}
	if t.plain {
		return string(s.data[t.from:t.to])
	}
	return string(unquote(nil, s.data[t.from:t.to]))
}

// Bytes reads the next value, a string. What it returns is part of the document
// if the string has no escapes, else a copy: it is valid until the document is
// changed.
func (s *Scanner) Bytes() []byte {
	t, ok := s.str()
	if !ok {
		return nil
	}
	if t.plain {
		return s.data[t.from:t.to:t.to]
	}
	return unquote(nil, s.data[t.from:t.to])
}

// AppendString reads the next value, a string, and appends its contents to dst.
func (s *Scanner) AppendString(dst []byte) []byte {
	t, ok := s.str()
	if !ok {
		return dst
	}
	if t.plain {
		return append(dst, s.data[t.from:t.to]...)
	}
	return unquote(dst, s.data[t.from:t.to])
}

// StringPart reads the next value, a string that may have been cut between the
// two halves of a surrogate pair, as programs do whose strings are UTF-16. high
// is the half that was left of the part before, 0 if none: the half with which
// this part begins completes it, else it becomes U+FFFD. rest is the half that
// is left of this part, 0 if none. An empty string leaves high as it is.
func (s *Scanner) StringPart(high rune) (part string, rest rune) {
	t, ok := s.str()
	if !ok {
		return "", high
	}
	if t.plain && high == 0 {
		return string(s.data[t.from:t.to]), 0
	}
	return unquotePart(s.data[t.from:t.to], high)
}

func (s *Scanner) str() (text, bool) {
	if s.peek() != '"' || s.at != atValue {
		s.unexpected(String)
		return text{}, false
	}
	t := s.text()
	s.at = atNext
	return t, s.err == nil
}

// Int reads the next value, a number that is an integer of 64 bits. A number
// with a fraction or exponent is accepted if it has an integer value of at most
// 53 bits, because some programs write every number that way.
func (s *Scanner) Int() int64 {
	from, to, ok := s.number()
	if !ok {
		return 0
	}
	text := string(s.data[from:to])
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if n := int64(f); err == nil && f >= -1<<53 && f <= 1<<53 && float64(n) == f {
		return n
	}
	s.fail(from, "number is not an integer of 64 bits")
	return 0
}

// Float reads the next value, a number that a float64 can hold.
func (s *Scanner) Float() float64 {
	from, to, ok := s.number()
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(string(s.data[from:to]), 64)
	if err != nil {
		s.fail(from, "number is too large")
		return 0
	}
	return f
}

// Bool reads the next value, true or false.
func (s *Scanner) Bool() bool {
	switch {
	case s.at != atValue:
	case s.peek() == 't':
		return s.literal(wordTrue, len("true"))
	case s.peek() == 'f':
		s.literal(wordFalse, len("false"))
		return false
	}
	s.unexpected(Bool)
	return false
}

// Null reads the next value if it is null; if not, it reads nothing and returns
// false.
func (s *Scanner) Null() bool {
	return s.at == atValue && s.peek() == 'n' && s.literal(wordNull, len("null"))
}

// The literals as words.
const (
	wordNull  = 'n' | 'u'<<8 | 'l'<<16 | 'l'<<24
	wordTrue  = 't' | 'r'<<8 | 'u'<<16 | 'e'<<24
	wordFalse = 'f' | 'a'<<8 | 'l'<<16 | 's'<<24 | 'e'<<32
)

// literal goes behind a literal of n bytes.
func (s *Scanner) literal(text uint64, n int) bool {
	if word(s.words, s.pos)&(1<<uint(8*n)-1) == text {
		s.pos += n
		s.at = atNext
		return true
	}
	s.fail(s.pos, "unexpected character")
	return false
}

// number reads a number and returns where it is.
func (s *Scanner) number() (from, to int, ok bool) {
	// Most numbers are integers of few digits.
	from = s.pos
	w := word(s.words, from)
	n := leading(notDigit(w))
	if first := w & 0xFF; s.at == atValue && n > 0 && n < wordLen && (n == 1 || first != '0') {
		if next := byte(w >> uint(8*n)); next != '.' && next|0x20 != 'e' { //nolint:gosec // n is not negative
			s.pos = from + n
			s.at = atNext
			return from, s.pos, true
		}
	}
	return s.anyNumber()
}

// anyNumber is number for all numbers.
func (s *Scanner) anyNumber() (from, to int, ok bool) {
	if s.Kind() != Number {
		s.unexpected(Number)
		return 0, 0, false
	}
	from = s.pos
	i := from
	if s.at0(i) == '-' {
		i++
	}
	digits := i
	i = s.digits(i)
	good := i > digits && (s.data[digits] != '0' || i == digits+1)
	if c := s.at0(i); c == '.' || c|0x20 == 'e' {
		var tail bool
		i, tail = s.fraction(i)
		good = good && tail
	}
	if !good {
		s.fail(i, "malformed number")
		return 0, 0, false
	}
	s.pos = i
	s.at = atNext
	return from, i, true
}

// fraction reads what follows the digits of a number: fraction and exponent.
func (s *Scanner) fraction(i int) (end int, ok bool) {
	if s.at0(i) == '.' {
		from := i + 1
		if i = s.digits(from); i == from {
			return i, false
		}
	}
	if s.at0(i)|0x20 != 'e' {
		return i, true
	}
	from := i + 1
	if c := s.at0(from); c == '+' || c == '-' {
		from++
	}
	i = s.digits(from)
	return i, i > from
}

// digits returns the first place from i on that does not hold a digit.
func (s *Scanner) digits(i int) int {
	for {
		n := leading(notDigit(word(s.words, i)))
		i += n
		if n < 8 {
			return i
		}
	}
}
