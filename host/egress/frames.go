package egress

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/zchost/zchost/abi"
)

// Frame is one frame of a streamed body.
type Frame struct {
	// Data is the frame's data, without secrets; never blank.
	Data []byte
	// Name is the name of a server-sent event; empty if it has none. What came
	// in a field error in place of data is a frame of the name error.
	Name string
}

// faultName is the name of a frame that came in a field error.
const faultName = "error"

// Frames cuts a body into frames (STR-2). How the bytes were cut on their way
// makes no difference. Its methods are called by one goroutine.
type Frames struct {
	r       *Response
	framing abi.Framing
	lines   lines
	event   event
	list    []Frame
	left    int64 // bytes until MaxResponse
	begun   bool  // a byte order mark was looked for
	known   bool  // it is a stream
	err     error // why there is nothing more to read
	done    bool  // nothing more to cut either
}

// Frames returns the frames of the body, which nothing may have read.
func (r *Response) Frames(framing abi.Framing) *Frames {
	return &Frames{
		r:       r,
		framing: framing,
		lines:   lines{bareCR: framing == abi.FramingSSE},
		left:    MaxResponse,
	}
}

// Next waits for a frame and returns all that have arrived; they are valid
// until the next call. Frames that are blank are left out. The error is io.EOF
// when the body came to its end, else an *Error; frames that came before it are
// returned first. After any error but one of ErrNotStream the response is
// closed.
//
// A frame that lacks its end where the body ends, in whatever way, is returned
// if it is a whole JSON value or [DONE].
func (f *Frames) Next() ([]Frame, error) {
	f.list = f.list[:0]
	f.event.reset()
	for {
		f.cut()
		if len(f.list) > 0 {
			return f.list, nil
		}
		if f.err != nil {
			if !errors.Is(f.err, ErrNotStream) {
				_ = f.r.Close()
			}
			return nil, f.err
		}
		f.read()
	}
}

// Empty reports whether not one byte of the body has come.
func (f *Frames) Empty() bool { return f.left == MaxResponse }

// Progress says that a frame gave an event: the progress clock starts anew.
func (f *Frames) Progress() { f.r.watch.event() }

// Finished says that the answer's finish reason was seen: from now on silence
// is bounded by Clocks.FinishSilence.
func (f *Frames) Finished() { f.r.watch.finish() }

// read waits for bytes.
func (f *Frames) read() {
	f.event.hold()
	room := f.lines.room()
	room = room[:min(int64(len(room)), f.left+1)]
	n, err := f.r.body.Read(room)
	if int64(n) > f.left {
		n, err = int(f.left), f.r.tooLarge("body", MaxResponse)
	}
	f.left -= int64(n)
	f.lines.add(n)
	if err != nil && err != io.EOF { //nolint:errorlint // io.Reader's contract
		err = f.r.broken(err)
	}
	f.err = err
}

// cut makes frames of all that has arrived.
func (f *Frames) cut() {
	if f.done || !f.begin() {
		return
	}
	for {
		line, ok := f.lines.next()
		if !ok {
			break
		}
		if len(line) > MaxLine {
			f.fail(f.r.tooLarge("line", MaxLine))
			return
		}
		if f.line(line); f.done {
			return
		}
	}
	if len(f.lines.rest()) > MaxLine {
		f.fail(f.r.tooLarge("line", MaxLine))
		return
	}
	if f.err != nil {
		f.tail()
	}
}

// line takes one line that has ended.
func (f *Frames) line(line []byte) {
	switch {
	case f.framing == abi.FramingNDJSON:
		f.emit(bytes.TrimSpace(line), "")
	case len(line) == 0:
		data, name, fault := f.event.take()
		if f.emit(data, name) {
			f.emit(fault, faultName)
		}
	case !f.event.line(line):
		f.fail(f.r.tooLarge("frame", MaxFrame))
	}
}

// tail takes what lacks its end, if it is whole all the same.
func (f *Frames) tail() {
	f.done = true
	rest := f.lines.rest()
	if f.framing == abi.FramingNDJSON {
		if whole(rest) {
			f.emit(bytes.TrimSpace(rest), "")
		}
		return
	}
	// Of a name, nobody could tell whether it is whole.
	valued := bytes.HasPrefix(rest, []byte("data:")) || bytes.HasPrefix(rest, []byte("error:"))
	if valued && !f.event.line(rest) {
		f.fail(f.r.tooLarge("frame", MaxFrame))
		return
	}
	data, name, fault := f.event.take()
	if whole(data) && !f.emit(data, name) {
		return
	}
	if whole(fault) {
		f.emit(fault, faultName)
	}
}

// whole tells whether data is a whole JSON value that shows its own end, or the
// [DONE] of chat completions.
func whole(data []byte) bool {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		return true
	}
	return len(data) > 0 && strings.IndexByte(`}]"`, data[len(data)-1]) >= 0 && json.Valid(data)
}

// emit adds a frame, unless it is blank. ok says that the stream goes on.
func (f *Frames) emit(data []byte, name string) (ok bool) {
	if len(bytes.TrimSpace(data)) == 0 {
		return true
	}
	// It would end a record of the sequence in which frames reach the plugin,
	// and no JSON holds it.
	if bytes.IndexByte(data, 0x1E) >= 0 {
		f.fail(f.r.unusable("a frame holds the control character 0x1E", nil))
		return false
	}
	f.list = append(f.list, Frame{
		Data: f.r.redactor.Bytes(data),
		Name: f.r.redactor.String(name),
	})
	return true
}

// fail ends the stream with an error of its own.
func (f *Frames) fail(err error) {
	f.err = err
	f.done = true
}

// begin passes over a byte order mark and looks whether the body can be a
// stream at all. It returns false if more bytes are needed for that.
func (f *Frames) begin() bool {
	if !f.begun {
		rest := f.lines.rest()
		if len(rest) < len(bom) && strings.HasPrefix(bom, string(rest)) && f.err == nil {
			return false
		}
		f.begun = true
		if bytes.HasPrefix(rest, []byte(bom)) {
			f.lines.skip(len(bom))
		}
	}
	if !f.known {
		text := bytes.TrimLeft(f.lines.rest(), " \t\r\n")
		if len(text) > 0 {
			f.known = true
			if f.foreign(text[0]) {
				f.r.unread = bytes.Clone(f.lines.rest())
				f.fail(f.r.unusable(ErrNotStream.Error(), ErrNotStream))
			}
		}
	}
	return !f.done
}

// foreign tells whether a stream cannot begin with c: JSON where server-sent
// events were asked for, HTML, or compressed data without a header that says so.
func (f *Frames) foreign(c byte) bool {
	if f.framing == abi.FramingNDJSON {
		return c == '<' || c == gzipMagic[0]
	}
	return strings.IndexByte(`{["<`+gzipMagic[:1], c) >= 0
}
