package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/catalog"
	"github.com/zchost/zchost/sdk/provider/lenient"
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
	return catalog.Read(r, "models", readModel)
}

// readModel returns a model without an ID for one that cannot chat.
func readModel(s *jsonscan.Scanner) abi.Model {
	var m abi.Model
	chats := true
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "name":
			m.ID = strings.TrimPrefix(lenient.String(s), modelsPrefix)
		case "inputTokenLimit":
			m.Context = readLimit(s)
		case "outputTokenLimit":
			m.Output = readLimit(s)
		case "supportedGenerationMethods":
			chats = canGenerate(s)
		}
	}
	if !chats {
		return abi.Model{}
	}
	return m
}

func readLimit(s *jsonscan.Scanner) int64 {
	n, _ := lenient.Int(s)
	return max(n, 0)
}

func canGenerate(s *jsonscan.Scanner) bool {
	if s.Kind() != jsonscan.Array {
		return true
	}
	found := false
	for s.Array(); s.Elem(); {
		found = lenient.String(s) == "generateContent" || found
	}
	return found
}
