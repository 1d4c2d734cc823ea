package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/reliability"
)

// stream is an answer that is arriving. It implements reliability.Stream.
type stream struct {
	endpoint *Endpoint
	ctx      context.Context //nolint:containedctx // a stream lives as long as its request
	resp     *egress.Response
	frames   *egress.Frames
	state    string
	seen     bool        // at least one frame has come
	finished bool        // and a finish reason
	events   []abi.Event // of an answer in one piece, not yet given
	in       []byte      // the last input of chat_events, used again
}

// Head tells the status and the vendor's id of the request.
func (s *stream) Head() reliability.Head {
	return reliability.Head{Status: s.resp.Status, RequestID: requestID(s.resp)}
}

// Close closes the connection.
func (s *stream) Close() error { return s.resp.Close() }

// Next waits for frames and returns the events that they hold.
func (s *stream) Next() ([]abi.Event, error) {
	if s.frames == nil {
		events := s.events
		s.events = nil
		if events == nil {
			return nil, io.EOF
		}
		return events, nil
	}
	frames, err := s.frames.Next()
	switch {
	case errors.Is(err, egress.ErrNotStream):
		return s.notStream()
	case len(frames) == 0 && err == io.EOF && s.finished && s.endpoint.EndCompletes: //nolint:errorlint // see end
		return []abi.Event{{Type: abi.EventDone}}, nil
	case len(frames) == 0:
		return nil, s.end(err)
	}
	s.seen = true
	events, err := s.decode(frames)
	if err != nil {
		return events, failure(s.ctx, err)
	}
	s.note(events)
	return events, nil
}

// notStream reads a body that is one document where a stream was asked for
// (STR-4): an answer counts, anything else is a failure.
func (s *stream) notStream() ([]abi.Event, error) {
	s.frames = nil
	if err := s.whole(); err != nil {
		return nil, failure(s.ctx, err)
	}
	return s.Next()
}

// end says what the end of the body means.
func (s *stream) end(err error) error {
	if err == io.EOF { //nolint:errorlint // Frames returns io.EOF itself, like an io.Reader
		switch {
		case s.seen:
			return io.EOF
		case s.frames.Empty():
			return &abi.Failure{Class: abi.FailureTruncated, Status: int64(s.resp.Status), Message: "the body of the answer was empty"}
		}
		return &abi.Failure{Class: abi.FailureTruncated, Status: int64(s.resp.Status), Message: "the answer ended before its first frame was whole"}
	}
	return failure(s.ctx, err)
}

// note tells the clocks what has come.
func (s *stream) note(events []abi.Event) {
	if len(events) > 0 {
		s.frames.Progress()
	}
	for i := range events {
		if events[i].Type == abi.EventFinish {
			s.frames.Finished()
			s.finished = true
		}
	}
}

// decode gives the frames to the plugin, all in one call.
func (s *stream) decode(frames []egress.Frame) ([]abi.Event, error) {
	h := abi.EventsHeader{State: s.state}
	for i := range frames {
		if frames[i].Name != "" {
			h.Names = names(frames)
			break
		}
	}
	s.in = abi.AppendRecord(s.in[:0], h.AppendJSON(nil))
	for i := range frames {
		s.in = abi.AppendRecord(s.in, frames[i].Data)
	}
	out, err := s.endpoint.Plugin.Call(s.ctx, abi.ExportChatEvents, s.in)
	if err != nil {
		return nil, err
	}
	return s.parse(out)
}

func names(frames []egress.Frame) []string {
	out := make([]string, len(frames))
	for i := range frames {
		out[i] = frames[i].Name
	}
	return out
}

// parse reads the sequence that chat_events returned.
func (s *stream) parse(seq []byte) ([]abi.Event, error) {
	text, seq, ok, err := abi.NextRecord(seq)
	var h abi.EventsHeader
	if err == nil && ok {
		err = h.DecodeJSON(text)
	}
	if err != nil || !ok {
		return nil, s.junk("the first record is no header")
	}
	if len(h.State) > abi.MaxState {
		return nil, s.junk("a state of %d bytes, more than %d", len(h.State), abi.MaxState)
	}
	s.state = h.State
	var events []abi.Event
	for {
		text, seq, ok, err = abi.NextRecord(seq)
		if err != nil {
			return events, s.junk("decode output: %w", err)
		}
		if !ok {
			s.redact(events)
			return events, nil
		}
		events = append(events, abi.Event{})
		if err := events[len(events)-1].DecodeJSON(text); err != nil {
			return events[:len(events)-1], s.junk("decode output: %w", err)
		}
	}
}

func (s *stream) junk(format string, args ...any) error {
	return s.endpoint.junk(s.ctx, abi.ExportChatEvents, format, args...)
}

// rejected returns the failure of a response that is no answer, in the
// plugin's words.
func (s *stream) rejected() error {
	doc, err := s.document()
	if err != nil {
		if s.ctx.Err() != nil {
			return err
		}
		doc.Body = "" // half of it tells nothing; the status does
	}
	return s.explain(doc)
}

// whole decodes an answer in one piece.
func (s *stream) whole() error {
	doc, err := s.document()
	if err != nil {
		return err
	}
	if doc.Body == "" {
		return &abi.Failure{Class: abi.FailureTruncated, Status: doc.Status, Message: "the body of the answer was empty"}
	}
	var got abi.ChatEvents
	out, err := s.endpoint.Plugin.Call(s.ctx, abi.ExportChatResponse, doc.AppendJSON(nil))
	if err == nil {
		err = got.DecodeJSON(out)
	}
	if err != nil || !conclusive(got.Events) {
		return s.explain(doc)
	}
	s.redact(got.Events)
	s.events = got.Events
	return nil
}

// redact takes secrets out of events. Frames and bodies are redacted before the
// plugin sees them; this is for what was spelled with JSON's escapes.
func (s *stream) redact(events []abi.Event) {
	r := s.endpoint.Redactor
	for i := range events {
		e := &events[i]
		for _, text := range []*string{&e.ID, &e.Model, &e.Text, &e.Signature, &e.Opaque, &e.Name, &e.Arguments, &e.Raw} {
			*text = r.String(*text)
		}
		if e.Failure != nil {
			e.Failure.Message, e.Failure.Code = r.String(e.Failure.Message), r.String(e.Failure.Code)
		}
	}
}

// conclusive reports whether events say how the answer ended.
func conclusive(events []abi.Event) bool {
	for i := range events {
		switch events[i].Type {
		case abi.EventFinish, abi.EventDone, abi.EventFailure:
			return true
		case abi.EventMeta, abi.EventText, abi.EventReasoning, abi.EventToolCall, abi.EventProviderTool, abi.EventUsage:
		}
	}
	return false
}

// explain asks the plugin what a response means that is no answer.
func (s *stream) explain(doc abi.HTTPResponse) error {
	f := &abi.Failure{}
	out, err := s.endpoint.Plugin.Call(s.ctx, abi.ExportChatError, doc.AppendJSON(nil))
	if err == nil {
		err = f.DecodeJSON(out)
	}
	if err != nil || f.Class == "" {
		f = &abi.Failure{Class: statusClass(s.resp.Status), Message: fmt.Sprintf("status %d, and the plugin could not read why", s.resp.Status)}
	}
	f.Status = doc.Status
	f.Message, f.Code = s.endpoint.Redactor.String(f.Message), s.endpoint.Redactor.String(f.Code)
	retryAfter(f, s.resp.Headers)
	return f
}

// document reads the whole response.
func (s *stream) document() (abi.HTTPResponse, error) {
	body, err := s.resp.Body(maxDocument)
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")) // RFC 8259, section 8.1
	return abi.HTTPResponse{Status: int64(s.resp.Status), Headers: s.resp.Headers, Body: string(body), URL: s.resp.URL}, err
}
