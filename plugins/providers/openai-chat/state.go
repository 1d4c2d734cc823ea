package main

import (
	"strconv"

	"github.com/zchost/zchost/sdk/provider"
)

// state is what is remembered of the frames before. In Decoder.State it is
// nothing, or a letter: m if id and model were told, r if some of the text was a
// refusal as well, - if neither. Eight hexadecimal digits follow if the text or
// the reasoning ended within a character: the high halves of the surrogate pairs
// that they ended with, text first, 0000 for none. So "md83d0000" says that the
// other half of 🚲 is missing in the text.
//
// Servers whose strings are UTF-16 cut between the halves of a pair and send
// them as escapes, \ud83d and \udeb2, in two frames.
type state struct {
	letter    byte // 0 for nothing
	text      rune
	reasoning rune
}

const (
	letterNone    = '-'
	letterMeta    = 'm'
	letterRefused = 'r'
)

// halvesLen is how many digits the halves take.
const halvesLen = 8

// lost is what becomes of half a character whose other half does not come.
const lost = "\uFFFD"

func readState(s string) state {
	if s == "" {
		return state{}
	}
	if len(s) != 1+halvesLen {
		return state{letter: s[0]}
	}
	halves, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return state{letter: s[0]}
	}
	return state{letter: s[0], text: rune(halves >> 16), reasoning: rune(halves & 0xFFFF)}
}

// told tells whether there is no need to look for id and model.
func (s state) told() bool { return s.letter == letterMeta || s.letter == letterRefused }

func (s state) String() string {
	switch {
	case s.text|s.reasoning != 0:
		const first = 1 << (4 * halvesLen) // for the zeros in front
		halves := strconv.FormatInt(first|int64(s.text)<<16|int64(s.reasoning), 16)
		return string(max(s.letter, letterNone)) + halves[1:]
	case s.letter == letterMeta:
		return "m"
	case s.letter == letterRefused:
		return "r"
	}
	return ""
}

// end gives what is left at the end of the answer.
func (s state) end(d *provider.Decoder) {
	if s.reasoning != 0 {
		d.Reasoning(lost)
	}
	if s.text != 0 {
		d.Text(lost)
	}
	s.text, s.reasoning = 0, 0
	d.State = s.String()
}
