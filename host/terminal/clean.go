package terminal

import (
	"strings"
	"unicode/utf8"
)

// maxControlString bounds a control string (OSC, DCS, …), in runes. Text after
// an unfinished one is shown again when it has been passed.
const maxControlString = 4096

// Cleaner removes from untrusted text what a terminal would act on: escape
// sequences (ECMA-48, 7 and 8 bit), control characters other than newline and
// tab, and those that reorder text. Bytes that are not UTF-8 become U+FFFD.
//
// It keeps its state between pieces, so that a sequence which is cut over two
// deltas is removed like any other. The zero value is ready.
type Cleaner struct {
	state cleanState
	held  int
}

type cleanState uint8

const (
	cleanText      cleanState = iota
	cleanEscape               // after ESC
	cleanNested               // after ESC and intermediate bytes
	cleanSequence             // in a control sequence
	cleanString               // in a control string
	cleanStringEsc            // after ESC in a control string
)

// Clean removes from s all that a terminal would act on.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var c Cleaner
	return string(c.Append(nil, s))
}

// Append appends the harmless part of s to dst.
func (c *Cleaner) Append(dst []byte, s string) []byte {
	if c.state == cleanText && isClean(s) {
		return append(dst, s...)
	}
	for _, r := range s {
		if c.step(r) {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// isClean reports whether s has neither control characters nor broken UTF-8, as
// most pieces have.
func isClean(s string) bool {
	for i, r := range s {
		if !printable(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return false
		}
	}
	return true
}

func printable(r rune) bool {
	return r >= 0x20 && r < 0x7F || r >= 0xA0 && !reorders(r) || r == '\n' || r == '\t'
}

// reorders reports whether r makes a terminal show the text that follows in
// another order (UAX #9, explicit formatting and isolates).
func reorders(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// step takes the next rune and reports whether to keep it.
func (c *Cleaner) step(r rune) bool {
	switch c.state {
	case cleanEscape:
		return c.afterEscape(r)
	case cleanNested:
		return c.until(r, r < 0x20 || r > 0x2F)
	case cleanSequence:
		return c.until(r, r < 0x20 || r > 0x3F)
	case cleanString:
		return c.inString(r)
	case cleanStringEsc:
		if r == '\\' {
			c.state = cleanText
			return false
		}
		return c.afterEscape(r)
	case cleanText:
	}
	return c.inText(r)
}

func (c *Cleaner) inText(r rune) bool {
	switch r {
	case 0x1B:
		c.state = cleanEscape
	case 0x9B: // CSI
		c.state = cleanSequence
	case 0x90, 0x98, 0x9D, 0x9E, 0x9F: // DCS, SOS, OSC, PM, APC
		c.state, c.held = cleanString, 0
	default:
		return printable(r)
	}
	return false
}

func (c *Cleaner) afterEscape(r rune) bool {
	switch {
	case r == '[':
		c.state = cleanSequence
	case r == 'P' || r == 'X' || r == ']' || r == '^' || r == '_':
		c.state, c.held = cleanString, 0
	case r >= 0x20 && r <= 0x2F:
		c.state = cleanNested
	default:
		return c.until(r, true)
	}
	return false
}

// until ends a sequence when it is done: its last byte belongs to it, but a
// control character or a rune beyond ASCII does not and is looked at again.
func (c *Cleaner) until(r rune, done bool) bool {
	if !done {
		return false
	}
	c.state = cleanText
	if r < 0x20 || r > 0x7E {
		return c.inText(r)
	}
	return false
}

// inString ends a control string at its terminator, at the end of the line,
// where no real one goes on, or at its limit.
func (c *Cleaner) inString(r rune) bool {
	c.held++
	switch {
	case r == 0x1B:
		c.state = cleanStringEsc
	case r == 0x07 || r == 0x9C:
		c.state = cleanText
	case r == '\n' || c.held > maxControlString:
		c.state = cleanText
		return printable(r)
	}
	return false
}
