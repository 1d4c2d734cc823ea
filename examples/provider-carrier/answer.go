package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider"
)

// answer is what a line of a stream, a whole answer or an error says; each of
// them has some of it.
type answer struct {
	feathers []string
	thinks   string
	errands  []errand
	weight   *abi.Usage
	crashed  bool
	crash    abi.Failure
	landed   string
	err      error
}

type errand struct {
	no, title, form string
}

// emit gives the events in the order in which they happen.
func (a *answer) emit(d *provider.Decoder) {
	d.Reasoning(a.thinks)
	for _, f := range a.feathers {
		d.Text(f)
	}
	for _, e := range a.errands {
		d.ToolCall(nil, e.no, e.title, e.form)
	}
	if a.weight != nil {
		d.Usage(*a.weight)
	}
	if a.landed != "" {
		d.Finish(finish(a.landed), a.landed)
		d.Done()
	}
}

// read takes a JSON object apart. What it does not know it skips.
func read(data []byte) answer {
	var a answer
	s := jsonscan.New(data)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if s.Null() {
			continue
		}
		switch string(key) {
		case "feather":
			a.feathers = append(a.feathers, s.String())
		case "feathers":
			for s.Array(); s.Elem(); {
				a.feathers = append(a.feathers, s.String())
			}
		case "thinks":
			a.thinks = s.String()
		case "errand":
			a.errands = append(a.errands, readErrand(&s))
		case "errands":
			for s.Array(); s.Elem(); {
				a.errands = append(a.errands, readErrand(&s))
			}
		case "weight":
			a.weight = readWeight(&s)
		case "crash":
			a.crashed, a.crash = true, readCrash(&s)
		case "landed":
			a.landed = s.String()
		}
	}
	a.err = s.End()
	return a
}

func readErrand(s *jsonscan.Scanner) errand {
	e := errand{form: "{}"}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if s.Null() {
			continue
		}
		switch string(key) {
		case "no":
			e.no = s.String()
		case "title":
			e.title = s.String()
		case "form":
			e.form = string(s.Raw())
		}
	}
	return e
}

func readWeight(s *jsonscan.Scanner) *abi.Usage {
	var u abi.Usage
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if s.Null() {
			continue
		}
		switch string(key) {
		case "took":
			n := s.Int()
			u.Input = &n
		case "gave":
			n := s.Int()
			u.Output = &n
		}
	}
	return &u
}

func readCrash(s *jsonscan.Scanner) abi.Failure {
	f := abi.Failure{Class: abi.FailureUnknown}
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if s.Null() {
			continue
		}
		switch string(key) {
		case "why":
			f.Message = s.String()
		case "sort":
			f.Code = s.String()
			f.Class = bySort(f.Code)
		}
	}
	if f.Message == "" {
		f.Message = "the bird crashed"
	}
	return f
}
