package mcp

import (
	"bufio"
	"errors"
	"io"
	"sync"
	"time"
)

// Bounds of what a server says beside the protocol.
const (
	// maxNote is how much of a line is kept, in bytes.
	maxNote = 1000
	// maxNotes is how many lines of one server are logged in notesTime.
	maxNotes  = 100
	notesTime = 10 * time.Second
	// maxWords is how much of its last line explains its end, in bytes.
	maxWords = 200
)

// notes puts what a server writes to its standard error, and what is no message
// on its standard output, into the log.
type notes struct {
	s *Server

	mu     sync.Mutex
	last   string    // the last line of standard error
	since  time.Time // since when logged counts
	logged int
}

func newNotes(s *Server) *notes { return &notes{s: s} }

// follow logs lines until the end.
func (n *notes) follow(r io.Reader) {
	lines := bufio.NewReaderSize(r, maxNote)
	long := false // within a line whose beginning was logged
	for {
		part, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			part = n.s.cfg.Redactor.Cut(part) // a secret may go on in the next part
		}
		if line := n.clean(string(part)); line != "" && !long {
			n.mu.Lock()
			n.last = line
			n.mu.Unlock()
			n.log("MCP server says", line)
		}
		long = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !long {
			return
		}
	}
}

// junk logs a line of standard output that is no message.
func (n *notes) junk(line string) {
	n.log("MCP server writes something that is no message to its standard output", n.clean(line))
}

func (n *notes) clean(line string) string {
	return clip(oneLine(n.s.cfg.Redactor.String(line)), maxNote)
}

func (n *notes) log(msg, line string) {
	n.mu.Lock()
	now := time.Now()
	if now.Sub(n.since) >= notesTime {
		n.since, n.logged = now, 0
	}
	n.logged++
	logged := n.logged
	n.mu.Unlock()
	switch {
	case logged <= maxNotes:
		n.s.cfg.Logger.Info(msg, "server", n.s.cfg.Name, "line", line)
	case logged == maxNotes+1:
		n.s.cfg.Logger.Warn("MCP server says too much; some of it is not logged", "server", n.s.cfg.Name)
	}
}

// lastWords returns the last line of standard error.
func (n *notes) lastWords() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return clip(n.last, maxWords)
}
