//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
)

// peer is a protocol that aimock serves too.
type peer struct {
	plugin string
	suffix string // of the base_url
	usage  string // the fields of a fixture's usage, for 7 in and 9 out; "" if they cannot be set
	before int    // how many pieces of a stream come before the text
	// missing is the type, or at Gemini the status, of an unknown model's error.
	missing string
}

func peers() []peer {
	return []peer{
		{"openai-chat", "/v1", `"prompt_tokens":7,"completion_tokens":9`, 1, "invalid_request_error"},
		{"openai-responses", "/v1", `"input_tokens":7,"output_tokens":9`, 6, "invalid_request_error"},
		{"anthropic", "", `"input_tokens":7,"output_tokens":9`, 2, "not_found_error"},
		{"gemini", "/v1beta", `"promptTokenCount":7,"candidatesTokenCount":9`, 0, "NOT_FOUND"},
		{"ollama", "", "", 0, "not_found"}, // its counts cannot be set
	}
}

// host makes a host that asks this model of the shared server.
func (p peer) host(t *testing.T, model string, more ...string) *host {
	t.Helper()
	return hostOf(t, p.plugin, mock.url+p.suffix, []string{model}, more...)
}

// each runs a test for every protocol, streamed and in one piece. The model's
// name is one that no other test has.
func each(t *testing.T, name string, test func(t *testing.T, p peer, model string, flags []string)) {
	t.Parallel()
	eachOf(t, peers(), name, test)
}

func eachOf(t *testing.T, peers []peer, name string, test func(t *testing.T, p peer, model string, flags []string)) {
	for _, p := range peers {
		for mode, flags := range map[string][]string{"stream": nil, "whole": {"--no-stream"}} {
			t.Run(p.plugin+"/"+mode, func(t *testing.T) {
				t.Parallel()
				test(t, p, p.plugin+"-"+mode+"-"+name, flags)
			})
		}
	}
}

// first is how the first request for a model is made.
func first(model string, flags []string) string {
	if len(flags) > 0 {
		return model + " whole"
	}
	return model + " stream"
}

func TestProtocolText(t *testing.T) {
	each(t, "text", func(t *testing.T, p peer, model string, flags []string) {
		usage := ""
		if p.usage != "" {
			usage = `,"usage":{` + p.usage + `}`
		}
		mock.on(t, `{"match":{"model":"`+model+`"},"response":{"content":"Hello from the other side: 漢字🚲."`+usage+`}}`)
		a := p.host(t, model).send(t, "hi", flags...)
		a.want(t, 0, "complete", "Hello from the other side: 漢字🚲.", "")
		mock.wantRequests(t, []string{model}, first(model, flags))
		if u := a.summary.Usage; p.usage != "" && (u.Input == nil || *u.Input != 7 || u.Output == nil || *u.Output != 9) {
			t.Errorf("usage %+v, want 7 in and 9 out", u)
		}
	})
}

func TestProtocolReasoning(t *testing.T) {
	each(t, "reasoning", func(t *testing.T, p peer, model string, flags []string) {
		mock.on(t, `{"match":{"model":"`+model+`"},"response":{"content":"Four.","reasoning":"two and two"}}`)
		a := p.host(t, model).send(t, "2+2?", flags...)
		a.want(t, 0, "complete", "Four.", "")
		if !slices.Contains(a.types(), "reasoning") {
			t.Errorf("events: %v", a.types())
		}
	})
}

// STR-5.
func TestProtocolLength(t *testing.T) {
	t.Parallel()
	tellsLength := slices.DeleteFunc(peers(), func(p peer) bool { return p.plugin == "ollama" }) // aimock always says stop there
	eachOf(t, tellsLength, "length", func(t *testing.T, p peer, model string, flags []string) {
		mock.on(t, `{"match":{"model":"`+model+`"},"response":{"content":"As far as it goes","finishReason":"length"}}`)
		p.host(t, model).send(t, "hi", flags...).want(t, 5, "incomplete", "As far as it goes", "turn-incomplete-length")
		mock.wantRequests(t, []string{model}, first(model, flags))
	})
}

// STR-6: the calls and their results, the tool being one that there is not,
// come back in the protocol's own form: aimock answers only if it finds them.
func TestProtocolToolCalls(t *testing.T) {
	each(t, "tools", func(t *testing.T, p peer, model string, flags []string) {
		mock.on(t,
			`{"match":{"model":"`+model+`","hasToolResult":false},"response":{"toolCalls":[{"name":"weather","arguments":{"city":"Oslo"}},{"name":"weather","arguments":{"city":"Rome"}}]}}`,
			`{"match":{"model":"`+model+`","hasToolResult":true},"response":{"content":"I cannot know."}}`)
		a := p.host(t, model).send(t, "weather?", flags...)
		a.want(t, 0, "complete", "I cannot know.", "")
		mock.wantRequests(t, []string{model}, first(model, flags), first(model, flags))
		if requests := mock.requests(t, model); len(requests) == 2 {
			roles := ""
			for _, m := range requests[1].Body.Messages {
				roles += m.Role + " "
			}
			if !strings.HasSuffix(roles, " assistant tool tool ") {
				t.Errorf("the second request has the roles %s", roles)
			}
		}
	})
}

// A file is read for the model, whose server finds its contents in the result.
func TestProtocolToolRuns(t *testing.T) {
	each(t, "runs", func(t *testing.T, p peer, model string, flags []string) {
		mock.on(t,
			`{"match":{"model":"`+model+`","hasToolResult":false},"response":{"content":"I look.","toolCalls":[{"name":"read_file","arguments":{"path":"a.txt"}}]}}`,
			`{"match":{"model":"`+model+`","toolResultContains":"the contents of a"},"response":{"content":" Found."}}`)
		h := p.host(t, model)
		h.agent(t, `tools = ["read_file", "list_dir"]`)
		space := filepath.Join(h.home, "workspace", "main")
		if err := os.MkdirAll(space, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(space, "a.txt"), []byte("the contents of a"), 0o600); err != nil {
			t.Fatal(err)
		}
		a := h.send(t, "read a.txt", flags...)
		if a.code != 0 || !strings.Contains(a.summary.Text, "Found.") {
			t.Errorf("exit %d, %s %q: %s", a.code, a.summary.State, a.summary.Text, a.stdout)
		}
		mock.wantRequests(t, []string{model}, first(model, flags), first(model, flags))
	})
}

// REL-3, REL-6: what fails before any output is asked again, in one piece.
func TestProtocolErrorThenAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, fault string }{
		{"500", `{"error":{"message":"broken","type":"server_error"},"status":500}`},
		{"503", `{"error":{"message":"busy","type":"overloaded_error"},"status":503}`},
		{"529", `{"error":{"message":"busy","type":"overloaded_error"},"status":529}`},
		{"429", `{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"},"status":429,"retryAfter":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, c.name, func(t *testing.T, p peer, model string, flags []string) {
				mock.on(t,
					`{"match":{"model":"`+model+`","sequenceIndex":0},"response":`+c.fault+`}`,
					`{"match":{"model":"`+model+`","sequenceIndex":1},"response":{"content":"better now"}}`)
				p.host(t, model).send(t, "hi", flags...).want(t, 0, "complete", "better now", "")
				mock.wantRequests(t, []string{model}, first(model, flags), model+" whole")
			})
		})
	}
}

// REL-7: what is not asked again.
func TestProtocolNotRetried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault string
		class       abi.FailureClass
	}{
		{"401", `{"error":{"message":"bad key","type":"authentication_error","code":"invalid_api_key"},"status":401}`, abi.FailureAuth},
		{"400", `{"error":{"message":"bad field","type":"invalid_request_error"},"status":400}`, abi.FailureInvalidRequest},
		{"404", `{"error":{"message":"no model","type":"%s","code":"model_not_found"},"status":404}`, abi.FailureModelNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, c.name, func(t *testing.T, p peer, model string, flags []string) {
				fault := strings.Replace(c.fault, "%s", p.missing, 1)
				mock.on(t, `{"match":{"model":"`+model+`"},"response":`+fault+`}`)
				a := p.host(t, model).send(t, "hi", flags...)
				a.want(t, 2, "failed", "", "turn-failed")
				a.wantClass(t, c.class)
				mock.wantRequests(t, []string{model}, first(model, flags))
			})
		})
	}
}

// REL-3: a connection that breaks before any output.
func TestProtocolCutBefore(t *testing.T) {
	each(t, "cut-before", func(t *testing.T, p peer, model string, flags []string) {
		mock.on(t,
			`{"match":{"model":"`+model+`","sequenceIndex":0},"response":{"content":"never seen"},"chaos":{"disconnectRate":1}}`,
			`{"match":{"model":"`+model+`","sequenceIndex":1},"response":{"content":"asked again"}}`)
		p.host(t, model).send(t, "hi", flags...).want(t, 0, "complete", "asked again", "")
		mock.wantRequests(t, []string{model}, first(model, flags), model+" whole")
	})
}

// REL-4: one that breaks after some is asked nowhere again. In one piece there
// is nothing to cut into.
func TestProtocolCutAfter(t *testing.T) {
	t.Parallel()
	for _, p := range peers() {
		t.Run(p.plugin, func(t *testing.T) {
			t.Parallel()
			const text = "The answer is forty-two and more than that, much more"
			model := p.plugin + "-cut-after"
			mock.on(t, fmt.Sprintf(`{"match":{"model":%q},"response":{"content":%q},"latency":60,"truncateAfterChunks":%d}`, model, text, p.before+3))
			a := p.host(t, model).send(t, "hi")
			if a.summary.Text == "" || !strings.HasPrefix(text, a.summary.Text) {
				t.Errorf("text %q", a.summary.Text)
			}
			a.want(t, 3, "interrupted", a.summary.Text, "turn-stream-interrupted")
			mock.wantRequests(t, []string{model}, model+" stream")
		})
	}
}

// STR-4: a 200 that is neither a stream nor JSON.
func TestProtocolMalformed(t *testing.T) {
	each(t, "malformed", func(t *testing.T, p peer, model string, flags []string) {
		mock.on(t, `{"match":{"model":"`+model+`"},"response":{"content":"x"},"chaos":{"malformedRate":1}}`)
		a := p.host(t, model, "provider_retries = 0").send(t, "hi", flags...)
		a.want(t, 2, "failed", "", "turn-failed")
		class := abi.FailureServer
		if p.plugin == "ollama" && len(flags) == 0 {
			class = abi.FailureTruncated // it is the beginning of a line
		}
		a.wantClass(t, class)
	})
}

// MRK-4: each request holds the whole history.
func TestProtocolManyTurns(t *testing.T) {
	each(t, "turns", func(t *testing.T, p peer, model string, flags []string) {
		mock.on(t,
			`{"match":{"model":"`+model+`","turnIndex":0},"response":{"content":"first answer","reasoning":"hm"}}`,
			`{"match":{"model":"`+model+`","turnIndex":1},"response":{"content":"second answer"}}`)
		h := p.host(t, model)
		for i, want := range []string{"first answer", "second answer"} {
			h.send(t, fmt.Sprint("question ", i+1), append([]string{"--session", "s"}, flags...)...).want(t, 0, "complete", want, "")
		}
	})
}
