package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/catalog"
	"github.com/zchost/zchost/sdk/provider/lenient"
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
	return catalog.Read(r, "data", readModel)
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
			m.ID = lenient.String(s)
		case "max_input_tokens":
			m.Context, _ = lenient.Int(s)
		case "max_tokens":
			m.Output, _ = lenient.Int(s)
		}
	}
}
