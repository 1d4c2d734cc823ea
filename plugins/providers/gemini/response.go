package main

import (
	"bytes"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
)

// Response reads a whole answer. A server that is asked for a stream without
// understanding alt=sse sends the chunks in an array.
func (p gemini) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var d provider.Decoder
	if !tellAll(&d, bytes.TrimSpace([]byte(r.Body))) {
		d.Events = nil
		d.Fail(p.Error(r))
	}
	if n := len(d.Events); n == 0 || d.Events[n-1].Type != abi.EventFailure {
		if !readState(d.State).finished {
			d.Finish(abi.FinishUnknown, "")
		}
		d.Done()
	}
	return d.Events, nil
}

// tellAll gives the events of a body. It returns false if that is no answer.
func tellAll(d *provider.Decoder, body []byte) bool {
	if len(body) == 0 || body[0] != '[' {
		return tellWhole(d, body)
	}
	s := jsonscan.New(body)
	answers := 0
	for s.Array(); s.Elem(); {
		if n := len(d.Events); n > 0 && d.Events[n-1].Type == abi.EventFailure {
			continue
		}
		raw := s.Raw()
		if !tellWhole(d, raw) {
			if answers == 0 {
				return false
			}
			d.Fail(frameError(raw))
		}
		answers++
	}
	return s.End() == nil && answers > 0
}

func tellWhole(d *provider.Decoder, body []byte) bool {
	c := chunk{before: readState(d.State)}
	if err := c.read(body); err != nil || !c.answer || c.failed {
		return false
	}
	c.tell(d, body)
	return true
}
