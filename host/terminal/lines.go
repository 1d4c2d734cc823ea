package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxLine is the longest line of piped input, and the largest paste, in bytes.
const MaxLine = 1 << 20

// ErrInterrupt is what Lines gives when Ctrl-C was pressed at the prompt.
var ErrInterrupt = errors.New("interrupted at the prompt")

// ErrLongLine is what Lines gives for a line of more than MaxLine bytes, which
// it drops.
var ErrLongLine = fmt.Errorf("a line is longer than %d bytes, and was not sent", MaxLine)

// Lines gives what a person types, one message at a time.
type Lines interface {
	// Next returns the next message, io.EOF when there are no more,
	// ErrInterrupt or ErrLongLine.
	Next(ctx context.Context) (string, error)
	// Answering keeps what is typed from showing up in the answer until the
	// returned function is called.
	Answering() (done func())
	// Close gives the terminal back as it was.
	Close() error
}

// PipedLines reads a message a line from something that is not a terminal.
type PipedLines struct {
	in   *bufio.Reader
	next chan line
}

type line struct {
	text string
	err  error
}

// NewPipedLines reads from in.
func NewPipedLines(in io.Reader) *PipedLines {
	return &PipedLines{in: bufio.NewReaderSize(in, 64<<10)}
}

// Next returns the next line without its end. When ctx ends first, the read
// goes on, since there is no way to stop it, and the next call gets its line.
func (p *PipedLines) Next(ctx context.Context) (string, error) {
	if p.next == nil {
		p.next = make(chan line, 1)
		go func() {
			text, err := p.read()
			p.next <- line{text, err}
		}()
	}
	select {
	case l := <-p.next:
		p.next = nil
		return l.text, l.err
	case <-ctx.Done():
		return "", fmt.Errorf("read input: %w", context.Cause(ctx))
	}
}

func (p *PipedLines) read() (string, error) {
	var text strings.Builder
	long := false
	for {
		piece, err := p.in.ReadSlice('\n')
		long = long || text.Len()+len(piece) > MaxLine
		if !long {
			text.Write(piece)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return "", ErrLongLine
		case err == nil, errors.Is(err, io.EOF) && text.Len() > 0:
			return strings.TrimRight(text.String(), "\r\n"), nil
		case errors.Is(err, io.EOF):
			return "", io.EOF
		default:
			return "", fmt.Errorf("read input: %w", err)
		}
	}
}

// Answering does nothing: piped input is not shown.
func (p *PipedLines) Answering() func() { return func() {} }

// Close does nothing: the input belongs to the caller.
func (p *PipedLines) Close() error { return nil }
