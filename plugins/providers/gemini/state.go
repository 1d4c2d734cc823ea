package main

import (
	"strconv"
	"strings"
)

// state is what is remembered of the frames before. In Decoder.State it is
// nothing, or a letter for each thing that is true and two numbers: "mf2.1".
type state struct {
	told     bool  // m: id and model were told
	finished bool  // f: there was a finish reason
	calls    int64 // how many calls there were: the index of the next one
	signed   int64 // how many signed texts: the index of the next one
}

func readState(text string) state {
	var s state
	for text != "" && text[0] > '9' {
		s.told = s.told || text[0] == 'm'
		s.finished = s.finished || text[0] == 'f'
		text = text[1:]
	}
	calls, signed, _ := strings.Cut(text, ".")
	s.calls = readCounter(calls)
	s.signed = readCounter(signed)
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
	b = append(strconv.AppendInt(b, s.calls, 10), '.')
	return string(strconv.AppendInt(b, s.signed, 10))
}
