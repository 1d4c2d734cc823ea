package main

import (
	"strconv"
	"strings"
)

// state is what is remembered of the frames before. In Decoder.State it is
// nothing, or a letter for each thing that is true, two numbers, and half a
// character if the text ended within one: "mf2.1", "m0.0.d83d". Programs whose
// strings are UTF-16, as gateways are, cut between the halves of a surrogate pair
// (C008).
type state struct {
	told     bool  // m: id and model were told
	finished bool  // f: there was a finish reason
	calls    int64 // how many calls there were: the index of the next one
	signed   int64 // how many signed texts: the index of the next one
	half     rune  // the high half that the last text ended with, 0 if none
	thought  bool  // t: that was a thought
}

// lost is what becomes of half a character whose other half does not come.
const lost = "\uFFFD"

func readState(text string) state {
	var s state
	for text != "" && text[0] > '9' {
		s.told = s.told || text[0] == 'm'
		s.finished = s.finished || text[0] == 'f'
		s.thought = s.thought || text[0] == 't'
		text = text[1:]
	}
	calls, text, _ := strings.Cut(text, ".")
	signed, half, _ := strings.Cut(text, ".")
	s.calls, s.signed = readCounter(calls), readCounter(signed)
	if n, err := strconv.ParseUint(half, 16, 16); err == nil {
		s.half = rune(n)
	}
	return s
}

func readCounter(text string) int64 {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int64(n)
}

func (s state) String() string {
	if s == (state{}) {
		return ""
	}
	b := make([]byte, 0, 16)
	if s.told {
		b = append(b, 'm')
	}
	if s.finished {
		b = append(b, 'f')
	}
	if s.thought {
		b = append(b, 't')
	}
	b = append(strconv.AppendInt(b, s.calls, 10), '.')
	b = strconv.AppendInt(b, s.signed, 10)
	if s.half != 0 {
		b = strconv.AppendInt(append(b, '.'), int64(s.half), 16)
	}
	return string(b)
}
