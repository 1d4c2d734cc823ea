package main

import (
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/providertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	suite := providertest.Suite{
		Images:      true,
		ListsModels: true,
		Answers: []providertest.Answer{
			{Name: "text", Response: abi.HTTPResponse{Body: `{"id":"r","model":"m","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`}},
			{Name: "empty", Response: abi.HTTPResponse{Body: `{"choices":[]}`}},
		},
		Errors: []providertest.Error{
			{Name: "quota", Response: abi.HTTPResponse{Status: 429, Body: `{"error":{"code":"insufficient_quota"}}`}, Want: abi.FailureQuota},
			{Name: "context", Response: abi.HTTPResponse{Status: 400, Body: `{"error":{"code":"context_length_exceeded"}}`}, Want: abi.FailureContextOverflow},
			{Name: "model", Response: abi.HTTPResponse{Status: 404, Body: `{"error":{"code":"model_not_found"}}`}, Want: abi.FailureModelNotFound},
		},
		ModelLists: []providertest.ModelList{
			{Name: "two", Response: abi.HTTPResponse{Body: `{"data":[{"id":"a"},{"id":"b"}]}`}, Want: []string{"a", "b"}},
		},
	}
	for name, c := range streamCases() {
		if strings.Contains(name, "after [DONE]") {
			continue // the host has closed the connection by then
		}
		s := providertest.Stream{Name: name}
		for _, f := range frames(c.stream) {
			s.Frames = append(s.Frames, providertest.Frame{Name: f.name, Data: f.data})
		}
		suite.Streams = append(suite.Streams, s)
	}
	providertest.Run(t, provider.Native(chat{}), suite)
}
