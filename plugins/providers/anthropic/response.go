package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// message is a message: how a stream begins, or the body of a whole answer.
type message struct {
	typ, id, model string
	blocks         [][]byte
	content        bool // there is a list of blocks
	stop           string
	usage          *usage
}

func readMessage(data []byte) message {
	var m message
	s := jsonscan.New(data)
	if s.Kind() != jsonscan.Object {
		return m
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "type":
			m.typ = lenient.String(&s)
		case "id":
			m.id = lenient.String(&s)
		case "model":
			m.model = lenient.String(&s)
		case "stop_reason":
			m.stop = lenient.String(&s)
		case "usage":
			m.usage = readUsage(&s)
		case "content":
			m.readContent(&s)
		}
	}
	if s.End() != nil {
		return message{}
	}
	return m
}

func (m *message) readContent(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		return
	}
	m.content = true
	for s.Array(); s.Elem(); {
		m.blocks = append(m.blocks, lenient.Object(s)) // nil keeps the places of the others
	}
}

// Response reads a whole answer.
func (p messages) Response(in abi.HTTPResponse) ([]abi.Event, error) {
	var d provider.Decoder
	m := readMessage([]byte(in.Body))
	if !m.content || m.typ == "error" {
		d.Fail(p.Error(in))
		return d.Events, nil
	}
	if m.id != "" || m.model != "" {
		d.Meta(m.id, m.model)
	}
	for i, raw := range m.blocks {
		b := readBlock(raw)
		e := b.event(int64(i))
		empty := e.Text == "" && e.Signature == "" && e.Opaque == ""
		if raw == nil || b.typ == "" || (empty && e.Type != abi.EventToolCall) {
			continue
		}
		d.Emit(e)
	}
	if m.usage != nil {
		r := reader{Decoder: &d}
		r.count(m.usage.tokens(nil))
	}
	d.Finish(finishReason(m.stop), m.stop)
	d.Done()
	return d.Events, nil
}
