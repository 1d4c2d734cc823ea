// Package catalog reads the list of the models that an endpoint offers.
package catalog

import (
	"errors"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// Read reads {"data":[{…}]}, where data is the name of the member. Each object in
// the array is given to model, which reads it, all of it or in part; one without
// an ID is left out, and so is what is no object. Other members are skipped. It is
// an error if the body is not JSON or has no such array; an empty one is none, and
// gives a list that is not nil.
func Read(r abi.HTTPResponse, member string, model func(*jsonscan.Scanner) abi.Model) (abi.ModelList, error) {
	list := abi.ModelList{Models: []abi.Model{}}
	s := jsonscan.New([]byte(r.Body))
	found := false
	if s.Kind() == jsonscan.Object {
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			if string(key) == member && s.Kind() == jsonscan.Array {
				found = true
				list.Models = appendModels(list.Models, &s, model)
			}
		}
	}
	if err := s.End(); err != nil || !found {
		return abi.ModelList{}, errors.New("no list of models from " + r.URL)
	}
	return list, nil
}

func appendModels(models []abi.Model, s *jsonscan.Scanner, model func(*jsonscan.Scanner) abi.Model) []abi.Model {
	for s.Array(); s.Elem(); {
		if s.Kind() != jsonscan.Object {
			continue
		}
		if m := model(s); m.ID != "" {
			models = append(models, m)
		}
	}
	return models
}
