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
			{Name: "text", Response: abi.HTTPResponse{Body: `{"id":"r","type":"message","model":"m","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}}`}},
			{Name: "empty", Response: abi.HTTPResponse{Body: `{"type":"message","content":[],"stop_reason":"end_turn"}`}},
			{Name: "an error", Response: abi.HTTPResponse{Body: `{"type":"error","error":{"type":"api_error","message":"no"}}`}},
		},
		Errors: []providertest.Error{
			{Name: "quota", Response: abi.HTTPResponse{Status: 402, Body: `{"type":"error","error":{"type":"billing_error"}}`}, Want: abi.FailureQuota},
			{Name: "context", Response: abi.HTTPResponse{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`}, Want: abi.FailureContextOverflow},
			{Name: "model", Response: abi.HTTPResponse{Status: 404, Body: `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`}, Want: abi.FailureModelNotFound},
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
	providertest.Run(t, provider.Native(messages{}), suite)
}
