package main

import (
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
			{Name: "text", Response: abi.HTTPResponse{Body: `{"model":"m","message":{"content":"Hi"},"done":true,"done_reason":"stop"}`}},
			{Name: "empty", Response: abi.HTTPResponse{Body: `{"message":{},"done":true}`}},
		},
		Errors: []providertest.Error{
			{Name: "model", Response: abi.HTTPResponse{Status: 404, Body: `{"error":"model 'm' not found"}`}, Want: abi.FailureModelNotFound},
		},
		ModelLists: []providertest.ModelList{
			{Name: "two", Response: abi.HTTPResponse{Body: `{"models":[{"model":"a"},{"model":"b"}]}`}, Want: []string{"a", "b"}},
			{Name: "none", Response: abi.HTTPResponse{Body: `{"models":[]}`}, Want: []string{}},
		},
	}
	for name, c := range streamCases() {
		s := providertest.Stream{Name: name}
		for _, line := range frames(c.stream) {
			s.Frames = append(s.Frames, providertest.Frame{Data: line})
		}
		suite.Streams = append(suite.Streams, s)
	}
	providertest.Run(t, provider.Native(chat{}), suite)
}
