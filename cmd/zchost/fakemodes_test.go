package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// answer is one answer of a fake server.
type answer struct {
	server *server
	w      http.ResponseWriter
	r      *http.Request
	stream bool
}

// give answers in a mode:
//
//	ok            "Hello from NAME."
//	echo          what the person said last
//	cut-before    the connection breaks after the head
//	cut-after     it breaks after "Half from NAME"
//	silent        the head, then nothing
//	slow          "Half from NAME", then nothing
//	empty         a good end without text
//	reasoning     reasoning, then "Hello from NAME."
//	length        "Hello from NAME.", cut at the output limit
//	nosignal      a finish reason and the end, without [DONE]
//	escape        text that would act on a terminal
//	html          an HTML page with status 200
//	tool:NAME:ARGUMENTS   "Let me see.", then a call of that tool
//	401-echo      an error that repeats the key
//	NNN           an error with that status
func (a answer) give(mode string) {
	name := a.server.name
	if call, ok := strings.CutPrefix(mode, "tool:"); ok {
		tool, arguments, _ := strings.Cut(call, ":")
		a.useTool(tool, arguments)
		return
	}
	switch mode {
	case "ok":
		a.whole("stop", "Hello ", "from ", name+".")
	case "echo":
		a.whole("stop", a.said())
	case "cut-before":
		a.cut()
	case "cut-after":
		a.cut("Half ", "from "+name)
	case "silent":
		a.hang()
	case "slow":
		a.hang("Half ", "from "+name)
	case "empty":
		a.whole("stop")
	case "reasoning":
		a.reason()
	case "length":
		a.whole("length", "Hello ", "from ", name+".")
	case "nosignal":
		a.head()
		a.frame(delta("Hello from " + name + "."))
		a.frame(finish("stop"))
	case "escape":
		a.whole("stop", "a\x1b]0;ow", "ned\x07b\x1b[2Jc")
	case "html":
		a.w.Header().Set("Content-Type", "text/html")
		a.write("<html><body>Log in to the hotel's network</body></html>")
	case "401-echo":
		a.fail(http.StatusUnauthorized, "the key "+a.r.Header.Get("Authorization")+" is wrong")
	default:
		status, err := strconv.Atoi(mode)
		if err != nil {
			status = http.StatusTeapot
		}
		a.fail(status, "told to fail with "+mode)
	}
}

// said is the last message of the request, without its quotes.
func (a answer) said() string {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	body := a.server.seen[len(a.server.seen)-1].Body
	_, text, _ := strings.Cut(body[strings.LastIndex(body, `"content"`):], ":")
	return strings.Trim(strings.SplitN(text, "}", 2)[0], `" `)
}

// useTool calls a tool, in pieces if it is streamed.
func (a answer) useTool(name, arguments string) {
	call := func(arguments string) string {
		return `{"index":0,"id":"call_1","type":"function","function":{"name":` + quoted(name) + `,"arguments":` + quoted(arguments) + `}}`
	}
	if !a.stream {
		a.w.Header().Set("Content-Type", "application/json")
		a.write(`{"id":"r1","model":"served","choices":[{"index":0,"message":{"role":"assistant","content":"Let me see.","tool_calls":[` +
			call(arguments) + `]},"finish_reason":"tool_calls"}],` + usage + `}`)
		return
	}
	half := len(arguments) / 2
	a.head()
	a.frame(delta("Let me see."))
	a.frame(`{"id":"r1","model":"served","choices":[{"index":0,"delta":{"tool_calls":[` + call(arguments[:half]) + `]}}]}`)
	a.frame(`{"id":"r1","model":"served","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":` +
		quoted(arguments[half:]) + `}}]}}]}`)
	a.frame(finish("tool_calls"))
	a.frame(`{"id":"r1","model":"served","choices":[],` + usage + `}`)
	a.frame("[DONE]")
}

// whole answers completely, streamed or in one piece.
func (a answer) whole(reason string, pieces ...string) {
	if !a.stream {
		a.w.Header().Set("Content-Type", "application/json")
		a.write(fmt.Sprintf(`{"id":"r1","object":"chat.completion","model":"served","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":%s},"finish_reason":%q}],%s}`, quoted(strings.Join(pieces, "")), reason, usage))
		return
	}
	a.head()
	for _, p := range pieces {
		a.frame(delta(p))
	}
	a.frame(finish(reason))
	a.frame(`{"id":"r1","model":"served","choices":[],` + usage + `}`)
	a.frame("[DONE]")
}

const usage = `"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}`

func (a answer) reason() {
	a.head()
	a.frame(`{"id":"r1","choices":[{"index":0,"delta":{"reasoning_content":"Let me think."}}]}`)
	a.frame(delta("Hello from " + a.server.name + "."))
	a.frame(finish("stop"))
	a.frame("[DONE]")
}

// cut breaks the connection after these pieces.
func (a answer) cut(pieces ...string) {
	a.head()
	for _, p := range pieces {
		a.frame(delta(p))
	}
	panic(http.ErrAbortHandler)
}

// hang keeps the connection open after these pieces until the other side
// closes it.
func (a answer) hang(pieces ...string) {
	a.head()
	for _, p := range pieces {
		a.frame(delta(p))
	}
	<-a.r.Context().Done()
}

// head is the head of a good answer. That of one in a piece promises more than
// comes, so that it can be cut.
func (a answer) head() {
	if a.stream {
		a.w.Header().Set("Content-Type", "text/event-stream")
	} else {
		a.w.Header().Set("Content-Type", "application/json")
		a.w.Header().Set("Content-Length", "100000")
	}
	a.w.WriteHeader(http.StatusOK)
	a.flush()
}

func (a answer) frame(data string) {
	a.write("data: " + data + "\n\n")
	a.flush()
}

func (a answer) fail(status int, message string) {
	a.w.Header().Set("Content-Type", "application/json")
	a.w.WriteHeader(status)
	a.write(fmt.Sprintf(`{"error":{"message":%s,"type":"fake"}}`, quoted(message)))
}

func (a answer) write(s string) {
	if _, err := io.WriteString(a.w, s); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (a answer) flush() {
	if err := http.NewResponseController(a.w).Flush(); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func delta(text string) string {
	return `{"id":"r1","model":"served","choices":[{"index":0,"delta":{"content":` + quoted(text) + `}}]}`
}

func finish(reason string) string {
	return `{"id":"r1","model":"served","choices":[{"index":0,"delta":{},"finish_reason":` + quoted(reason) + `}]}`
}
