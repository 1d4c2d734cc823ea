package main

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// ModelsRequest asks for the list of models: one page of the largest size holds
// them all.
func (gemini) ModelsRequest(q abi.ModelsQuery) (abi.HTTPRequest, error) {
	o, err := readOptions(q.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	return abi.HTTPRequest{
		Method:  "GET",
		URL:     q.BaseURL + "/models" + o.queryString(abi.Header{Name: "pageSize", Value: "1000"}),
		Headers: o.requestHeaders("application/json", false),
	}, nil
}

// ModelsResponse reads {"models":[{"name":"models/…"}]} and leaves out what
// cannot chat, such as models for embeddings.
func (gemini) ModelsResponse(r abi.HTTPResponse) (abi.ModelList, error) {
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
		if m, chats := readModel(s); m.ID != "" && chats {
			models = append(models, m)
		}
	}
	return models
}

func readModel(s *jsonscan.Scanner) (m abi.Model, chats bool) {
	chats = true
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			return m, chats
		}
		switch string(key) {
		case "name":
			m.ID = strings.TrimPrefix(readString(s), modelsPrefix)
		case "inputTokenLimit":
			m.Context = readLimit(s)
		case "outputTokenLimit":
			m.Output = readLimit(s)
		case "supportedGenerationMethods":
			chats = canGenerate(s)
		}
	}
}

func readLimit(s *jsonscan.Scanner) int64 {
	n, _ := readInt(s)
	return max(n, 0)
}

func canGenerate(s *jsonscan.Scanner) bool {
	if s.Kind() != jsonscan.Array {
		return true
	}
	found := false
	for s.Array(); s.Elem(); {
		found = readString(s) == "generateContent" || found
	}
	return found
}
