package main

import (
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/providertest"
)

// suite is run against the type here, and in compiled_test.go against the module.
var suite = providertest.Suite{
	Images: true,
	Streams: []providertest.Stream{{
		Name: "thought and text",
		Frames: []providertest.Frame{
			{Data: `{"thinks":"south"}`}, {Data: `{"feather":"coo "}`}, {Data: `{"feather":"coo"}`},
			{Data: `{"weight":{"took":7,"gave":2}}`}, {Data: `{"landed":"home"}`},
		},
		Want: []abi.Event{
			{Type: abi.EventReasoning, Text: "south"},
			{Type: abi.EventText, Text: "coo "},
			{Type: abi.EventText, Text: "coo"},
			{Type: abi.EventUsage, Usage: &abi.Usage{Input: new(int64(7)), Output: new(int64(2))}},
			{Type: abi.EventFinish, Reason: abi.FinishStop, Raw: "home"},
			{Type: abi.EventDone},
		},
	}, {
		Name: "two errands",
		Frames: []providertest.Frame{
			{Data: `{"errand":{"no":"e1","title":"look","form":{"at":"sea"}}}`},
			{Data: `{"errand":{"no":"e2","title":"rest"}}`}, {Data: `{"landed":"errands"}`},
		},
		Want: []abi.Event{
			{Type: abi.EventToolCall, ID: "e1", Name: "look", Arguments: `{"at":"sea"}`},
			{Type: abi.EventToolCall, ID: "e2", Name: "rest", Arguments: `{}`},
			{Type: abi.EventFinish, Reason: abi.FinishToolCalls, Raw: "errands"},
			{Type: abi.EventDone},
		},
	}, {
		Name:   "crash",
		Frames: []providertest.Frame{{Data: `{"feather":"c"}`}, {Data: `{"crash":{"why":"hail","sort":"storm"}}`}},
		Want: []abi.Event{
			{Type: abi.EventText, Text: "c"},
			{Type: abi.EventFailure, Failure: &abi.Failure{Class: abi.FailureOverloaded, Message: "hail", Code: "storm"}},
		},
	}, {
		Name:   "cut",
		Frames: []providertest.Frame{{Data: `{"feather":"c"}`}},
		Want:   []abi.Event{{Type: abi.EventText, Text: "c"}},
	}},
	Answers: []providertest.Answer{{
		Name: "whole",
		Response: abi.HTTPResponse{
			Body: `{"feathers":["coo ","coo"],"errands":[{"no":"e1","title":"look","form":{}}],"weight":{"took":7,"gave":2},"landed":"errands"}`,
		},
		Want: []abi.Event{
			{Type: abi.EventText, Text: "coo "},
			{Type: abi.EventText, Text: "coo"},
			{Type: abi.EventToolCall, ID: "e1", Name: "look", Arguments: `{}`},
			{Type: abi.EventUsage, Usage: &abi.Usage{Input: new(int64(7)), Output: new(int64(2))}},
			{Type: abi.EventFinish, Reason: abi.FinishToolCalls, Raw: "errands"},
			{Type: abi.EventDone},
		},
	}},
	Errors: []providertest.Error{
		{Name: "storm", Response: abi.HTTPResponse{Status: 500, Body: `{"crash":{"why":"hail","sort":"storm"}}`}, Want: abi.FailureOverloaded},
		{Name: "tired", Response: abi.HTTPResponse{Status: 429, Body: `{"crash":{"why":"rest","sort":"tired"}}`}, Want: abi.FailureRateLimited},
		{Name: "unknown bird", Response: abi.HTTPResponse{Status: 404, Body: `{"crash":{"why":"no dodo","sort":"unknown_bird"}}`}, Want: abi.FailureModelNotFound},
		{Name: "too long", Response: abi.HTTPResponse{Status: 400, Body: `{"crash":{"why":"heavy","sort":"letter_too_long"}}`}, Want: abi.FailureContextOverflow},
	},
}

func TestConformance(t *testing.T) {
	t.Parallel()
	providertest.Run(t, provider.Native(carrier{}), suite)
}

func TestLetters(t *testing.T) {
	t.Parallel()
	text := func(s string) abi.Part { return abi.Part{Type: abi.PartText, Text: s} }
	for name, c := range map[string]struct {
		role  abi.Role
		parts []abi.Part
		want  string
	}{
		"lines":   {abi.RoleUser, []abi.Part{text("a"), text("b")}, `{"by":"human","lines":["a","b"]}`},
		"picture": {abi.RoleUser, []abi.Part{text("a"), {Type: abi.PartImage, Blob: "x1", MediaType: "image/png"}, text("b")}, `{"by":"human","lines":["a"]},{"by":"human","lines":[],"picture":"{{blob:x1}}","of":"image/png"},{"by":"human","lines":["b"]}`},
		"file":    {abi.RoleUser, []abi.Part{{Type: abi.PartFile, Name: "a.pdf"}}, `{"by":"human","lines":["(a file that cannot be carried: a.pdf)"]}`},
		"errand":  {abi.RoleAssistant, []abi.Part{text("a"), {Type: abi.PartToolCall, CallID: "c1", Name: "look", Arguments: `{"at":"sea"}`}}, `{"by":"bird","lines":["a"]},{"by":"bird","errand":{"no":"c1","title":"look","form":{"at":"sea"}}}`},
		"reports": {abi.RoleTool, []abi.Part{{Type: abi.PartToolResult, CallID: "c1", Text: "fog", IsError: true}, {Type: abi.PartToolResult, CallID: "c2"}}, `{"by":"errand","no":"c1","report":"fog","bad":true},{"by":"errand","no":"c2","report":"","bad":false}`},
		"thought": {abi.RoleAssistant, []abi.Part{{Type: abi.PartReasoning, Text: "hm"}}, `{"by":"bird","lines":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := letters(abi.Message{Role: c.role, Parts: c.parts}); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request abi.ChatRequest
		want    string
	}{
		"least": {abi.ChatRequest{Model: "pigeon"}, `{"bird":"pigeon","flock":false,"letters":["{{messages}}"]}`},
		"all": {
			abi.ChatRequest{Model: "pigeon", System: "Be brief.", MaxTokens: 9, Stream: true, Tools: []abi.Tool{{Name: "look", Description: "Looks.", InputSchema: abi.Raw(`{}`)}, {Name: "rest", InputSchema: abi.Raw(`{}`)}}},
			`{"bird":"pigeon","loft":"Be brief.","seeds":9,"errands":[{"title":"look","about":"Looks.","form":{}},{"title":"rest","about":"","form":{}}],"flock":true,"letters":["{{messages}}"]}`,
		},
		"no tool": {abi.ChatRequest{Model: "pigeon", ToolChoice: "none", Tools: []abi.Tool{{Name: "look", InputSchema: abi.Raw(`{}`)}}}, `{"bird":"pigeon","flock":false,"letters":["{{messages}}"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := carrier{}.Request(c.request)
			if err != nil {
				t.Fatal(err)
			}
			if got.Body != c.want {
				t.Errorf("got  %s\nwant %s", got.Body, c.want)
			}
		})
	}
}
