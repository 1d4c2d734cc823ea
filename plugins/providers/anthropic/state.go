package main

import (
	"strconv"
	"strings"
)

// state is what is remembered of the frames before: little, because a block's
// pieces say themselves what they are. Only a tool that the provider itself runs
// has to be put together here, since it is sent back as a whole.
//
// It also holds half a character if a text ended within one: programs whose
// strings are UTF-16, as gateways are, cut between the halves of a surrogate pair
// (C008, C032).
//
// Texts that are taken from somewhere have citations, which go back as a whole
// too.
//
// In Decoder.State it is numbers with commas between them and, behind a ;, the
// open block of such a tool: its start and, behind a line feed, its input. A text
// has no start, and its citations in place of the input.
type state struct {
	half          rune   // the high half that the last piece ended with, 0 if none
	kind          byte   // what that was: x text, t thinking, j input of a tool
	index         int64  // the block that it belonged to
	read, written *int64 // the cache's part of the input, from the start of the message
	finished      bool   // the message has said how it ends
	open          int64  // the index of the open block of a provider's tool or cited text, -1 if none
	start         string // that block as it began, "" of a text
	input         string // what came of its input, or of the citations
	changed       bool
}

func readState(text string) state {
	s := state{index: -1, open: -1}
	if text == "" {
		return s
	}
	head, rest, _ := strings.Cut(text, ";")
	var fields [7]string
	for i := range fields {
		fields[i], head, _ = strings.Cut(head, ",")
	}
	if n, err := strconv.ParseUint(fields[0], 16, 16); err == nil {
		s.half = rune(n)
	}
	if fields[1] != "" {
		s.kind = fields[1][0]
	}
	s.index = readNumber(fields[2])
	s.read, s.written = readCount(fields[3]), readCount(fields[4])
	s.finished = fields[5] != ""
	s.open = readNumber(fields[6])
	s.start, s.input, _ = strings.Cut(rest, "\n") // a block as JSON may have line feeds: they are taken out
	return s
}

func readNumber(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func readCount(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

func (s *state) String() string {
	b := make([]byte, 0, 32+len(s.start)+len(s.input))
	if s.half != 0 {
		b = strconv.AppendInt(b, int64(s.half), 16)
	}
	b = append(b, ',')
	if s.half != 0 {
		b = append(b, s.kind)
	}
	b = append(b, ',')
	if s.half != 0 {
		b = strconv.AppendInt(b, s.index, 10)
	}
	for _, n := range []*int64{s.read, s.written} {
		b = append(b, ',')
		if n != nil {
			b = strconv.AppendInt(b, *n, 10)
		}
	}
	b = append(b, ',')
	if s.finished {
		b = append(b, 'f')
	}
	b = append(b, ',')
	if s.open < 0 {
		return string(b)
	}
	b = strconv.AppendInt(b, s.open, 10)
	b = append(append(b, ';'), s.start...)
	return string(append(append(b, '\n'), s.input...))
}
