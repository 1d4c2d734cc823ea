package main

import "github.com/zchost/zchost/abi/jsonscan"

// lost is what becomes of half a character whose other half does not come.
const lost = "\uFFFD"

// piece is the next piece of the text or of the reasoning, which may lack half a
// character at each end: programs whose strings are UTF-16, as gateways are, cut
// between the halves of a surrogate pair (C008).
type piece struct {
	text   string
	before rune // the high half that the piece before left, 0 if none
	high   rune // and the one that this piece leaves
}

// after is an empty piece after one that left high.
func after(high rune) piece { return piece{before: high, high: high} }

// read adds the next value if it is a string.
func (p *piece) read(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.String {
		return
	}
	part, high := s.StringPart(p.high)
	p.text, p.high = p.text+part, high
}

// said tells whether anything was added, if only half a character.
func (p *piece) said() bool { return p.text != "" || p.high != p.before }

// close gives up a half that is left: its other half does not come.
func (p *piece) close() {
	if p.high != 0 {
		p.text += lost
		p.high = 0
	}
}
