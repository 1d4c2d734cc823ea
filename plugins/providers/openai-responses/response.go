package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/provider/failure"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// response is a response: of an event, or the body of a whole answer.
type response struct {
	id, model, status string
	items             [][]byte
	output            bool   // there is a list of items
	reason            string // incomplete_details.reason
	failed            bool   // there is an error
	usage             *abi.Usage
}

func readResponse(data []byte) response {
	var p response
	s := jsonscan.New(data)
	if s.Kind() != jsonscan.Object {
		return p
	}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "id":
			p.id = lenient.String(&s)
		case "model":
			p.model = lenient.String(&s)
		case "status":
			p.status = lenient.String(&s)
		case "error":
			p.failed = lenient.Told(&s)
		case "usage":
			p.usage = readUsage(&s)
		case "incomplete_details":
			p.incomplete(&s)
		case "output":
			p.readOutput(&s)
		}
	}
	if s.End() != nil {
		return response{}
	}
	return p
}

func (p *response) incomplete(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Object {
		return
	}
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return
		}
		if string(key) == "reason" {
			p.reason = lenient.String(s)
		}
	}
}

func (p *response) readOutput(s *jsonscan.Scanner) {
	if s.Kind() != jsonscan.Array {
		return
	}
	p.output = true
	for s.Array(); s.Elem(); {
		p.items = append(p.items, lenient.Object(s)) // nil keeps the places of the others
	}
}

// end reads the terminal event, whose response has all the items once more. The
// status in the response knows better than the type of the event.
func (r *reader) end(typ string, data []byte) {
	p := readResponse(data)
	r.meta(p)
	n := len(r.load())
	for i, raw := range p.items {
		if o := readItemOf(raw); o.typ != "" {
			r.complete(r.findAgain(int64(i), hash(o.id), hash(o.callID), n), int64(i), &o)
		}
	}
	if p.usage != nil {
		r.Usage(*p.usage)
	}
	status := p.status
	if status == "" || status == "in_progress" || status == "queued" {
		status = terminalStatus(typ)
	}
	failed := status == "failed" || status == "cancelled" || status == "" || p.failed
	if !failed || status == "incomplete" {
		r.close()
	}
	switch {
	case status == "incomplete":
		r.Finish(incompleteReason(p.reason), or(p.reason, status))
	case failed:
		r.Fail(responseError(data, or(status, "not complete")))
		return
	case r.calls > 0:
		r.Finish(abi.FinishToolCalls, status)
	case r.refused:
		r.Finish(abi.FinishRefusal, status)
	default:
		r.Finish(abi.FinishStop, status)
	}
	r.Done()
}

// terminalStatus is the status that a terminal event stands for.
func terminalStatus(typ string) string {
	switch typ {
	case "response.completed", "response.done":
		return "completed"
	case "response.incomplete":
		return "incomplete"
	case "response.failed":
		return "failed"
	case "response.cancelled":
		return "cancelled"
	}
	return ""
}

// incompleteReason translates incomplete_details.reason. Another reason than
// those that are documented still means that the answer is not whole.
func incompleteReason(raw string) abi.FinishReason {
	if raw == "content_filter" {
		return abi.FinishContentFilter
	}
	return abi.FinishLength
}

// responseError reads the error of a response that failed.
func responseError(data []byte, status string) abi.Failure {
	var raw []byte
	s := jsonscan.New(data)
	if s.Kind() == jsonscan.Object {
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			if string(key) == "error" {
				raw = s.Raw()
			}
		}
	}
	our := dialect()
	e, ok := our.Read(raw)
	f := our.Failure(&e, 0)
	if !ok || f.Message == "" {
		f.Message = "the provider ended the response with the status " + failure.Quote(status)
	}
	return f
}

// Response reads a whole answer.
func (p responses) Response(r abi.HTTPResponse) ([]abi.Event, error) {
	var d provider.Decoder
	body := []byte(r.Body)
	whole := readResponse(body)
	if !whole.output && (whole.status == "" || !whole.failed) {
		d.Fail(p.Error(r))
		return d.Events, nil
	}
	answer := reader{Decoder: &d, state: readState("")}
	typ := ""
	if whole.status == "" && !whole.failed {
		typ = "response.completed" // a gateway that leaves the status out
	}
	answer.end(typ, body)
	return d.Events, nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
