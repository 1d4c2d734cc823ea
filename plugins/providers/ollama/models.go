package main

import (
	"errors"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// ModelsRequest asks for the models that the server has.
// https://docs.ollama.com/api/tags
func (chat) ModelsRequest(q abi.ModelsQuery) (abi.HTTPRequest, error) {
	o, err := readOptions(q.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	return abi.HTTPRequest{
		Method:  "GET",
		URL:     endpoint(q.BaseURL, "tags"),
		Headers: o.requestHeaders("application/json"),
	}, nil
}

// ModelsResponse reads {"models":[{"name":…,"model":…}]}. What a model's context
// is there is none of it: num_ctx decides.
func (chat) ModelsResponse(r abi.HTTPResponse) (abi.ModelList, error) {
	list := abi.ModelList{Models: []abi.Model{}}
	s := jsonscan.New([]byte(r.Body))
	found := false
	if s.Kind() == jsonscan.Object {
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			if string(key) == "models" && s.Kind() == jsonscan.Array {
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
		var name, model string
		for s.Object(); ; {
			key, ok := s.Key()
			if !ok {
				break
			}
			switch string(key) {
			case "name":
				name = readString(s)
			case "model":
				model = readString(s)
			}
		}
		if model == "" {
			model = name
		}
		if model != "" {
			models = append(models, abi.Model{ID: model})
		}
	}
	return models
}
