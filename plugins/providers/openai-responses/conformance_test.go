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
			{Name: "text", Response: abi.HTTPResponse{Body: `{"id":"r","model":"m","status":"completed","output":[` + msg + `]}`}},
			{Name: "empty", Response: abi.HTTPResponse{Body: `{"status":"completed","output":[]}`}},
			{Name: "failed", Response: abi.HTTPResponse{Body: `{"status":"failed","error":{"message":"no"},"output":[]}`}},
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
		s := providertest.Stream{Name: name}
		for _, f := range frames(c.stream) {
			s.Frames = append(s.Frames, providertest.Frame{Name: f.name, Data: f.data})
		}
		if strings.Contains(name, "[DONE]") {
			s.Frames = s.Frames[:len(s.Frames)-1]
		}
		suite.Streams = append(suite.Streams, s)
	}
	providertest.Run(t, provider.Native(responses{}), suite)
}
