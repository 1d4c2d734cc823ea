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
			{Name: "text", Response: abi.HTTPResponse{Body: `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`}},
			{Name: "empty", Response: abi.HTTPResponse{Body: `{"candidates":[]}`}},
			{Name: "blocked", Response: abi.HTTPResponse{Body: `{"promptFeedback":{"blockReason":"SAFETY"}}`}},
		},
		Errors: []providertest.Error{
			{Name: "key", Response: abi.HTTPResponse{Status: 400, Body: wrongKey}, Want: abi.FailureAuth},
			{Name: "quota", Response: abi.HTTPResponse{Status: 429, Body: dayQuota}, Want: abi.FailureQuota},
			{Name: "model", Response: abi.HTTPResponse{Status: 404, Body: `{"error":{"code":404,"status":"NOT_FOUND"}}`}, Want: abi.FailureModelNotFound},
		},
		ModelLists: []providertest.ModelList{
			{Name: "two", Response: abi.HTTPResponse{Body: `{"models":[{"name":"models/a"},{"name":"models/b"}]}`}, Want: []string{"a", "b"}},
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
	providertest.Run(t, provider.Native(gemini{}), suite)
}
