// Package terminal is the surface that a person at a terminal sees: it renders
// the events of a turn, reads lines with editing and history, and runs the
// conversation of `zchost chat` and the one turn of `zchost send`.
//
// It knows the host only by the small interface Host, so that it can be tested
// with a fake, and it decides nothing about a turn: whether an answer was seen,
// is repeated or has failed is in the events that it reads.
package terminal

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/term"
)

// Screen is where a command writes: answers to Out, everything about them to
// Err. On a terminal both are the same window.
type Screen struct {
	// Out receives answers and listings.
	Out io.Writer
	// Err receives notices and errors.
	Err io.Writer
	// Terminal says that Out is a terminal: untrusted text is cleaned, and
	// progress and reasoning are shown.
	Terminal bool
	// Color allows colours on Out.
	Color bool
	// ErrColor allows colours on Err.
	ErrColor bool
	// Locales are the languages that the person reads, best first.
	Locales []string
}

// NewScreen returns the screen of a process with these files and this
// environment, of which it reads NO_COLOR (https://no-color.org), TERM and the
// POSIX locale variables. A closed pipe does not fail the writer: the turn goes
// on and is stored.
func NewScreen(stdout, stderr *os.File, env []string) *Screen {
	vars := environ(env)
	colors := vars["NO_COLOR"] == "" && vars["TERM"] != "dumb"
	out, err := IsTerminal(stdout), IsTerminal(stderr)
	return &Screen{
		Out:      &Pipe{to: stdout},
		Err:      &Pipe{to: stderr},
		Terminal: out,
		Color:    out && colors,
		ErrColor: err && colors,
		Locales:  locales(vars),
	}
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd()))
}

// OutError is why answers or listings could not be written to a file; nil if
// all were, or if their reader went away.
func (s *Screen) OutError() error {
	p, ok := s.Out.(*Pipe)
	if !ok || s.Terminal {
		return nil
	}
	if err := p.err.Load(); err != nil && !isGone(*err) {
		return *err
	}
	return nil
}

// Pipe is a writer whose reader may go away: after the first failed write it
// drops what it is given.
type Pipe struct {
	to  io.Writer
	err atomic.Pointer[error] // of the first failed write
}

// Write writes p, or drops it. It never fails, so that a turn does not end
// because nobody looks.
func (p *Pipe) Write(b []byte) (int, error) {
	if p.Broken() {
		return len(b), nil
	}
	for written := 0; written < len(b); {
		n, err := p.to.Write(b[written:])
		written += n
		if err != nil && !errors.Is(err, io.ErrShortWrite) {
			p.err.Store(&err)
			break
		}
	}
	return len(b), nil
}

// Broken reports whether a write has failed.
func (p *Pipe) Broken() bool { return p.err.Load() != nil }
