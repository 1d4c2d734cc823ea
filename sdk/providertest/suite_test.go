package providertest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
	"github.com/zchost/zchost/sdk/providertest"
)

func suite() providertest.Suite {
	text := func(s string) abi.Event { return abi.Event{Type: abi.EventText, Text: s} }
	finish := abi.Event{Type: abi.EventFinish, Reason: abi.FinishStop}
	done := abi.Event{Type: abi.EventDone}
	stream := func(name string, events ...abi.Event) providertest.Stream {
		s := providertest.Stream{Name: name, Want: append(events, done)}
		for _, e := range events {
			s.Frames = append(s.Frames, providertest.Frame{Data: string(e.AppendJSON(nil))})
		}
		s.Frames = append(s.Frames, providertest.Frame{Data: "[DONE]"})
		return s
	}
	signed := stream("signed",
		abi.Event{Type: abi.EventReasoning, Text: "hm", Opaque: `{"id":"1"}`},
		abi.Event{Type: abi.EventText, Signature: "S=="},
		abi.Event{Type: abi.EventProviderTool, Name: "search", Opaque: `{"id":"2"}`},
		abi.Event{Type: abi.EventToolCall, Name: "list", Signature: "T=="}, finish)
	whole := abi.ChatEvents{Events: []abi.Event{text("Hi"), finish, done}}
	return providertest.Suite{
		Images:      true,
		Streams:     []providertest.Stream{stream("plain", text("Hi "), text("there"), finish), stream("short", text("x"), finish), signed},
		Answers:     []providertest.Answer{{Name: "plain", Response: abi.HTTPResponse{Body: string(whole.AppendJSON(nil))}, Want: whole.Events}},
		Errors:      []providertest.Error{{Name: "auth", Response: abi.HTTPResponse{Status: 401}, Want: abi.FailureAuth}},
		ListsModels: true,
		ModelLists: []providertest.ModelList{
			{Name: "two", Response: abi.HTTPResponse{Body: `{"models":[{"id":"a"},{"id":"b"}]}`}, Want: []string{"a", "b"}},
		},
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	providertest.Run(t, provider.Native(lister{fake{calls: new(int)}}), suite())
}

func TestRunWithoutModels(t *testing.T) {
	t.Parallel()
	s := suite()
	s.ListsModels = false
	providertest.Run(t, provider.Native(fake{calls: new(int)}), s)
}

// faultVariable names the mistake of the plugin that TestFaulty is run with.
const faultVariable = "PROVIDERTEST_FAULT"

// TestFaulty fails for every mistake; TestFaults runs it in a process of its own.
func TestFaulty(t *testing.T) {
	t.Parallel()
	fault := os.Getenv(faultVariable)
	if fault == "" {
		t.Skip("run by TestFaults")
	}
	providertest.Run(t, provider.Native(lister{fake{fault: fault, calls: new(int)}}), suite())
}

// Each mistake is found by the check that is meant for it.
func TestFaults(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"fragment is no JSON":                "is not JSON",
		"fragment depends on neighbours":     "depends on its neighbours",
		"fragment without text":              "is not in its fragment",
		"fragment is not pure":               "chat_messages is not pure",
		"request fails":                      "chat_request panics: no request",
		"request elsewhere":                  "is not at https://provider.test/v1",
		"request beside":                     "is not below https://provider.test/v1",
		"stream is not asked for":            "with the same request as one in one piece",
		"header of the host":                 `header "Host" is not for a plugin to set`,
		"secret in the body":                 "the body names a secret",
		"messages twice":                     "holds {{messages}} 2 times",
		"messages outside an array":          "holds {{messages}} 1 times, 0 of them",
		"script":                             "the answer is a script",
		"frame count outside the state":      "chat_events is not pure",
		"unknown type":                       `an event has the type "unheard"`,
		"field of another type":              "an event has fields that are not for its type",
		"index below zero":                   "has the index -1",
		"image is left out":                  "the image of message",
		"opaque part is changed":             "is not sent back after what came before it",
		"opaque parts change places":         "is not sent back after what came before it",
		"signature is lost":                  "the signature S== is not sent back",
		"first event of later calls is lost": "events differ with one frame in each call",
		"junk is the end":                    "counts as the end",
		"junk is ignored":                    "is no failure",
		"junk is a bug":                      "chat_events: decode Event",
		"junk is an answer":                  "is taken for an answer",
		"class by a word":                    "words in a text turn",
		"class that nobody knows":            `a failure has the class "bad"`,
		"auth is unknown":                    "status 401 is unknown, want [auth]",
		"status is lost":                     "has the status 0",
		"model out of nothing":               "gives the models",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "-test.run=^TestFaulty$")
			cmd.Env = append(os.Environ(), faultVariable+"="+fault)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("the suite finds nothing:\n%s", out)
			}
			if !strings.Contains(string(out), want) {
				t.Errorf("the suite does not say %q:\n%s", want, out)
			}
		})
	}
}
