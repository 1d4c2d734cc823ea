package main

import (
	"errors"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

const defaultDelay = 15 // milliseconds between pieces: as fast as a model

// readDelay reads the option delay_ms.
func readDelay(options abi.Raw) (int64, error) {
	delay := int64(defaultDelay)
	if len(options) == 0 {
		return delay, nil
	}
	s := jsonscan.New(options)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == "delay_ms" {
			delay = s.Int()
		}
	}
	if err := s.End(); err != nil {
		return 0, errors.New("read options: " + err.Error())
	}
	if delay < 0 {
		return 0, errors.New("option delay_ms is negative")
	}
	return delay, nil
}

// script writes the scene as the response of a server.
func (s *scene) script(stream bool) *abi.Script {
	switch {
	case s.failure != nil:
		return &abi.Script{
			Status:  s.failure.Status,
			Headers: contentType("application/json"),
			Pieces:  []abi.Piece{{DelayMS: s.delay, Data: string(s.failure.AppendJSON(nil))}},
		}
	case stream:
		return &abi.Script{Headers: contentType("text/event-stream"), Pieces: s.pieces(), End: s.end}
	}
	return &abi.Script{Headers: contentType("application/json"), Pieces: s.whole(), End: s.end}
}

func contentType(value string) []abi.Header {
	return []abi.Header{{Name: "content-type", Value: value}}
}

// pieces are the frames of a stream.
func (s *scene) pieces() []abi.Piece {
	var f framer
	for _, e := range s.events() {
		delay := s.delay
		if e.Type == abi.EventText {
			delay = s.pauseBefore()
		}
		f.begin(delay)
		f.frame = e.AppendJSON(append(f.frame, "data: "...))
		f.frame = append(f.frame, "\n\n"...)
	}
	if s.complete() {
		f.begin(s.delay)
		f.frame = append(f.frame, "data: "+doneFrame+"\n\n"...)
	}
	f.flush()
	return f.pieces
}

// framer collects frames. Those without a delay between them are one piece.
type framer struct {
	pieces []abi.Piece
	frame  []byte
	delay  int64
}

func (f *framer) begin(delay int64) {
	if delay > 0 {
		f.flush()
		f.delay = delay
	}
}

func (f *framer) flush() {
	if len(f.frame) > 0 {
		f.pieces = append(f.pieces, abi.Piece{DelayMS: f.delay, Data: string(f.frame)})
	}
	f.frame, f.delay = f.frame[:0], 0
}

// pauseBefore is the delay before a piece of text.
func (s *scene) pauseBefore() int64 {
	switch {
	case s.pause > 0:
		return s.pause
	case s.fast:
		return min(s.delay, 1)
	}
	return s.delay
}

// whole is the answer in one piece.
func (s *scene) whole() []abi.Piece {
	all := abi.ChatEvents{Events: s.events()}
	if s.complete() {
		all.Events = append(all.Events, abi.Event{Type: abi.EventDone})
	}
	body := string(all.AppendJSON(nil))
	if !s.complete() {
		body = body[:len(body)/2]
	}
	return []abi.Piece{{DelayMS: s.delay, Data: body}}
}

func (s *scene) complete() bool { return s.end == "" || s.end == abi.ScriptEndClean }

// events are what a client is told, without the last signal.
func (s *scene) events() []abi.Event {
	events := make([]abi.Event, 0, 4+len(s.reasoning)+len(s.text))
	if s.complete() || len(s.text) > 0 {
		events = append(events, abi.Event{Type: abi.EventMeta, ID: "demo", Model: s.model})
	}
	for _, piece := range s.reasoning {
		events = append(events, abi.Event{Type: abi.EventReasoning, Text: piece})
	}
	for _, piece := range s.text {
		events = append(events, abi.Event{Type: abi.EventText, Text: piece})
	}
	if s.call != nil {
		events = append(events, *s.call)
	}
	if s.complete() {
		events = append(events,
			abi.Event{Type: abi.EventUsage, Usage: s.usage()},
			abi.Event{Type: abi.EventFinish, Reason: s.finish, Raw: string(s.finish)})
	}
	return events
}

// usage counts words: they are the demo's tokens.
func (s *scene) usage() *abi.Usage {
	u := abi.Usage{Input: &s.input, Output: new(int64)}
	*u.Output = int64(len(s.text) + len(s.reasoning))
	if len(s.reasoning) > 0 {
		thought := int64(len(s.reasoning))
		u.Reasoning = &thought
	}
	return &u
}
