package main

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider/compose"
	"github.com/zchost/zchost/sdk/provider/openai"
)

// ModelsRequest asks for the list of models.
func (responses) ModelsRequest(q abi.ModelsQuery) (abi.HTTPRequest, error) {
	o, err := readOptions(q.Options)
	if err != nil {
		return abi.HTTPRequest{}, err
	}
	return abi.HTTPRequest{
		Method:  "GET",
		URL:     apiRoot(q.BaseURL) + "/models" + compose.Query(o.query),
		Headers: o.requestHeaders("application/json", false),
	}, nil
}

// ModelsResponse reads the list, with the limits that other vendors add.
func (responses) ModelsResponse(r abi.HTTPResponse) (abi.ModelList, error) {
	return openai.Models(r)
}
