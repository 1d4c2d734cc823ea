package provider_test

import (
	"errors"
	"fmt"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
)

// parrot speaks a small protocol. A request is {"model":…,"turns":[…]}, and a
// turn is {"from":…,"says":…}. A stream is {"piece":…} for each piece and
// {"over":true} at the end; an answer without streaming is {"whole":…}; an
// error is {"trouble":…}.
type parrot struct{}

func init() { provider.Register(parrot{}) }

func (parrot) Messages(in abi.ChatMessages) ([]string, error) {
	var fragments []string
	for _, m := range in.Messages {
		says := ""
		for _, p := range m.Parts {
			says += p.Text
		}
		b := jsonscan.AppendString([]byte(`{"from":`), m.Role)
		b = jsonscan.AppendString(append(b, `,"says":`...), says)
		fragments = append(fragments, string(b)+"}")
	}
	return fragments, nil
}

func (parrot) Request(r abi.ChatRequest) (abi.HTTPRequest, error) {
	b := jsonscan.AppendString([]byte(`{"model":`), r.Model)
	if r.Stream {
		b = append(b, `,"stream":true`...)
	}
	return abi.HTTPRequest{
		URL: r.BaseURL + "/talk",
		Headers: []abi.Header{
			{Name: "Content-Type", Value: "application/json"},
			{Name: "Authorization", Value: "Bearer {{secret:api_key}}"},
		},
		Body: string(b) + `,"turns":["{{messages}}"]}`,
	}, nil
}

func (parrot) Frame(d *provider.Decoder, data []byte, _ string) error {
	a, err := readAnswer(data)
	switch {
	case err != nil:
		d.Fail(abi.Failure{Class: abi.FailureServer, Message: err.Error()})
	case a.trouble != "":
		d.Fail(abi.Failure{Class: abi.FailureUnknown, Message: a.trouble})
	}
	d.Text(a.text)
	if a.over {
		d.Finish(abi.FinishStop, "over")
		d.Done()
	}
	return nil
}

func (p parrot) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	a, _ := readAnswer([]byte(r.Body)) // what cannot be read has no text
	if a.text == "" {
		f := p.Error(r)
		return []abi.Event{{Type: abi.EventFailure, Failure: &f}}, nil
	}
	return []abi.Event{
		{Type: abi.EventText, Text: a.text},
		{Type: abi.EventFinish, Reason: abi.FinishStop},
		{Type: abi.EventDone},
	}, nil
}

func (parrot) Error(r abi.HTTPResponse) abi.Failure {
	f := abi.Failure{Class: abi.FailureUnknown, Status: r.Status, Message: "the parrot is silent"}
	switch {
	case r.Status == 401:
		f.Class = abi.FailureAuth
	case r.Status == 429:
		f.Class = abi.FailureRateLimited
	case r.Status >= 500:
		f.Class = abi.FailureServer
	}
	if a, err := readAnswer([]byte(r.Body)); err == nil && a.trouble != "" {
		f.Message = a.trouble
	}
	return f
}

type parrotAnswer struct {
	text, trouble string
	over          bool
}

func readAnswer(data []byte) (parrotAnswer, error) {
	var a parrotAnswer
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
		return parrotAnswer{}, errors.New("the parrot does not speak JSON: " + err.Error())
	}
	return a, nil
}

// A whole plugin. In a plugin of your own the package is main, with an empty
// main function.
func Example() {
	var d provider.Decoder
	for _, frame := range []string{`{"piece":"Pretty "}`, `{"piece":"Polly"}`, `{"over":true}`} {
		if err := (parrot{}).Frame(&d, []byte(frame), ""); err != nil {
			fmt.Println(err)
		}
	}
	for _, e := range d.Events {
		fmt.Printf("%s %q\n", e.Type, e.Text)
	}
	// Output:
	// text "Pretty "
	// text "Polly"
	// finish ""
	// done ""
}
