package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// Response reads a whole answer.
func (p chat) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var d provider.Decoder
	var c chunk
	body := []byte(r.Body)
	err := c.read(body)
	if err == nil && c.choices && !c.failed {
		c.tell(&d, body)
	} else {
		d.Fail(p.Error(r))
	}
	if n := len(d.Events); n == 0 || d.Events[n-1].Type != abi.EventFailure {
		if c.finish == "" {
			readState(d.State).end(&d)
			d.Finish(abi.FinishUnknown, "")
		}
		d.Done()
	}
	return d.Events, nil
}
