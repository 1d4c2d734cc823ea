package secret

import (
	"bytes"
	"io"
	"sync"
)

// maxLine is how many bytes of a line LineWriter holds back at most.
const maxLine = 64 << 10

// LineWriter removes secrets from what is written through it. It passes on
// whole lines, so that a secret written in two pieces is found too.
type LineWriter struct {
	redactor *Redactor
	mu       sync.Mutex
	to       io.Writer
	rest     []byte // the line that has not ended
}

// Writer returns a writer for logs: what reaches w is free of secrets. Lines
// that have not ended are held back until they do, up to 64 KiB; Flush writes
// them at once. It may be used by several goroutines at once.
func (r *Redactor) Writer(w io.Writer) *LineWriter {
	return &LineWriter{redactor: r, to: w}
}

// Write takes p and passes on the lines that it completes.
func (w *LineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := bytes.LastIndexByte(p, '\n') + 1
	if whole > 0 {
		lines := p[:whole]
		if len(w.rest) > 0 {
			lines = append(w.rest, lines...)
			w.rest = w.rest[:0]
		}
		if err := w.pass(w.redactor.Bytes(lines)); err != nil {
			return 0, err
		}
	}
	w.rest = append(w.rest, p[whole:]...)
	if len(w.rest) > maxLine {
		if err := w.shorten(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Flush writes the line that has not ended.
func (w *LineWriter) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	rest := w.redactor.Cut(w.rest)
	w.rest = nil
	return w.pass(rest)
}

// shorten passes on a very long line as far as it cannot end in a part of a
// secret.
func (w *LineWriter) shorten() error {
	clean := w.redactor.Bytes(w.rest)
	keep := min(len(clean), max(w.redactor.Longest()-1, 0))
	err := w.pass(clean[:len(clean)-keep])
	w.rest = bytes.Clone(clean[len(clean)-keep:])
	return err
}

func (w *LineWriter) pass(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	_, err := w.to.Write(p)
	return err
}
