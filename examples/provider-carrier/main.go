// Command carrier is a provider plugin for a protocol with tools, pictures,
// thoughts and failures inside a stream. It is made up, and the server beside it
// speaks it:
//
//	POST /fly  {"bird":"pigeon","flock":true,"loft":"…","seeds":99,"errands":[…],"letters":[…]}
//
// A stream is one JSON object a line: {"thinks":"…"}, {"feather":"…"},
// {"errand":{"no":"…","title":"…","form":{…}}}, {"weight":{"took":1,"gave":2}},
// and at the end {"landed":"home"}. An answer in one piece has "feathers",
// "errands", "weight" and "landed". An error, also within a stream, is
// {"crash":{"why":"…","sort":"…"}}.
package main

import (
	"strconv"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
)

type carrier struct{}

func init() { provider.Register(carrier{}) }

func main() {}

// Messages gives the letters of each message: see letters.go.
func (carrier) Messages(in abi.ChatMessages) ([]string, error) {
	fragments := make([]string, len(in.Messages))
	for i, m := range in.Messages {
		fragments[i] = letters(m)
	}
	return fragments, nil
}

// Request says what to send. The protocol has no place for the temperature, for
// texts to stop at, and for a choice of tool other than "none".
func (carrier) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	b := jsonscan.AppendString([]byte(`{"bird":`), r.Model)
	if r.System != "" {
		b = jsonscan.AppendString(append(b, `,"loft":`...), r.System)
	}
	if r.MaxTokens > 0 {
		b = strconv.AppendInt(append(b, `,"seeds":`...), r.MaxTokens, 10)
	}
	if len(r.Tools) > 0 && r.ToolChoice != "none" {
		b = appendErrands(append(b, `,"errands":`...), r.Tools)
	}
	b = strconv.AppendBool(append(b, `,"flock":`...), r.Stream)
	b = append(b, `,"letters":["{{messages}}"]}`...)
	return abi.HTTPRequest{
		URL: r.BaseURL + "/fly",
		Headers: []abi.Header{
			{Name: "Content-Type", Value: "application/json"},
			{Name: "Ring", Value: "{{secret:api_key}}"},
		},
		Body: string(b),
	}, nil
}

// appendErrands appends the tools that may be called.
func appendErrands(b []byte, tools []abi.Tool) []byte {
	for i, t := range tools {
		b = append(b, "[,"[min(i, 1)])
		b = jsonscan.AppendString(append(b, `{"title":`...), t.Name)
		b = jsonscan.AppendString(append(b, `,"about":`...), t.Description)
		b = append(append(append(b, `,"form":`...), t.InputSchema...), '}')
	}
	return append(b, ']')
}

// Frame reads one line of a stream.
func (carrier) Frame(d *provider.Decoder, data []byte, _ string) error {
	a := read(data)
	switch {
	case a.err != nil:
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "the line is not what it should be"})
	case a.crashed:
		d.Fail(a.crash)
	default:
		a.emit(d)
	}
	return nil
}

// Response reads an answer in one piece. One that has not landed is none.
func (carrier) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var d provider.Decoder
	a := read([]byte(r.Body))
	switch {
	case a.err == nil && a.crashed:
		d.Fail(a.crash)
	case a.err != nil || a.landed == "":
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: "the response is no answer"})
	default:
		a.emit(&d)
	}
	return d.Events, nil
}

// Error goes by the sort of the crash, else by the status.
func (carrier) Error(r abi.HTTPResponse) abi.Failure {
	f := abi.Failure{Class: abi.FailureUnknown, Message: "the server answered " + strconv.FormatInt(r.Status, 10)}
	if a := read([]byte(r.Body)); a.err == nil && a.crashed {
		f = a.crash
	}
	if f.Class == abi.FailureUnknown {
		f.Class = failure.ByStatus(r.Status)
	}
	if f.Class == "" { // no status of an error
		f.Class = abi.FailureServer
	}
	f.Status = r.Status
	return f
}

func bySort(sort string) abi.FailureClass {
	switch sort {
	case "storm":
		return abi.FailureOverloaded
	case "tired":
		return abi.FailureRateLimited
	case "unknown_bird":
		return abi.FailureModelNotFound
	case "letter_too_long":
		return abi.FailureContextOverflow
	}
	return abi.FailureUnknown
}

func finish(landed string) abi.FinishReason {
	switch landed {
	case "home":
		return abi.FinishStop
	case "short_of_seeds":
		return abi.FinishLength
	case "refuses":
		return abi.FinishRefusal
	case "errands":
		return abi.FinishToolCalls
	}
	return abi.FinishUnknown
}
