package core

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// lines reads lines of any length, of each of which it keeps the beginning.
type lines struct {
	from *bufio.Reader
	keep int
	line []byte
	crlf bool // a line ended with CR and LF
}

func newLines(r io.Reader, keep int) *lines {
	return &lines{from: bufio.NewReaderSize(r, 64<<10), keep: keep}
}

// next returns the next line without its end, and how many bytes were dropped
// from it. It is valid until the next call. The error is io.EOF after the last.
func (l *lines) next() (line []byte, dropped int, err error) {
	l.line = l.line[:0]
	for {
		piece, err := l.from.ReadSlice('\n')
		room := max(0, l.keep-len(l.line))
		l.line = append(l.line, piece[:min(room, len(piece))]...)
		dropped += max(0, len(piece)-room)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(l.line) == 0:
			return nil, 0, io.EOF
		case err != nil && err != io.EOF:
			return nil, 0, err
		}
		line = l.line
		if n := len(line); n > 0 && line[n-1] == '\n' {
			line = line[:n-1]
			if n > 1 && line[n-2] == '\r' {
				line, l.crlf = line[:n-2], true
			}
		}
		return line, dropped, nil
	}
}

// binary says why the file that starts with these bytes cannot be shown as
// text, or "".
func binary(start []byte) string {
	switch {
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		return "UTF-16 text"
	case bytes.IndexByte(start, 0) >= 0:
		return "a binary file"
	}
	return ""
}

// looked is how much of a file's beginning tells whether it is text.
const looked = 8 << 10

// checkText refuses a file that is no text.
func checkText(name string, info fs.FileInfo, start []byte) error {
	if why := binary(start); why != "" {
		return say("%s is %s of %d bytes; only UTF-8 text can be read.", shown(name), why, info.Size())
	}
	return nil
}

// count writes a number of things: "1 line", "2 lines".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
