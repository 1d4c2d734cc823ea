package protocols

import (
	"encoding/json"
	"net/http"
	"strings"
)

// wire is a vendor's protocol, from the server's side.
type wire interface {
	// plugin is the name of the plugin that speaks it.
	plugin() string
	// suffix is the path that the base_url ends with, as in the vendor's own
	// SDK.
	suffix() string
	// streamed is a reply as a stream.
	streamed(r reply) frames
	// whole is a reply in one piece.
	whole(r reply) string
	// problem is an answer that is an error.
	problem(p problem) script
	// broken is an error in the middle of a stream, as its next frame.
	broken(p problem) string
	// idle is what the server sends while there is nothing to say.
	idle() string
	// foreign is a frame of a kind that no client knows.
	foreign() string
	// huge is a frame whose text has n bytes, in one line or, where a frame can
	// have several, in many.
	huge(n int, lines bool) string
	// read is what the request asks for.
	read(r *http.Request, body []byte) request
}

// wires are all protocols.
func wires() []wire { return []wire{chat{}, responses{}, anthropic{}, gemini{}, ollama{}} }

// kind is what a piece of a reply is.
type kind int

const (
	text kind = iota
	thinking
	call
	// secret is reasoning that only the vendor can read.
	secret
	// server is a tool that the vendor has executed itself.
	server
)

// piece is one part of a reply.
type piece struct {
	kind kind
	// text is its text; a bar separates the deltas in which it streams.
	text string
	// signature is the vendor's, which has to come back with the piece.
	signature string
	// id, name and args are those of a call.
	id, name, args string
}

// deltas returns the text as it streams.
func (p piece) deltas() []string { return strings.Split(p.text, "|") }

// joined returns the text.
func (p piece) joined() string { return strings.ReplaceAll(p.text, "|", "") }

// finish is why a reply ends.
type finish int

const (
	stop finish = iota
	calls
	length
	filter
	refusal
	odd // a reason that no client knows
)

// reply is an answer of the model.
type reply struct {
	pieces  []piece
	finish  finish
	in, out int // tokens
}

// say is a reply of two deltas of text.
func say(s string) reply { return reply{pieces: []piece{{text: s}}, in: 7, out: 3} }

// frames is a streamed reply, divided where faults strike.
type frames struct {
	head   string   // before anything that a person sees
	body   []string // each shows something
	finish string   // the finish reason; "" if it comes with the signal
	signal string   // the completion signal; "" if it is the clean end
}

// all is the whole stream.
func (f frames) all() string { return f.head + strings.Join(f.body, "") + f.finish + f.signal }

// problem is what an error is about.
type problem int

const (
	overloaded problem = iota
	internal
	limited    // too many requests, no time named
	limitedFor // the same, wait one second
	limitedDay // the same, wait a day
	unauthorized
	overflow // the prompt does not fit
	noModel
	badField
)

// request is what a server got.
type request struct {
	stream bool
	model  string
	key    string
	body   string
}

// jsonScript is a response with a JSON body.
func jsonScript(status int, body string) script {
	return script{status: status, headers: map[string]string{"Content-Type": "application/json"}, pieces: []string{body}}
}

// with adds a header.
func (s script) with(name, value string) script {
	headers := map[string]string{name: value}
	for n, v := range s.headers {
		headers[n] = v
	}
	s.headers = headers
	return s
}

// quote is s as JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// object returns s, or {} if it is empty.
func object(s string) string {
	if s == "" {
		return "{}"
	}
	return s
}

// decode reads a request's body, of which only some fields matter.
func decode(body []byte) (in struct {
	Model  string
	Stream *bool
},
) {
	_ = json.Unmarshal(body, &in) // what is no JSON asks for nothing
	return in
}
