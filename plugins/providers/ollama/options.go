package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// The values of the option auth: how the key is sent.
const (
	authBearer = "bearer"
	authNone   = "none"
)

// options are the endpoint's settings; plugin.toml describes them.
type options struct {
	auth       string
	think      []byte // JSON, nil if it is left out
	keepAlive  []byte
	numCtx     int64
	parameters []compose.Field
	headers    []abi.Header
	extraBody  []compose.Field
}

func readOptions(raw abi.Raw) (options, error) {
	o := options{auth: authBearer}
	if len(raw) == 0 {
		return o, nil
	}
	s := jsonscan.New(raw)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "auth":
			o.auth = s.String()
		case "think":
			o.think = s.Raw()
		case "keep_alive":
			o.keepAlive = s.Raw()
		case "num_ctx":
			o.numCtx = s.Int()
		case "parameters":
			o.parameters = compose.ReadFields(&s)
		case "headers":
			o.headers = compose.ReadPairs(&s)
		case "extra_body":
			o.extraBody = compose.ReadFields(&s)
		}
	}
	if err := s.End(); err != nil {
		return o, errors.New("read options: " + err.Error())
	}
	return o, o.check()
}

// check refuses what would break the request. The host has checked the options
// against the manifest's schema; this is what a schema cannot say.
func (o *options) check() error {
	if o.auth != authBearer && o.auth != authNone {
		return errors.New("option auth is " + o.auth + ", want bearer or none")
	}
	values := [][]byte{o.think, o.keepAlive}
	for _, f := range o.parameters {
		values = append(values, f.Value)
	}
	for _, f := range o.extraBody {
		switch f.Name {
		case "model", "messages", "stream", "options":
			return errors.New("option extra_body must not set " + f.Name)
		}
		values = append(values, f.Value)
	}
	for _, v := range values {
		if strings.Contains(string(v), messagesPlace) {
			return errors.New("options must not hold " + messagesPlace)
		}
	}
	return nil
}
