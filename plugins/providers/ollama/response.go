package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// Response reads a whole answer: a line that has all of it.
func (p chat) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var d provider.Decoder
	var l line
	body := []byte(r.Body)
	err := l.read(body)
	if err == nil && l.message && !l.failed {
		l.done = true // there is nothing more to come
		l.tell(&d, body)
	} else {
		d.Fail(p.Error(r))
	}
	return d.Events, nil
}
