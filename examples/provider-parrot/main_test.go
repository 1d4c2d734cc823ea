package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/providertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, provider.Native(parrot{}), providertest.Suite{
		Streams: []providertest.Stream{{
			Name:   "two pieces",
			Frames: []providertest.Frame{{Data: `{"piece":"hi "}`}, {Data: `{"piece":"there"}`}, {Data: `{"over":true}`}},
			Want: []abi.Event{
				{Type: abi.EventText, Text: "hi "},
				{Type: abi.EventText, Text: "there"},
				{Type: abi.EventFinish, Reason: abi.FinishStop, Raw: "over"},
				{Type: abi.EventDone},
			},
		}},
		Answers: []providertest.Answer{{
			Name:     "whole",
			Response: abi.HTTPResponse{Body: `{"whole":"hi there"}`},
		}},
		Errors: []providertest.Error{{
			Name:     "unknown model",
			Response: abi.HTTPResponse{Status: 404, Body: `{"trouble":"only grey"}`},
			Want:     abi.FailureModelNotFound,
		}},
	})
}

func TestFrame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frame string
		want  []abi.Event
	}{
		"piece":   {`{"piece":"hi "}`, []abi.Event{{Type: abi.EventText, Text: "hi "}}},
		"over":    {`{"over":true}`, []abi.Event{{Type: abi.EventFinish, Reason: abi.FinishStop, Raw: "over"}, {Type: abi.EventDone}}},
		"trouble": {`{"trouble":"no seeds"}`, []abi.Event{{Type: abi.EventFailure, Failure: &abi.Failure{Class: abi.FailureServer, Message: "no seeds"}}}},
		"junk":    {`{"piece":`, []abi.Event{{Type: abi.EventFailure, Failure: &abi.Failure{Class: abi.FailureServer, Message: "the line is not JSON"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d provider.Decoder
			if err := (parrot{}).Frame(&d, []byte(c.frame), ""); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, d.Events); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The guide quotes this directory and provider-carrier: every block of Go and
// the manifest in it are there word for word.
func TestGuideIsCurrent(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/adding-a-provider.md")
	if err != nil {
		t.Fatal(err)
	}
	for language, files := range map[string][]string{"go": {"main.go", "main_test.go", "../provider-carrier/letters.go", "../provider-carrier/answer.go"}, "toml": {"plugin.toml"}} {
		var source []byte
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, b...)
		}
		blocks := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
		if len(blocks) == 0 {
			t.Errorf("the guide quotes nothing of %v", files)
		}
		for _, b := range blocks {
			if !strings.Contains(string(source), b[1]) {
				t.Errorf("not in %v:\n%s", files, b[1])
			}
		}
	}
}
