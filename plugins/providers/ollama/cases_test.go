package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	meta = "meta m"
	used = "usage in=3 out=2"
)

// streamCases are the cases of Ollama's API in the catalogue of failures that
// people met, and further inputs of the same kinds. What a case says about
// framing, clocks and outcome is the host's; here is what the lines mean.
func streamCases() map[string]struct{ stream, want string } {
	return map[string]struct{ stream, want string }{
		"C046 text": {
			`{"message":{"content":"a"},"done":false}` + "\n" + `{"message":{"content":"b"},"done":false}` + "\n" +
				`{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}`,
			lines("text a", "text b", used, "finish stop (stop)", "done"),
		},
		"C046 calls have no id, their arguments are objects": {
			tc(`{"function":{"name":"up","arguments":{"x": 1}}},{"function":{"name":"up","arguments":{"x": 1}}}`) + tc(`{"function":{"index":0,"name":"down","arguments":{}}}`) + fin("stop"),
			lines(meta, `call 0 id= name=up {"x": 1}`, `call 1 id= name=up {"x": 1}`, "call 2 id= name=down {}", used, "finish tool_calls (stop)", "done"),
		},
		"C022 ids and constant indexes": {
			tc(`{"id":"a","function":{"index":0,"name":"f","arguments":{}}}`) + tc(`{"id":"b","function":{"index":0,"name":"f","arguments":{}}}`),
			lines(meta, "call 0 id=a name=f {}", "call 1 id=b name=f {}"),
		},
		"C028 arguments missing, null, empty, a text": {
			tc(`{"function":{"name":"s"}},{"function":{"name":"s","arguments":null}},{"function":{"name":"s","arguments":""}},{"function":{"name":"s","arguments":"{\"x\":1}"}}`),
			lines(meta, "call 0 id= name=s ", "call 1 id= name=s ", "call 2 id= name=s ", `call 3 id= name=s {"x":1}`),
		},
		"calls with the end": {
			`{"model":"m","message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":true,"done_reason":"stop"}`,
			lines(meta, "call 0 id= name=f {}", "finish tool_calls (stop)", "done"),
		},
		"C008 characters of three and four bytes": {txt("漢字🚲"), lines(meta, "text 漢字🚲")},
		"C008 halves in two lines":                {esc(`1\ud83d`) + esc(`\udeb22`) + fin("stop"), lines(meta, "text 1", "text 🚲2", used, "finish stop (stop)", "done")},
		"C008 halves of thinking, then of text":   {think(`\ud83d`) + think(`\udeb2\ud83d`) + esc(`\ud83d`) + esc(`\udeb2`), lines(meta, "reasoning 🚲", "reasoning \uFFFD", "text 🚲")},
		"C008 a half, then the end":               {esc(`a\ud83d`) + fin("stop"), lines(meta, "text a", "text \uFFFD", used, "finish stop (stop)", "done")},
		"C008 a half, then a call":                {esc(`\ud83d`) + tc(`{"function":{"name":"f"}}`), lines(meta, "text \uFFFD", "call 0 id= name=f ")},
		"C008 halves around a call's line":        {tc(`{"function":{"name":"f"}}`) + esc(`\ud83d`) + esc(`\udeb2`) + tc(`{"function":{"name":"g"}}`), lines(meta, "call 0 id= name=f ", "text 🚲", "call 1 id= name=g ")},
		"C008 a half, then an error":              {esc(`a\ud83d`) + `{"error":"BOOM"}`, lines(meta, "text a", "failure server BOOM")},
		"C012 half a line gives nothing of it": {
			txt("Hi") + `{"model":"m","message":{"content":"x"},"do`,
			lines(meta, "text Hi", `failure server a line of the stream is not JSON: {"model":"m","message":{"content":"x"},"do`),
		},
		"C016 no end is made up":            {txt("The total is 4"), lines(meta, "text The total is 4")},
		"C018 error in a line":              {txt("Hi") + `{"error":"BOOM"}`, lines(meta, "text Hi", "failure server BOOM")},
		"C018 error first":                  {`{"error":"BOOM"}`, "failure server BOOM"},
		"C018 a number decides":             {`{"error":"slow down","StatusCode":429}`, "failure rate_limited slow down"},
		"C018 a proxy's error":              {`{"error":{"message":"full","code":503}}`, "failure overloaded full"},
		"C018 an error is no end":           {`{"error":"BOOM","done":true,"done_reason":"stop"}`, "failure server BOOM"},
		"C018 no error: null, false, empty": {`{"error":null}` + "\n" + `{"error":false}` + "\n" + `{"error":""}` + "\n" + `{"error":{}}`, ""},
		"C018 an error that tells nothing":  {`{"error":{"x":1}}`, `failure server the server reported an error: {"error":{"x":1}}`},
		"C034 only thinking is no text":     {think("hm") + fin("stop"), lines(meta, "reasoning hm", used, "finish stop (stop)", "done")},
		"C034 thinking before text":         {say(`"content":"Hi","thinking":"hm"`), lines(meta, "reasoning hm", "text Hi")},
		"C034 thinking of an imitation":     {say(`"content":"","reasoning_content":"hm"`), lines(meta, "reasoning hm")},
		"C034 <think> is left alone":        {txt("<think>hm</think>Hi"), lines(meta, "text <think>hm</think>Hi")},
		"C146 length":                       {fin("length"), lines(meta, used, "finish length (length)", "done")},
		"C146 load":                         {fin("load"), lines(meta, used, "finish unknown (load)", "done")},
		"C146 unknown":                      {fin("eos"), lines(meta, used, "finish unknown (eos)", "done")},
		"C146 none, from old servers":       {`{"model":"m","done":true}`, lines(meta, "finish unknown ()", "done")},
		"C146 length with calls":            {tc(`{"function":{"name":"f","arguments":{}}}`) + fin("length"), lines(meta, "call 0 id= name=f {}", used, "finish length (length)", "done")},
		"C146 a reason that is none":        {`{"done":true,"done_reason":7}`, lines("finish unknown ()", "done")},
		"C148 lines of another kind":        {`{"status":"loading"}` + "\n" + txt("Hi") + `{"tool":"x"}` + "\n" + `[]`, lines(meta, "text Hi")},
		"CST-2 unknown usage is not zero":   {`{"done":true,"done_reason":"stop","prompt_eval_count":0,"eval_count":0}`, lines("finish stop (stop)", "done")},
		"CST-2 a prompt that was not evaluated": {
			`{"done":true,"done_reason":"stop","eval_count":2}`, lines("usage out=2", "finish stop (stop)", "done"),
		},
		"members in another order": {
			`{"done_reason":"stop","eval_count":2,"done":true,"prompt_eval_count":3,"message":{"content":"a"},"model":"m"}`,
			lines(meta, "text a", used, "finish stop (stop)", "done"),
		},
		"members of another kind": {
			`{"model":7,"message":[],"done":"no","eval_count":"x"}` + "\n" + `{"message":{"content":{},"thinking":1,"tool_calls":{}}}` + "\n" + `{"message":{"tool_calls":[7,{"id":1,"function":[]}]}}`,
			"call 0 id= name= ",
		},
	}
}

func TestStreamCases(t *testing.T) {
	t.Parallel()
	for name, c := range streamCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := frames(c.stream)
			if diff := cmp.Diff(c.want, decode(t, all)); diff != "" {
				t.Errorf("together (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, decode(t, slices.Collect(slices.Chunk(all, 1))...)); diff != "" {
				t.Errorf("one by one (-want +got):\n%s", diff)
			}
		})
	}
}

// An answer in one piece gives the events that a stream does.
func TestResponse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"text": {
			`{"model":"m","message":{"role":"assistant","content":"Hi","thinking":"hm"},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}`,
			lines(meta, "reasoning hm", "text Hi", used, "finish stop (stop)", "done"),
		},
		"calls": {
			`{"model":"m","message":{"content":"","tool_calls":[{"function":{"name":"f","arguments":{"x":1}}},{"function":{"name":"f","arguments":{"x":1}}}]},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}`,
			lines(meta, `call 0 id= name=f {"x":1}`, `call 1 id= name=f {"x":1}`, used, "finish tool_calls (stop)", "done"),
		},
		"length":                {`{"message":{"content":"Hi"},"done":true,"done_reason":"length"}`, lines("text Hi", "finish length (length)", "done")},
		"no done":               {`{"message":{"content":"Hi"}}`, lines("text Hi", "finish unknown ()", "done")},
		"C020 error":            {`{"error":"no such route"}`, "failure server no such route (check base_url)"},
		"C018 error beside all": {`{"error":"BOOM","message":{"content":"Hi"},"done":true}`, "failure server BOOM (check base_url)"},
		"C014 empty":            {"", "failure server HTTP 200 with an empty body (check base_url)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, err := chat{}.Response(response(200, c.body, ""))
			if diff := cmp.Diff(c.want, tell(events)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
