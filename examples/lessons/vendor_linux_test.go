package lessons_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// answer is what a fake vendor says to a request.
type answer struct {
	text string
	// call is a tool that the model calls, with arguments as JSON.
	call, arguments string
	// status is an HTTP status in place of an answer.
	status int
	// cut ends the connection after the text.
	cut bool
}

// asked is a request as the fake vendors see it.
type asked struct {
	key, model, body, last string // last is the text of the last message
	stream, result         bool   // result: the last message is a tool's
	n                      int    // counts from 1
}

// protocol puts an answer into a vendor's form.
type protocol func(w *strings.Builder, q asked, a answer)

// vendor is a fake vendor on loopback.
type vendor struct {
	speak  protocol
	answer func(asked) answer

	mu sync.Mutex
	n  int
}

// start starts a vendor, and returns its address.
func start(t *testing.T, speak protocol, answer func(asked) answer) string {
	t.Helper()
	s := httptest.NewServer(&vendor{speak: speak, answer: answer})
	t.Cleanup(s.Close)
	return s.URL
}

// ServeHTTP answers.
func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct {
		Stream   *bool
		Model    string
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err != nil || json.Unmarshal(body, &request) != nil {
		http.Error(w, "the request is not JSON", http.StatusBadRequest)
		return
	}
	v.mu.Lock()
	v.n++
	n := v.n
	v.mu.Unlock()
	key := r.Header.Get("X-Api-Key") + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	q := asked{key: key, model: request.Model, body: string(body), n: n}
	if _, call, found := strings.Cut(r.URL.Path, "/models/"); found { // Gemini's
		model, method, _ := strings.Cut(call, ":")
		q.model, q.stream = model, method == "streamGenerateContent"
	} else {
		q.stream = request.Stream != nil && *request.Stream
	}
	if len(request.Messages) > 0 {
		last := request.Messages[len(request.Messages)-1]
		q.last, q.result = fmt.Sprint(last.Content), last.Role == "tool"
	}
	a := v.answer(q)
	if a.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.status)
		write(w, `{"error":{"message":`+quoted(a.text)+`}}`)
		return
	}
	if q.stream {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	var text strings.Builder
	v.speak(&text, q, a)
	write(w, text.String())
	if a.cut {
		if err := http.NewResponseController(w).Flush(); err != nil {
			return
		}
		panic(http.ErrAbortHandler)
	}
}

func write(w io.Writer, text string) {
	if _, err := io.WriteString(w, text); err != nil {
		panic(http.ErrAbortHandler) // the program has gone
	}
}

// words cuts a text into pieces as they would stream.
func words(text string) []string { return strings.SplitAfter(text, " ") }

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// openAI is chat completions.
func openAI(w *strings.Builder, q asked, a answer) {
	finish, calls := "stop", ""
	if a.call != "" {
		finish = "tool_calls"
		calls = fmt.Sprintf(`,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":%s,"arguments":%s}}]`, quoted(a.call), quoted(a.arguments))
	}
	const usage = `"usage":{"prompt_tokens":1200,"completion_tokens":300}`
	if !q.stream {
		fmt.Fprintf(w, `{"model":%s,"choices":[{"message":{"role":"assistant","content":%s%s},"finish_reason":%q}],%s}`, quoted(q.model), quoted(a.text), calls, finish, usage)
		return
	}
	for _, word := range words(a.text) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", quoted(word))
	}
	if a.cut {
		return
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":\"\"%s},\"finish_reason\":%q}]}\n\n", calls, finish)
	fmt.Fprintf(w, "data: {\"choices\":[],%s}\n\ndata: [DONE]\n\n", usage)
}

// gemini is generateContent.
func gemini(w *strings.Builder, q asked, a answer) {
	chunk := func(text, rest string) string {
		return fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"text":%s}]}%s,"modelVersion":%s}`, quoted(text), rest, quoted(q.model))
	}
	const end = `,"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1200,"candidatesTokenCount":300}`
	if !q.stream {
		fmt.Fprint(w, chunk(a.text, end))
		return
	}
	pieces := words(a.text)
	for _, word := range pieces[:len(pieces)-1] {
		fmt.Fprintf(w, "data: %s\n\n", chunk(word, "}]"))
	}
	fmt.Fprintf(w, "data: %s\n\n", chunk(pieces[len(pieces)-1], end))
}

// ollama is /api/chat, a JSON object a line.
func ollama(w *strings.Builder, q asked, a answer) {
	const done = `"done":true,"done_reason":"stop","prompt_eval_count":1200,"eval_count":300`
	if !q.stream {
		fmt.Fprintf(w, `{"model":%s,"message":{"role":"assistant","content":%s},%s}`, quoted(q.model), quoted(a.text), done)
		return
	}
	for _, word := range words(a.text) {
		fmt.Fprintf(w, "{\"model\":%s,\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false}\n", quoted(q.model), quoted(word))
	}
	fmt.Fprintf(w, "{\"model\":%s,\"message\":{\"role\":\"assistant\",\"content\":\"\"},%s}\n", quoted(q.model), done)
}
