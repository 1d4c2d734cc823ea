// Package jsonscan reads and writes JSON without reflection, fast enough for a
// plugin to look at every frame of a streamed answer.
//
// A Scanner pulls values out of one document that is in memory: the caller
// asks for what it expects, in the order of the document, and what it does not
// ask for is skipped. It accepts exactly what encoding/json.Valid accepts, up to
// MaxDepth, and reads strings like encoding/json: bytes that are not UTF-8 and
// halves of surrogate pairs become U+FFFD.
//
//	s := jsonscan.New(data)
//	s.Object()
//	for key, ok := s.Key(); ok; key, ok = s.Key() {
//		switch string(key) {
//		case "id":
//			id = s.String()
//		case "tags":
//			for s.Array(); s.Elem(); {
//				tags = append(tags, s.String())
//			}
//		}
//	}
//	return s.End()
//
// Inside strings it goes eight bytes at a time. In a WebAssembly guest whose
// calls can be interrupted, every jump of the compiled code costs some 17 ns,
// however little is done in between; so the code here prefers a longer straight
// line to a shorter loop, and tables to chains of comparisons.
package jsonscan

import "strconv"

// MaxDepth is how deeply arrays and objects may be nested.
const MaxDepth = 128

// Kind is the kind of a JSON value.
type Kind byte

// The kinds. Invalid stands for the end of the input and for what cannot begin
// a value.
const (
	Invalid Kind = iota
	Object
	Array
	String
	Number
	Bool
	Null
)

// Name returns what the kind is called in messages.
func (k Kind) Name() string {
	switch k {
	case Object:
		return "object"
	case Array:
		return "array"
	case String:
		return "string"
	case Number:
		return "number"
	case Bool:
		return "boolean"
	case Null:
		return "null"
	case Invalid:
	}
	return "nothing"
}

// SyntaxError says where and why a document was refused.
type SyntaxError struct {
	// Offset is the place in bytes from the start of the document.
	Offset int
	// Msg says what was wrong there.
	Msg string
}

// Error tells the place and the reason.
func (e *SyntaxError) Error() string {
	return "json: " + e.Msg + " at byte " + strconv.Itoa(e.Offset)
}

// place says what the scanner expects next.
type place byte

const (
	atValue place = iota // a value: at the start, after a key, after Elem
	atFirst              // the first member or element of a container, or its end
	atNext               // a comma, or the end of the container or document
)

// Scanner reads one document. After an error every method returns zero values
// and false, so that only End or Err needs to be looked at.
type Scanner struct {
	data  []byte
	words []byte // data, or if that is shorter than a word, data and zeros
	pos   int
	depth int
	at    place
	err   *SyntaxError
}

// New returns a scanner at the start of the document, which must not be changed
// while it is scanned.
func New(data []byte) Scanner { return Scanner{data: data, words: padded(data)} }

// Err returns the first error, a *SyntaxError, or nil.
func (s *Scanner) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}

// End returns an error unless the whole document was read and is valid.
func (s *Scanner) End() error {
	if s.err == nil {
		switch {
		case s.at == atValue:
			s.Skip()
		case s.depth > 0:
			s.fail(s.pos, "object or array was not read to its end")
		}
	}
	if s.peek() != 0 {
		s.fail(s.pos, "more than one value")
	}
	return s.Err()
}

// Kind returns the kind of the next value without reading it.
func (s *Scanner) Kind() Kind {
	if s.at != atValue {
		return Invalid
	}
	return Kind(kinds[s.peek()])
}

// Object enters the object that is the next value. Each member is then read
// with Key and a method for its value.
func (s *Scanner) Object() bool { return s.enter('{', Object) }

// Array enters the array that is the next value. Each element is then read with
// Elem and a method for its value.
func (s *Scanner) Array() bool { return s.enter('[', Array) }

func (s *Scanner) enter(open byte, want Kind) bool {
	if s.peek() != open || s.at != atValue {
		s.unexpected(want)
		return false
	}
	if s.depth == MaxDepth {
		s.fail(s.pos, "nested too deeply")
		return false
	}
	s.pos++
	s.depth++
	s.at = atFirst
	return true
}

// Key reads the key of the object's next member. It returns false after the
// last member, and the scanner is then behind the object. A value that has not been
// read is skipped. The key is valid until the document is changed.
func (s *Scanner) Key() (key []byte, ok bool) {
	if s.at == atValue {
		s.Skip()
	}
	// Usually there is no space, and what follows is ," or, in front, a quote.
	w := word(s.words, s.pos)
	comma := uint64(s.at >> 1) // 1 if at is atNext
	if w<<(8-8*comma)&0xFFFF != '"'<<8|comma*',' || s.depth == 0 {
		return s.slowKey()
	}
	s.pos += int(comma)
	t := s.text()
	if s.at0(s.pos) == ':' && t.plain {
		s.pos++
		s.at = atValue
		return s.data[t.from:t.to:t.to], true
	}
	return s.colon(t)
}

// slowKey is Key where there is space, or no further member.
func (s *Scanner) slowKey() (key []byte, ok bool) {
	if !s.more('}') {
		return nil, false
	}
	if s.peek() != '"' {
		s.fail(s.pos, "expected a key")
		return nil, false
	}
	return s.colon(s.text())
}

// colon goes behind the colon after the key t.
func (s *Scanner) colon(t text) (key []byte, ok bool) {
	if s.peek() != ':' {
		s.fail(s.pos, "expected a colon")
		return nil, false
	}
	s.pos++
	s.at = atValue
	key = s.data[t.from:t.to:t.to]
	if !t.plain {
		key = unquote(nil, key)
	}
	return key, true
}

// Elem goes to the array's next element. It returns false after the last one,
// and the scanner is then behind the array. An element that has not been read
// is skipped.
func (s *Scanner) Elem() bool {
	if !s.more(']') {
		return false
	}
	s.at = atValue
	return true
}

// more goes behind the comma before the next member or element, or behind the
// end of the container.
func (s *Scanner) more(end byte) bool {
	if s.at == atValue {
		s.Skip()
	}
	c := s.peek()
	if c == ',' && s.at == atNext && s.depth > 0 {
		s.pos++
		return true
	}
	if c == end && s.depth > 0 {
		s.pos++
		s.depth--
		s.at = atNext
		return false
	}
	if s.at == atFirst {
		return true
	}
	s.fail(s.pos, "expected a comma or the end of the "+containerName(end))
	return false
}

func containerName(end byte) string {
	if end == '}' {
		return "object"
	}
	return "array"
}

// Skip reads the next value, checks it and drops it.
func (s *Scanner) Skip() {
	if s.at0(s.pos) == '"' && s.at == atValue {
		s.text()
		s.at = atNext
		return
	}
	s.skipOther()
}

// skipOther is Skip for what is no string, or has space before it.
func (s *Scanner) skipOther() {
	k := s.Kind()
	if k == Number {
		s.number()
		return
	}
	if k == Null {
		s.literal(wordNull, len("null"))
		return
	}
	s.skipRare(k)
}

func (s *Scanner) skipRare(k Kind) {
	switch k {
	case Object:
		s.Object()
		for _, ok := s.Key(); ok; _, ok = s.Key() {
			s.Skip()
		}
	case Array:
		for s.Array(); s.Elem(); {
			s.Skip()
		}
	case Bool:
		s.Bool()
	case String:
		s.Skip() // there was space, and Kind went behind it
	case Number, Null, Invalid:
		s.unexpected(Invalid)
	}
}

// Raw returns the next value as it is written, without the space around it. It
// is part of the document, not a copy.
func (s *Scanner) Raw() []byte {
	s.peek()
	from := s.pos
	s.Skip()
	if s.err != nil {
		return nil
	}
	return s.data[from:s.pos:s.pos]
}

// peek returns the next byte that is not space, and 0 at the end.
func (s *Scanner) peek() byte {
	if c := s.at0(s.pos); c > ' ' {
		return c
	}
	return s.space()
}

// at0 returns the byte at i, and 0 behind the end.
func (s *Scanner) at0(i int) byte { return byte(word(s.words, i)) } //nolint:gosec // its lowest byte

// space skips space: blank, tab, CR, LF.
func (s *Scanner) space() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			if c == 0 {
				s.fail(s.pos, "unexpected character")
			}
			return c
		}
		s.pos++
	}
	return 0
}

// unexpected fails because the next value is not what was asked for.
func (s *Scanner) unexpected(want Kind) {
	switch {
	case s.at != atValue:
		s.fail(s.pos, "no value here")
	case s.pos >= len(s.data):
		s.fail(s.pos, "unexpected end")
	case s.Kind() == Invalid:
		s.fail(s.pos, "unexpected character")
	default:
		s.fail(s.pos, s.Kind().Name()+" where "+want.Name()+" was expected")
	}
}

// fail keeps the first error. It drops the document, so that nothing more can
// be read from it and no method needs to ask whether there was an error.
func (s *Scanner) fail(offset int, msg string) {
	if s.err == nil {
		if offset >= len(s.data) {
			msg = "unexpected end"
		}
		s.err = &SyntaxError{Offset: offset, Msg: msg}
	}
	s.data, s.words, s.pos, s.at = nil, padded(nil), 0, atNext
}
