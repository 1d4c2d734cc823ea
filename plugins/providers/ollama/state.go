package main

import (
	"strconv"
	"strings"
)

// state is what is remembered of the lines before. In Decoder.State it is
// nothing, or m if the model was told, else -, and then, if there is more, how
// many calls there were and with what halves of a character the text and the
// thinking ended: "m", "m2", "m0.d83d.0".
type state struct {
	told           bool
	calls          int64
	text, thinking rune
}

func readState(text string) state {
	var s state
	if text == "" {
		return s
	}
	s.told = text[0] == 'm'
	if len(text) == 1 { // nearly always
		return s
	}
	calls, halves, _ := strings.Cut(text[1:], ".")
	said, thought, _ := strings.Cut(halves, ".")
	s.calls = readNumber(calls, 10)
	s.text, s.thinking = rune(readNumber(said, 16)), rune(readNumber(thought, 16)) //nolint:gosec // 31 bits
	return s
}

func readNumber(text string, base int) int64 {
	n, err := strconv.ParseUint(text, base, 31)
	if err != nil {
		return 0
	}
	return int64(n)
}

func (s state) String() string {
	if s == (state{}) {
		return ""
	}
	b := []byte{'-'}
	if s.told {
		b[0] = 'm'
	}
	if s.calls == 0 && s.text|s.thinking == 0 {
		return string(b)
	}
	b = strconv.AppendInt(b, s.calls, 10)
	if s.text|s.thinking != 0 {
		b = strconv.AppendInt(append(b, '.'), int64(s.text), 16)
		b = strconv.AppendInt(append(b, '.'), int64(s.thinking), 16)
	}
	return string(b)
}
