//go:build e2e

package e2e

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
)

// protocols are the provider plugins beside openai-chat.
func protocols() []protocol {
	return []protocol{
		{plugin: "gemini", path: "/v1beta", head: 0},
		{plugin: "openai-responses", path: "/v1", head: 6},
	}
}

type protocol struct {
	plugin string
	path   string // where the shared server speaks it
	head   int    // how many frames come before the first text
}

// TestProtocols: each protocol gives the same outcomes as chat completions.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for _, p := range protocols() {
		t.Run(p.plugin, func(t *testing.T) {
			t.Parallel()
			t.Run("stream", p.stream)
			t.Run("whole", p.whole)
			t.Run("halves", p.halves)
			t.Run("reasoning", p.reasoning)
			t.Run("history", p.history)
			t.Run("length", p.length)
			t.Run("errors", p.errors)
			t.Run("cut", p.cut)
		})
	}
}

// ask makes a host that asks a model of its own for this test.
func (p protocol) ask(t *testing.T, model string, fixtures ...string) *host {
	t.Helper()
	for i, f := range fixtures {
		fixtures[i] = strings.Replace(f, "MODEL", p.model(model), 1)
	}
	mock.on(t, fixtures...)
	return newHostOf(t, p.plugin, mock.url+p.path, []string{p.model(model)})
}

func (p protocol) model(name string) string { return p.plugin + "-" + name }

func (p protocol) stream(t *testing.T) {
	t.Parallel()
	h := p.ask(t, "plain", `{"match":{"model":"MODEL"},"response":{"content":"Hello from the other side.","usage":{"prompt_tokens":7,"completion_tokens":9,"total_tokens":16}}}`)
	a := h.send(t, "hi")
	a.want(t, 0, "complete", "Hello from the other side.", "")
	if u := a.summary.Usage; u.Input == nil || *u.Input != 7 || u.Output == nil || *u.Output != 9 {
		t.Errorf("usage %+v, want 7 in and 9 out", u)
	}
	if out, _, _ := h.run(t, "why", a.summary.Turn); strings.Contains(out, "completion-signal") || strings.Contains(out, "completion signal") {
		t.Errorf("a complete answer has a warning:\n%s", out)
	}
}

func (p protocol) whole(t *testing.T) {
	t.Parallel()
	h := p.ask(t, "at-once", `{"match":{"model":"MODEL"},"response":{"content":"All at once: 漢字🚲."}}`)
	h.send(t, "hi", "--no-stream").want(t, 0, "complete", "All at once: 漢字🚲.", "")
}

// The halves of an emoji come as two escapes in two pieces (C008).
func (p protocol) halves(t *testing.T) {
	t.Parallel()
	h := p.ask(t, "halves", `{"match":{"model":"MODEL"},"response":{"content":"1234567🚲89"}}`)
	h.send(t, "hi").want(t, 0, "complete", "1234567🚲89", "")
}

func (p protocol) reasoning(t *testing.T) {
	t.Parallel()
	h := p.ask(t, "gpt-5-thinks", `{"match":{"model":"MODEL"},"response":{"content":"Four.","reasoning":"two and two"}}`)
	a := h.send(t, "2+2?")
	a.want(t, 0, "complete", "Four.", "")
	if types := strings.Join(a.types(), " "); !strings.Contains(types, "reasoning") {
		t.Errorf("events: %s", types)
	}
}

func (p protocol) history(t *testing.T) {
	t.Parallel()
	h := p.ask(t, "talk",
		`{"match":{"model":"MODEL","turnIndex":0},"response":{"content":"first answer"}}`,
		`{"match":{"model":"MODEL","turnIndex":1},"response":{"content":"second answer"}}`)
	h.send(t, "one", "--session", "s").want(t, 0, "complete", "first answer", "")
	h.send(t, "two", "--session", "s").want(t, 0, "complete", "second answer", "")
}

func (p protocol) length(t *testing.T) {
	t.Parallel()
	h := p.ask(t, "short", `{"match":{"model":"MODEL"},"response":{"content":"As far as it goes","finishReason":"length"}}`)
	h.send(t, "hi").want(t, 5, "incomplete", "As far as it goes", "turn-incomplete-length")
}

func (p protocol) errors(t *testing.T) {
	t.Parallel()
	for status, class := range map[int]abi.FailureClass{401: abi.FailureAuth, 400: abi.FailureInvalidRequest} {
		body, err := json.Marshal(map[string]any{"error": map[string]string{"message": http.StatusText(status)}, "status": status})
		if err != nil {
			t.Fatal(err)
		}
		a := p.ask(t, "e"+strconv.Itoa(status), `{"match":{"model":"MODEL"},"response":`+string(body)+`}`).send(t, "hi")
		a.want(t, 2, "failed", "", "turn-failed")
		a.wantClass(t, class)
	}
	p.ask(t, "busy", `{"match":{"model":"MODEL","sequenceIndex":0},"response":{"error":{"message":"busy"},"status":503}}`,
		`{"match":{"model":"MODEL","sequenceIndex":1},"response":{"content":"better now"}}`).
		send(t, "hi").want(t, 0, "complete", "better now", "")
}

func (p protocol) cut(t *testing.T) {
	t.Parallel()
	h := p.ask(t, "cut", `{"match":{"model":"MODEL"},"response":{"content":"The answer is forty-two and more"},"latency":60,"truncateAfterChunks":`+strconv.Itoa(p.head+2)+`}`)
	a := h.send(t, "hi")
	if a.summary.Text == "" || !strings.HasPrefix("The answer is forty-two and more", a.summary.Text) {
		t.Errorf("text %q", a.summary.Text)
	}
	a.want(t, 3, "interrupted", a.summary.Text, "turn-stream-interrupted")
}
