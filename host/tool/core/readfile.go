package core

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

type readArguments struct {
	Path   string `json:"path"`
	Offset int    `json:"offset"`
	Limit  int    `json:"limit"`
}

func newReadFile(w *workspace, room int) tool.Tool {
	return newTool(ReadFile, abi.EffectRead,
		"Reads a text file of the workspace. Paths are relative to the workspace. A long file is shown in part; "+
			"a note in square brackets then says with which offset to go on.",
		`{"type":"object","properties":{
			"path":{"type":"string","description":"The file."},
			"offset":{"type":"integer","minimum":1,"description":"The first line to read, counted from 1."},
			"limit":{"type":"integer","minimum":1,"description":"The most lines to read."}},
			"required":["path"],"additionalProperties":false}`,
		func(ctx context.Context, a readArguments) (text string, err error) {
			err = w.use(a.Path, func(root *os.Root, name string) error {
				text, err = readPart(ctx, root, name, a, room)
				return err
			})
			return text, err
		})
}

// readPart returns some lines of a file with notes about the rest.
func readPart(ctx context.Context, root *os.Root, name string, a readArguments, room int) (string, error) {
	f, info, err := openFile(root, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read from
	from := newLines(f, room)
	start, err := from.from.Peek(looked)
	if err != nil && err != io.EOF { //nolint:errorlint // bufio's contract
		return "", explain(name, err)
	}
	if err := checkText(name, info, start); err != nil {
		return "", err
	}
	p := part{first: max(1, a.Offset), room: room, most: a.Limit}
	if err := p.read(ctx, from); err != nil {
		return "", explain(name, err)
	}
	if p.next <= p.first && !p.full {
		if info.Size() == 0 {
			return "[" + shown(name) + " is empty]", nil
		}
		return "", say("%s has only %s.", shown(name), count(p.next-1, "line"))
	}
	return p.text(from.crlf, info.Size()), nil
}

// part is some lines of a file.
type part struct {
	first, most int // the first line, and how many at most; 0 is all
	room        int // bytes

	b       strings.Builder
	next    int // the line after the last that was read
	full    bool
	dropped int // bytes of the only line, which was too long
}

func (p *part) read(ctx context.Context, from *lines) error {
	for p.next = 1; ; p.next++ {
		if p.next%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, dropped, err := from.next()
		switch {
		case err == io.EOF: //nolint:errorlint // next's contract
			return nil
		case err != nil:
			return err
		case p.next < p.first:
			continue
		case p.most > 0 && p.next >= p.first+p.most:
			p.full = true
			return nil
		case p.b.Len() > 0 && p.b.Len()+len(line)+1 > p.room:
			p.full = true
			return nil
		}
		p.b.Write(line)
		p.b.WriteByte('\n')
		if dropped > 0 {
			p.next++
			p.full, p.dropped = true, dropped
			return nil
		}
	}
}

// text is the lines and the notes.
func (p *part) text(crlf bool, size int64) string {
	text := p.b.String()
	var notes []string
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		notes = append(notes, "not all of it is UTF-8")
	}
	if crlf {
		notes = append(notes, "lines end with CR and LF, which edit_file and write_file keep if you write LF")
	}
	if p.dropped > 0 {
		notes = append(notes, fmt.Sprintf("line %d is cut, %d bytes of it are not shown", p.next-1, p.dropped))
	}
	if p.full {
		notes = append(notes, fmt.Sprintf("lines %d to %d of a file of %d bytes; go on with offset %d", p.first, p.next-1, size, p.next))
	}
	if len(notes) > 0 {
		text += "[" + strings.Join(notes, "; ") + "]\n"
	}
	return text
}
