package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// Response reads a whole answer.
func (p chat) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var d provider.Decoder
	c := chunk{wantMeta: true}
	body := []byte(r.Body)
	if err := c.read(body); err != nil || c.failed || !c.choices {
		d.Fail(p.Error(r))
		return d.Events, nil
	}
	c.tell(&d, body)
	if n := len(d.Events); n > 0 && d.Events[n-1].Type == abi.EventFailure {
		return d.Events, nil
	}
	if len(c.finish) == 0 {
		d.Finish(abi.FinishUnknown, "")
	}
	d.Done()
	return d.Events, nil
}
