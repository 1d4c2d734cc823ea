package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/catalog"
	"github.com/zchost/zchost/sdk/provider/lenient"
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
	return catalog.Read(r, "models", readModel)
}

func readModel(s *jsonscan.Scanner) abi.Model {
	var name, model string
	for s.Object(); ; {
		key, ok := s.Key()
		if !ok {
			break
		}
		switch string(key) {
		case "name":
			name = lenient.String(s)
		case "model":
			model = lenient.String(s)
		}
	}
	if model == "" {
		model = name
	}
	return abi.Model{ID: model}
}
