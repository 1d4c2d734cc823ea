// Command parrot is a provider plugin to begin with: docs/adding-a-provider.md
// walks through it. It speaks the protocol of the small server beside it:
//
//	POST /talk  {"model":"grey","stream":true,"turns":[{"from":"user","says":"hi"}]}
//
// A stream is one JSON object a line: {"piece":"…"} for each piece of the
// answer, then {"over":true}. An answer in one piece is {"whole":"…"}. An error
// is a status of 400 or more with {"trouble":"…"}.
package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
)

type parrot struct{}

func init() { provider.Register(parrot{}) }

func main() {}

// Messages renders each message by itself, as the protocol writes it.
func (parrot) Messages(in abi.ChatMessages) ([]string, error) {
	fragments := make([]string, len(in.Messages))
	for i, m := range in.Messages {
		var says string
		for _, p := range m.Parts {
			says += words(p)
		}
		b := jsonscan.AppendString([]byte(`{"from":`), m.Role)
		b = jsonscan.AppendString(append(b, `,"says":`...), says)
		fragments[i] = string(append(b, '}'))
	}
	return fragments, nil
}

// words is what the parrot hears of a part: the protocol has no tools.
func words(p abi.Part) string {
	switch p.Type {
	case abi.PartToolCall:
		return "(calls " + p.Name + " with " + p.Arguments + ")"
	case abi.PartReasoning, abi.PartProviderTool:
		return ""
	case abi.PartImage, abi.PartFile:
		return "(shows " + p.Name + ")"
	case abi.PartText, abi.PartToolResult:
	}
	return p.Text
}

// Request says what to send. The host puts the messages and the key in.
func (parrot) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	b := jsonscan.AppendString([]byte(`{"model":`), r.Model)
	if r.Stream {
		b = append(b, `,"stream":true`...)
	}
	b = append(b, `,"turns":["{{messages}}"]}`...)
	return abi.HTTPRequest{
		URL: r.BaseURL + "/talk",
		Headers: []abi.Header{
			{Name: "Content-Type", Value: "application/json"},
			{Name: "Authorization", Value: "Bearer {{secret:api_key}}"},
		},
		Body: string(b),
	}, nil
}

// Frame reads one line of a stream.
func (parrot) Frame(d *provider.Decoder, data []byte, _ string) error {
	a := read(data)
	switch {
	case a.err != nil:
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "the line is not JSON"})
	case a.trouble != "":
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: a.trouble})
	}
	d.Text(a.text)
	if a.over {
		d.Finish(abi.FinishStop, "over")
		d.Done()
	}
	return nil
}

// Response reads an answer in one piece, as the events of a stream.
func (p parrot) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	a := read([]byte(r.Body))
	if a.text == "" {
		f := p.Error(r)
		return []abi.Event{{Type: abi.EventFailure, Failure: &f}}, nil
	}
	return []abi.Event{
		{Type: abi.EventText, Text: a.text},
		{Type: abi.EventFinish, Reason: abi.FinishStop, Raw: "whole"},
		{Type: abi.EventDone},
	}, nil
}

// Error says what kind of failure a response is, by its status.
func (parrot) Error(r abi.HTTPResponse) abi.Failure {
	f := abi.Failure{Class: failure.ByStatus(r.Status), Status: r.Status, Message: "the parrot gives no reason"}
	switch {
	case r.Status == 404: // nothing but the model can be missing here
		f.Class = abi.FailureModelNotFound
	case f.Class == "": // no status of an error
		f.Class = abi.FailureUnknown
	}
	if a := read([]byte(r.Body)); a.err == nil && a.trouble != "" {
		f.Message = a.trouble
	}
	return f
}

// answer is any of the protocol's objects.
type answer struct {
	text, trouble string
	over          bool
	err           error
}

func read(data []byte) (a answer) {
	s := jsonscan.New(data)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "piece", "whole":
			a.text = s.String()
		case "trouble":
			a.trouble = s.String()
		case "over":
			a.over = s.Bool()
		}
	}
	if err := s.End(); err != nil {
		return answer{err: err}
	}
	return a
}
