package main

import (
	"errors"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// ModelsRequest asks for the list of models, of which a page has up to 1,000.
func (messages) ModelsRequest(q abi.ModelsQuery) (abi.HTTPRequest, error) {
	o, err := readOptions(q.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	return abi.HTTPRequest{
		Method:  "GET",
		URL:     apiRoot(q.BaseURL) + "/v1/models?limit=1000",
		Headers: o.requestHeaders("application/json", false),
	}, nil
}

// ModelsResponse reads {"data":[{"id":…}]}.
func (messages) ModelsResponse(r abi.HTTPResponse) (abi.ModelList, error) {
	list := abi.ModelList{Models: []abi.Model{}}
	s := jsonscan.New([]byte(r.Body))
	found := false
	if s.Kind() == jsonscan.Object {
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			if string(key) == "data" && s.Kind() == jsonscan.Array {
				found = true
				list.Models = readModels(&s, list.Models)
			}
		}
	}
	if err := s.End(); err != nil || !found {
		return abi.ModelList{}, errors.New("no list of models from " + r.URL)
	}
	return list, nil
}

func readModels(s *jsonscan.Scanner, models []abi.Model) []abi.Model {
	for s.Array(); s.Elem(); {
		if s.Kind() != jsonscan.Object {
			continue
		}
		if m := readModel(s); m.ID != "" {
			models = append(models, m)
		}
	}
	return models
}

func readModel(s *jsonscan.Scanner) abi.Model {
	var m abi.Model
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return m
		}
		switch string(key) {
		case "id":
			m.ID = readString(s)
		case "max_input_tokens":
			m.Context, _ = readInt(s)
		case "max_tokens":
			m.Output, _ = readInt(s)
		}
	}
}
