package abi

import (
	"errors"

	"github.com/zchost/zchost/abi/jsonscan"
)

// The bytes around each record of a JSON text sequence (RFC 7464).
const (
	recordStart = 0x1E
	recordEnd   = '\n'
)

// The ways in which bytes are no sequence.
var (
	ErrNoRecord  = errors.New("sequence: a record does not begin with the byte 0x1E")
	ErrCutRecord = errors.New("sequence: the last record does not end with the byte 0x0A")
)

// AppendRecord appends a record that holds text, which must not contain the
// byte 0x1E.
func AppendRecord(dst, text []byte) []byte {
	dst = append(dst, recordStart)
	dst = append(dst, text...)
	return append(dst, recordEnd)
}

// AppendHeader appends the record of a header.
func AppendHeader(dst []byte, h *EventsHeader) []byte {
	return append(h.AppendJSON(append(dst, recordStart)), recordEnd)
}

// AppendEvent appends the record of an event.
func AppendEvent(dst []byte, e *Event) []byte {
	return append(e.AppendJSON(append(dst, recordStart)), recordEnd)
}

// NextRecord returns the text of the first record and what follows it, both
// parts of seq. ok is false at the end of the sequence and after an error, which
// is ErrNoRecord or ErrCutRecord.
func NextRecord(seq []byte) (text, rest []byte, ok bool, err error) {
	if len(seq) == 0 {
		return nil, nil, false, nil
	}
	if seq[0] != recordStart {
		return nil, nil, false, ErrNoRecord
	}
	end := jsonscan.IndexByte(seq[1:], recordStart) + 1
	if end == 0 {
		end = len(seq)
	}
	if seq[end-1] != recordEnd {
		return nil, nil, false, ErrCutRecord
	}
	return seq[1 : end-1], seq[end:], true, nil
}
