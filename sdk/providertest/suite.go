// Package providertest checks that a provider plugin does what the host relies
// on. The same suite runs against the native type and the compiled module:
//
//	func TestConformance(t *testing.T) {
//		providertest.Run(t, provider.Native(plugin{}), providertest.Suite{
//			Streams: []providertest.Stream{{Name: "plain", Frames: …, Want: …}},
//		})
//	}
//
// It checks the plugin's answers to inputs of its own and to the recorded ones
// of the Suite: that they are valid by docs/abi.md, that the same input gives
// the same output whatever was called before, that the events of a stream do not
// depend on how its frames are spread over calls, and that junk from a server is
// that server's failure and not the plugin's.
package providertest

import (
	"bytes"
	"context"
	"testing"

	"github.com/zchost/zchost/abi"
)

// Caller calls the exports of a plugin: a *provider.Plugin, or a compiled one in
// the host.
type Caller interface {
	Call(ctx context.Context, export string, in []byte) ([]byte, error)
}

// Suite is what the checks need to know about a protocol. All fields may be
// left out; more of them check more.
type Suite struct {
	// Model is the model that requests name; default "test-model".
	Model string
	// Options is the endpoint's options table.
	Options abi.Raw
	// Scripted says that the plugin answers by itself, with scripts: what is
	// true only of real providers is not checked.
	Scripted bool
	// Images says that the protocol has a place for images in what a person
	// says.
	Images bool
	// Streams are recorded streams.
	Streams []Stream
	// Answers are recorded answers in one piece.
	Answers []Answer
	// Errors are recorded error responses.
	Errors []Error
	// ListsModels says that the plugin has models_request and
	// models_response, as lists_models in its manifest does.
	ListsModels bool
	// ModelLists are recorded lists of models.
	ModelLists []ModelList
}

// Stream is a recorded stream.
type Stream struct {
	// Name is the name of the test.
	Name string
	// Frames are what the host cuts the stream into.
	Frames []Frame
	// Want are the events; nil if only the general rules are checked.
	Want []abi.Event
}

// Frame is one frame of a stream.
type Frame struct {
	// Name is the name of the event, "" if it has none.
	Name string
	// Data is the frame's data.
	Data string
}

// Answer is a recorded answer without streaming.
type Answer struct {
	// Name is the name of the test.
	Name string
	// Response is the answer; status 0 stands for 200.
	Response abi.HTTPResponse
	// Want are the events; nil if only the general rules are checked.
	Want []abi.Event
}

// Error is a recorded error response.
type Error struct {
	// Name is the name of the test.
	Name string
	// Response is the response.
	Response abi.HTTPResponse
	// Want is the class of the failure.
	Want abi.FailureClass
}

// ModelList is a recorded list of models.
type ModelList struct {
	// Name is the name of the test.
	Name string
	// Response is the answer; status 0 stands for 200.
	Response abi.HTTPResponse
	// Want are the ids of the models.
	Want []string
}

// Run runs the suite.
func Run(t *testing.T, c Caller, s Suite) {
	t.Helper()
	if s.Model == "" {
		s.Model = "test-model"
	}
	r := runner{c, s}
	t.Run("messages", r.messages)
	t.Run("request", r.request)
	t.Run("streams", r.streams)
	t.Run("junk frames", r.junkFrames)
	t.Run("answers", r.answers)
	t.Run("errors", r.errors)
	t.Run("models", r.models)
}

type runner struct {
	caller Caller
	suite  Suite
}

// document is an abi document.
type document interface {
	AppendJSON(dst []byte) []byte
	DecodeJSON(data []byte) error
}

// try calls an export. A panic, which a compiled plugin turns into an error, is
// a failure of the test.
func (r runner) try(t *testing.T, export string, in []byte) ([]byte, error) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("%s panics: %v\ninput: %s", export, p, short(in))
		}
	}()
	return r.caller.Call(t.Context(), export, in)
}

// call calls an export that has to succeed, twice: the output depends on the
// input alone.
func (r runner) call(t *testing.T, export string, in []byte) []byte {
	t.Helper()
	out, err := r.try(t, export, in)
	if err != nil {
		t.Fatalf("%s: %v\ninput: %s", export, err, short(in))
	}
	out = bytes.Clone(out)
	again, err := r.try(t, export, in)
	if err != nil || !bytes.Equal(out, again) {
		t.Errorf("%s is not pure: first\n%s\nand then\n%s (%v)", export, short(out), short(again), err)
	}
	return out
}

// ask calls an export that takes and returns a document. Fields that the plugin
// does not know change nothing.
func (r runner) ask(t *testing.T, export string, in, out document) {
	t.Helper()
	data := in.AppendJSON(nil)
	answer := r.call(t, export, data)
	if err := out.DecodeJSON(answer); err != nil {
		t.Fatalf("%s returns %s: %v", export, short(answer), err)
	}
	if len(data) == len("{}") {
		return
	}
	more := append([]byte(`{"a_later_field":{"of":["any",1,null]},`), data[1:]...)
	if with, err := r.try(t, export, more); err != nil || !bytes.Equal(with, answer) {
		t.Errorf("%s does not ignore an unknown field: %s, %v", export, short(with), err)
	}
}

// short bounds what a message shows.
func short(b []byte) string {
	const most = 500
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
