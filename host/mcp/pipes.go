package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of what a server writes to its standard output.
const (
	// maxMessage is the longest message in bytes.
	maxMessage = 8 << 20
	// maxJunk is how many lines in a row may be something else.
	maxJunk = 1000
	// maxRate is how many messages are taken in a second; more wait.
	maxRate = 1000
	// maxAsked is how many requests of the server may wait for an answer.
	maxAsked = 256
)

// pipes is the stdio transport: a JSON-RPC message a line. Unlike the SDK's own
// it takes no harm from a server that prints other things between its messages,
// and a server that does not read blocks nobody: writing ends with the context
// of the writer.
type pipes struct {
	in   io.ReadCloser
	out  io.WriteCloser
	junk func(line string) // is told of lines that are no messages

	lines   chan []byte // from the goroutine that reads
	readErr error       // why lines was closed
	frames  chan *frame // to the goroutine that writes
	closing chan struct{}
	once    sync.Once
	both    sync.WaitGroup

	// For Read alone:
	queue  []jsonrpc.Message // the rest of a batch
	others int               // lines in a row that were no messages
	second time.Time         // since when taken counts
	taken  int

	asked  atomic.Int32          // requests of the server without an answer
	reason atomic.Pointer[error] // why the host has given the server up
}

// frame is a message to be written.
type frame struct {
	data []byte
	mark *mark
	// state makes sure that a frame is either written or given up.
	state   atomic.Int32
	written chan error
}

const (
	frameWaits int32 = iota
	frameTaken
	frameDropped
)

func newPipes(in io.ReadCloser, out io.WriteCloser, junk func(string)) *pipes {
	p := &pipes{
		in: in, out: out, junk: junk,
		lines: make(chan []byte), frames: make(chan *frame), closing: make(chan struct{}),
	}
	p.both.Go(p.pull)
	p.both.Go(p.push)
	return p
}

// SessionID is empty: pipes have no sessions.
func (*pipes) SessionID() string { return "" }

// Close ends reading and writing; the other side sees the end of its input.
// What it still writes is dropped until it closes its output, or in is closed.
func (p *pipes) Close() error {
	p.once.Do(func() {
		close(p.closing)
		_ = p.out.Close() // it may be broken already
	})
	return nil
}

// wait waits for the goroutines, which end when both pipes are closed.
func (p *pipes) wait() { p.both.Wait() }

// pull reads lines until the end.
func (p *pipes) pull() {
	r := bufio.NewReaderSize(p.in, 64<<10)
	for {
		line, err := readLine(r)
		if err != nil {
			p.readErr = err
			break
		}
		select {
		case p.lines <- line:
			continue
		case <-p.closing:
		}
		break
	}
	close(p.lines)
	_, _ = io.Copy(io.Discard, r) // so that the server is not stuck in its last words
}

// readLine returns the next line that is not empty, in memory of its own.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxMessage:
			return nil, fmt.Errorf("it writes a line longer than %d MiB", maxMessage>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil: // a last line without an end is no message
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// Read returns the next message.
func (p *pipes) Read(context.Context) (jsonrpc.Message, error) {
	m, err := p.next()
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
		p.reason.Store(&err)
	}
	return m, err
}

func (p *pipes) next() (jsonrpc.Message, error) {
	for {
		if len(p.queue) > 0 {
			m := p.queue[0]
			p.queue = p.queue[1:]
			return m, p.admit(m)
		}
		select {
		case <-p.closing:
			return nil, io.EOF
		case line, ok := <-p.lines:
			if !ok {
				return nil, p.over()
			}
			messages := decode(line)
			if len(messages) == 0 {
				if p.others++; p.others > maxJunk {
					return nil, errors.New("what it writes to its standard output are no messages")
				}
				p.junk(string(line))
				continue
			}
			p.others, p.queue = 0, messages
		}
	}
}

// over says why there are no more lines.
func (p *pipes) over() error {
	select {
	case <-p.closing:
		return io.EOF
	default:
		return p.readErr
	}
}

// decode returns the messages of a line: one, or in old versions of the
// protocol several. None means that it is something else.
func decode(line []byte) []jsonrpc.Message {
	raw := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &raw) != nil {
		return nil
	}
	messages := make([]jsonrpc.Message, 0, len(raw))
	for _, one := range raw {
		m, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return nil
		}
		messages = append(messages, m)
	}
	return messages
}

// admit slows a server down that floods the host with messages, and gives one
// up that asks without reading the answers.
func (p *pipes) admit(m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() && p.asked.Add(1) > maxAsked {
		return errors.New("it asks and does not read the answers")
	}
	now := time.Now()
	if now.Sub(p.second) >= time.Second {
		p.second, p.taken = now, 0
	}
	if p.taken++; p.taken <= maxRate {
		return nil
	}
	timer := time.NewTimer(time.Second - now.Sub(p.second))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.closing:
		return io.EOF
	}
}

// Write writes a message. If ctx ends before the message is begun, it is not
// written.
func (p *pipes) Write(ctx context.Context, m jsonrpc.Message) error {
	if _, ok := m.(*jsonrpc.Response); ok {
		p.asked.Add(-1)
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	f := &frame{data: append(data, '\n'), mark: markOf(ctx), written: make(chan error, 1)}
	select {
	case p.frames <- f:
	case <-ctx.Done():
		return ctx.Err()
	case <-p.closing:
		return io.ErrClosedPipe
	}
	select {
	case err := <-f.written:
		return err
	case <-ctx.Done():
		f.state.CompareAndSwap(frameWaits, frameDropped)
		return ctx.Err()
	case <-p.closing:
		return io.ErrClosedPipe
	}
}

// push writes frames, one after the other.
func (p *pipes) push() {
	for {
		select {
		case <-p.closing:
			return
		case f := <-p.frames:
			if !f.state.CompareAndSwap(frameWaits, frameTaken) {
				continue
			}
			f.mark.sending()
			_, err := p.out.Write(f.data)
			f.written <- err
			if err != nil {
				return // Write reports it, and the connection ends
			}
		}
	}
}
