package compose

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// Field is a member of a JSON object; the value is JSON.
type Field struct {
	Name  string
	Value []byte
}

// ReadFields reads an object into its members, in their order; the values are the
// document's own bytes. What is no object is an error of the scanner.
func ReadFields(s *jsonscan.Scanner) []Field {
	var fields []Field
	for s.Object(); ; {
		name, ok := s.Key()
		if !ok {
			return fields
		}
		fields = append(fields, Field{string(name), s.Raw()})
	}
}

// ReadPairs reads an object of strings, such as {"X-Title":"me"}, in its order. Any
// other value is an error of the scanner.
func ReadPairs(s *jsonscan.Scanner) []abi.Header {
	var pairs []abi.Header
	for s.Object(); ; {
		name, ok := s.Key()
		if !ok {
			return pairs
		}
		pairs = append(pairs, abi.Header{Name: string(name), Value: s.String()})
	}
}

// Members writes the members of an object. A member that is also among Extra, which
// a person has set, is left to it.
type Members struct {
	Dst   []byte // what is written so far; begin it with "{"
	Extra []Field
}

// Key begins a member: the comma, if one is needed, the name and the colon. It
// returns false, and writes nothing, if the member is to be left out.
func (m *Members) Key(name string) bool {
	for _, f := range m.Extra {
		if f.Name == name {
			return false
		}
	}
	m.begin(name)
	return true
}

// Next writes the comma before a member or an element that is not the first.
func (m *Members) Next() {
	if n := len(m.Dst); n > 0 && m.Dst[n-1] != '{' && m.Dst[n-1] != '[' {
		m.Dst = append(m.Dst, ',')
	}
}

// Raw writes JSON as it is.
func (m *Members) Raw(text string) { m.Dst = append(m.Dst, text...) }

// Text writes a string, as AppendText does.
func (m *Members) Text(s string) { m.Dst = AppendText(m.Dst, s) }

// Fields writes the fields as members, whether they are among Extra or not.
func (m *Members) Fields(fields []Field) {
	for _, f := range fields {
		m.begin(f.Name)
		m.Dst = append(m.Dst, f.Value...)
	}
}

// Close writes Extra and the end of the object.
func (m *Members) Close() {
	m.Fields(m.Extra)
	m.Dst = append(m.Dst, '}')
}

func (m *Members) begin(name string) {
	m.Next()
	m.Text(name)
	m.Dst = append(m.Dst, ':')
}
