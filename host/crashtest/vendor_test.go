//go:build failpoints

package crashtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// vendor is a server of chat completions that knows the messages, and is as
// strict about tool calls and their results as the real ones.
type vendor struct {
	*httptest.Server
	mu       sync.Mutex
	seen     map[string]int // by the message
	agents   map[string]int // by the host's version, which is its talk
	problems []string
	// results are what the last request of a session told of each call: of the
	// text that it ends with.
	results map[string][]result
	asked   map[string]string // the text itself
}

// result is the result of a call as the model is told of it.
type result struct{ tool, text string }

// wireMessage is a message of a request.
type wireMessage struct {
	Role      string
	Content   json.RawMessage
	ToolCalls []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

func startVendor(t *testing.T) *vendor {
	t.Helper()
	v := &vendor{seen: map[string]int{}, agents: map[string]int{}, results: map[string][]result{}, asked: map[string]string{}}
	v.Server = httptest.NewServer(v)
	t.Cleanup(v.Close)
	return v
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Stream   bool
		Messages []wireMessage
		Tools    []struct{ Function struct{ Name string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, round := where(in.Messages)
	v.mu.Lock()
	v.asked[fmt.Sprintf("%s with %d tools", kind(text), len(in.Tools))] = text
	v.mu.Unlock()
	text = kind(text)
	v.note(text, in.Messages, len(in.Tools))
	v.noteAgent(r.UserAgent())
	if text == "retry" && in.Stream {
		return // an empty body
	}
	if !in.Stream {
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"again"},"finish_reason":"stop"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s := &stream{w: w, gone: r.Context().Done()}
	switch {
	case text == "slow":
		s.slowly("piece ", 4)
	case text == "long":
		s.text(strings.Repeat("word ", 1200))
	case text == "cut":
		s.text("half of ")
		return
	case text == "tools" && round == 0:
		s.text("Let me see. ")
		s.calls(`shell`, `{"command":"echo ran >> runs.txt"}`, `read_file`, `{"path":"notes.txt"}`)
	case text == "tools" && round == 1:
		s.calls(`read_file`, `{"path":"notes.txt"}`, `list_dir`, `{"path":"."}`)
	case text == "question" && round == 0:
		s.calls(`shell`, `{"command":"echo ran >> runs.txt"}`)
	default:
		s.text("piece ")
	}
	s.end()
}

// where returns the text of the user's last message, and how many rounds of
// tool calls came after it.
func where(messages []wireMessage) (text string, round int) {
	for _, m := range messages {
		switch {
		case m.Role == "user":
			text, round = lastText(m.Content), 0
		case len(m.ToolCalls) > 0:
			round++
		}
	}
	return text, round
}

// kind is the message that a text is for.
func kind(text string) string {
	switch {
	case strings.HasPrefix(text, "The conversation:"), strings.HasPrefix(text, "Summary of what came before:"), strings.HasSuffix(text, "\nmore"):
		return "more" // the requests for the summary, and the one that has it
	case strings.HasPrefix(text, "Your last reply was interrupted."):
		return "after" // it goes on
	}
	return text
}

// note counts the request and looks for what a real one would refuse.
func (v *vendor) note(text string, messages []wireMessage, tools int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen[text]++
	var results []result
	var open, names []string
	for i, m := range messages {
		if m.Role == "tool" {
			if len(open) == 0 || m.ToolCallID != open[0] {
				v.problems = append(v.problems, fmt.Sprintf("%q: message %d answers %q, open are %q", text, i, m.ToolCallID, open))
				return
			}
			results = append(results, result{names[0], lastText(m.Content)})
			open, names = open[1:], names[1:]
			continue
		}
		if len(open) > 0 {
			v.problems = append(v.problems, fmt.Sprintf("%q: no results for %q before message %d", text, open, i))
			return
		}
		for _, c := range m.ToolCalls {
			open, names = append(open, c.ID), append(names, c.Function.Name)
		}
	}
	if len(open) > 0 {
		v.problems = append(v.problems, fmt.Sprintf("%q: no results for %q at the end", text, open))
	}
	v.results[fmt.Sprintf("%s with %d tools", text, tools)] = results
}

// told are the results that the message "after" of an agent with so many tools
// came with, and its text.
func (v *vendor) told(tools int) (results []result, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	key := fmt.Sprintf("after with %d tools", tools)
	return v.results[key], v.asked[key]
}

func (v *vendor) noteAgent(name string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.agents[name]++
}

// from is how many requests came from hosts with a talk. Those of a host that
// was killed may still come in when it is gone.
func (v *vendor) from(talk string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.agents["zchost/"+talk]
}

func (v *vendor) requests() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := map[string]int{}
	for text, n := range v.seen {
		out[text] = n
	}
	return out
}

func (v *vendor) complaints() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.problems)
}

// lastText is the text of a message's content, or of its last part.
func lastText(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) == nil && len(parts) > 0 {
		return parts[len(parts)-1].Text
	}
	return string(content)
}

// stream writes a streamed answer.
type stream struct {
	w      http.ResponseWriter
	gone   <-chan struct{}
	called bool
}

func (s *stream) chunk(delta, finish string) {
	_, _ = fmt.Fprintf(s.w, `data: {"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
	_ = http.NewResponseController(s.w).Flush()
}

func (s *stream) text(text string) { s.chunk(fmt.Sprintf(`{"content":%q}`, text), "null") }

// slowly writes pieces with waits that are longer than deltas wait for each
// other.
func (s *stream) slowly(piece string, n int) {
	for range n {
		s.text(piece)
		select {
		case <-time.After(80 * time.Millisecond):
		case <-s.gone:
			return
		}
	}
}

// calls writes tool calls: names and arguments in turn. Their ids are the same
// in each answer, as with some servers (C026).
func (s *stream) calls(list ...string) {
	s.called = true
	for i := 0; i < len(list); i += 2 {
		s.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]}`,
			i/2, i/2, list[i], list[i+1]), "null")
	}
}

func (s *stream) end() {
	finish := `"stop"`
	if s.called {
		finish = `"tool_calls"`
	}
	s.chunk("{}", finish)
	_, _ = io.WriteString(s.w, "data: [DONE]\n\n")
}
