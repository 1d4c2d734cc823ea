package protocols

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// runCase is an answer with calls of the host's own tools.
type runCase struct {
	calls  []piece
	finish finish
	first  []string // in place of the wire's own stream: chat completions only
	// objects are in the second request, in this order.
	results []string
	// calls that were done.
	done int
	// state of the turn.
	state journal.State
}

// runCases are those of all protocols. The workspace has the files a.txt and
// b.txt.
func runCases() map[string]runCase {
	read := func(id, file string) piece { return called(id, "read_file", `{"path":"`+file+`.txt"}`) }
	write := called("w", "write_file", `{"path":"new.txt","content":"new"}`)
	return map[string]runCase{
		// Each call has its own result, in the order of the calls.
		"two":     {calls: []piece{read("x", "a"), read("y", "b")}, finish: calls, results: []string{"contents of a", "contents of b"}, done: 2, state: journal.Complete},
		"same-id": {calls: []piece{read("x", "b"), read("x", "a")}, finish: calls, results: []string{"contents of b", "contents of a"}, done: 2, state: journal.Complete},
		"no-id":   {calls: []piece{read("", "a"), read("", "b")}, finish: calls, results: []string{"contents of a", "contents of b"}, done: 2, state: journal.Complete},
		"as-stop": {calls: []piece{read("x", "a"), write}, finish: stop, results: []string{"contents of a", ""}, done: 2, state: journal.Complete},
		"no-such": {calls: []piece{called("x", "remove_file", `{"path":"a.txt"}`), read("y", "b")}, finish: calls, results: []string{"remove_file", "contents of b"}, done: 1, state: journal.Complete},
		"no-path": {calls: []piece{called("x", "read_file", ""), read("y", "b")}, finish: calls, results: []string{"path", "contents of b"}, done: 1, state: journal.Complete},
		// C030, C152: nothing of an answer that was cut off runs.
		"C030-limit": {calls: []piece{{text: "I write."}, write}, finish: length, state: journal.Incomplete},
	}
}

// The tools that a model calls run, each call once, with its own result beside
// it in the next request (STR-6, C022 to C030).
func TestToolsRun(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		for _, noStream := range []bool{false, true} {
			t.Run(w.plugin()+"/"+modeOf(!noStream), func(t *testing.T) {
				t.Parallel()
				runCalls(t, w, runCases(), noStream)
			})
		}
	}
	t.Run("openai-chat/dialects", func(t *testing.T) {
		t.Parallel()
		fn := func(rest, file string) string {
			return `{` + rest + `"function":{"name":"read_file","arguments":"{\"path\":\"` + file + `.txt\"}"}}`
		}
		both := func(chunks ...string) runCase {
			return runCase{first: deltas("tool_calls", chunks...), results: []string{"contents of a", "contents of b"}, done: 2, state: journal.Complete}
		}
		runCalls(t, chat{}, map[string]runCase{
			"C022-no-index": both(fn(`"id":"x",`, "a"), fn(`"id":"y",`, "b")),
			"C022-index-0":  both(fn(`"index":0,"id":"x",`, "a"), fn(`"index":0,"id":"y",`, "b")),
			"C022-nothing":  both(fn(``, "a"), fn(``, "b")),
			"C024-interleaved": both(
				`{"index":0,"id":"x","function":{"name":"read_file","arguments":""}}`, `{"index":1,"id":"y","function":{"name":"read_file","arguments":""}}`,
				`{"index":0,"function":{"arguments":"{\"path\":"}}`, `{"index":1,"function":{"arguments":"{\"path\":"}}`,
				`{"index":1,"function":{"arguments":"\"b.txt\"}"}}`, `{"index":0,"function":{"arguments":"\"a.txt\"}"}}`),
			"C030-router": {
				first:   deltas("tool_calls", `{"index":0,"id":"x","function":{"name":"write_file","arguments":"{\"path\":\"new.txt\",\"content\":\"aaaa"}}`),
				results: []string{"cut off"}, state: journal.Complete,
			},
		}, false)
	})
}

func runCalls(t *testing.T, w wire, cases map[string]runCase, noStream bool) {
	v := startVendor(t, w)
	config := provider("p", v, 1, "")
	for name, c := range cases {
		r := reply{pieces: c.calls, finish: c.finish, in: 7, out: 3}
		switch {
		case c.first != nil:
			v.plays(name, stream(w, c.first...), better(w))
		case noStream:
			v.plays(name, jsonScript(200, w.whole(r)), better(w))
		default:
			v.plays(name, stream(w, w.streamed(r).all()), better(w))
		}
		config += agent("p", name, "", "tools = [\"read_file\", \"write_file\"]\napprove = \"never\"")
	}
	home := newHome(t, config)
	for name := range cases {
		space := filepath.Join(home, "workspace", name)
		if err := os.MkdirAll(space, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(space, file+".txt"), []byte("contents of "+file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	h := startHost(t, home)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := ask(t, h, turn.Message{Session: name, Agent: name, Surface: "cli", Text: "go", NoStream: noStream})
			if s.err != nil || s.turn.State != c.state {
				t.Fatalf("%v, %s, want %s: %s", s.err, s.turn.State, c.state, s.turn.Error.Message)
			}
			rows, err := h.Journal().Calls(t.Context(), s.turn.ID)
			if err != nil {
				t.Fatal(err)
			}
			done := 0
			for _, r := range rows {
				if r.State == journal.CallDone {
					done++
				}
			}
			if done != c.done {
				t.Errorf("%d calls are done, want %d: %+v", done, c.done, rows)
			}
			wrote := name == "as-stop"
			if _, err := os.Stat(filepath.Join(home, "workspace", name, "new.txt")); (err == nil) != wrote {
				t.Errorf("new.txt: %v; it should be there: %v", err, wrote)
			}
			checkResults(t, v, name, c)
		})
	}
}

// checkResults looks for the results in the second request, which a strict
// server must take.
func checkResults(t *testing.T, v *vendor, name string, c runCase) {
	t.Helper()
	requests := v.asked(name)
	if c.results == nil {
		if len(requests) != 1 {
			t.Errorf("%d requests, want 1", len(requests))
		}
		return
	}
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	body := requests[1].body
	if err := strict(v.wire, body); err != nil {
		t.Errorf("a strict server refuses it: %v\n%s", err, indented(body))
	}
	results := resultsOf(t, body)
	if len(results) != len(c.results) {
		t.Fatalf("%d results, want %d: %q", len(results), len(c.results), results)
	}
	for i, want := range c.results {
		if !strings.Contains(results[i], want) {
			t.Errorf("result %d is %q, want %q in it", i+1, results[i], want)
		}
	}
}

// resultsOf returns the results of tools in a request of any protocol, as JSON
// or text, in order.
func resultsOf(t *testing.T, body string) (all []string) {
	t.Helper()
	n, err := parse(body)
	if err != nil {
		t.Fatal(err)
	}
	n.walk(func(v node) {
		switch {
		case v.str("role") == "tool", v.str("type") == "tool_result":
			all = append(all, fmt.Sprint(v.get("content")))
		case v.str("type") == "function_call_output":
			all = append(all, v.str("output"))
		case v.has("functionResponse"):
			all = append(all, fmt.Sprint(v.get("functionResponse", "response")))
		}
	})
	return all
}
