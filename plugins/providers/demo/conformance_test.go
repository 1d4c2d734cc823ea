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
	suite := providertest.Suite{Scripted: true, Options: abi.Raw(`{"delay_ms":0}`)}
	for _, said := range []string{"hello", "/demo reasoning", "/demo cut", "/demo length"} {
		stream := providertest.Stream{Name: said}
		for _, p := range script(t, said, true).Pieces {
			for block := range strings.SplitSeq(strings.TrimSuffix(p.Data, "\n\n"), "\n\n") {
				stream.Frames = append(stream.Frames, providertest.Frame{Data: strings.TrimPrefix(block, "data: ")})
			}
		}
		suite.Streams = append(suite.Streams, stream)
		if whole := script(t, said, false); whole.End == "" {
			suite.Answers = append(suite.Answers, providertest.Answer{Name: said, Response: abi.HTTPResponse{Body: whole.Pieces[0].Data}})
		}
	}
	failed := script(t, "/demo fail", true)
	suite.Errors = []providertest.Error{{
		Name:     "fail",
		Response: abi.HTTPResponse{Status: failed.Status, Body: failed.Pieces[0].Data},
		Want:     abi.FailureServer,
	}}
	providertest.Run(t, provider.Native(demo{}), suite)
}
