package host_test

import (
	"maps"
	"slices"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// cutOff is a refusal whose body breaks off.
func cutOff(status int, headers map[string]string) script {
	s := jsonAnswer(status, `{"error":{"code":"inv`)
	s.headers["Content-Length"] = "500"
	maps.Copy(s.headers, headers)
	s.end = closing
	return s
}

// ruleCases are cases of single rules, named after them.
func ruleCases() map[string]chatCase {
	plain := txt("Hi") + fin("stop") + doneSignal
	once := "stream complete"
	return map[string]chatCase{
		"STR1-nofin": {scripts: []script{stream(txt("Hi"), doneSignal)}, state: journal.Complete, text: "Hi", outcomes: once},
		"STR1-open":  {scripts: []script{{pieces: []string{txt("Hi"), fin("stop") + doneSignal}, end: silence}}, state: journal.Complete, text: "Hi", outcomes: once},
		"STR1-signal": {
			scripts: []script{stream(txt("Hi"), fin("stop"))}, knobs: `completion = "signal"`,
			state: journal.Interrupted, text: "Hi", outcomes: "stream truncated",
		},
		"STR3-idle": {
			scripts: []script{{pieces: []string{txt("Hi")}, end: silence}}, knobs: `idle_timeout = "200ms"`,
			state: journal.Interrupted, text: "Hi", outcomes: "stream timeout", mentions: "idle",
		},
		"STR3-progress": {
			scripts: []script{{pieces: slices.Repeat([]string{": ping\n\n"}, 100), gap: 10 * time.Millisecond, end: silence}},
			knobs:   "progress_timeout = \"200ms\"\nprovider_retries = 0",
			state:   journal.Failed, mentions: "progress",
		},
		"STR5-length": {scripts: []script{stream(txt("abc"), fin("length"), use(50, 300), doneSignal)}, state: journal.Incomplete, text: "abc", outcomes: "stream incomplete", usage: "50/300"},
		"local-ollama": {
			scripts: []script{stream(
				`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"llama3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}`+"\n\n",
				`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"llama3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}`+"\n\n",
				doneSignal,
			)},
			state: journal.Complete, text: "Hi", outcomes: once,
		},
		"STR1-silence": {
			scripts: []script{{pieces: []string{txt("Hi"), fin("stop")}, end: silence}},
			state:   journal.Complete, text: "Hi", outcomes: once, warning: "completion-signal-missing",
		},
		"STR1-half":  {scripts: []script{stream(txt("Hi"), fin("stop"), "data: [DO")}, state: journal.Complete, text: "Hi", outcomes: once, warning: "completion-signal-missing"},
		"STR1-after": {scripts: []script{stream(txt("Hi"), fin("stop"), txt(" there"), doneSignal)}, state: journal.Complete, text: "Hi there", outcomes: once},
		"STR1-late":  {scripts: []script{stream(txt("Hi") + fin("stop") + doneSignal + txt(" no"))}, state: journal.Complete, text: "Hi", outcomes: once},
		"REL3-crypt": { // what nobody can read is not visible
			scripts: []script{stream(chunk(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAA"}]}`, "null")), whole("again")},
			state:   journal.Complete, text: "again", outcomes: "stream truncated; whole complete",
		},
		"REL4-reasoning": {
			scripts: []script{stream(), jsonAnswer(200, `{"choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"hm","content":""},"finish_reason":"stop"}]}`)},
			state:   journal.Interrupted, outcomes: "stream truncated; whole empty",
		},
		"REL6-body": {
			scripts: []script{stream(`data: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow","details":[{"@type":"t","retryDelay":"86400s"}]}}` + "\n\n"), whole("too early")},
			state:   journal.Failed, outcomes: "stream rate_limited", mentions: "24h",
		},
		"REL6-past": {
			scripts: []script{{status: 500, headers: map[string]string{"Retry-After": "Mon, 01 Jan 2001 00:00:00 GMT"}, pieces: []string{"{}"}}, whole("ok")},
			state:   journal.Complete, text: "ok", outcomes: "stream server; whole complete",
		},
		"REL7-401-cut":    {scripts: []script{cutOff(401, nil)}, state: journal.Failed, outcomes: "stream auth", mentions: "(401)"},
		"REL6-429-cut":    {scripts: []script{cutOff(429, map[string]string{"Retry-After": "3600"})}, state: journal.Failed, outcomes: "stream rate_limited", mentions: "1h"},
		"REL7-400-silent": {scripts: []script{{status: 400, pieces: []string{`{"error":`}, end: silence}}, knobs: `idle_timeout = "200ms"`, state: journal.Failed, outcomes: "stream invalid_request"},
		"CST2-absurd": {
			scripts: []script{stream(txt("Hi"), fin("stop"), `data: {"choices":[],"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":1e300}}`+"\n\n", doneSignal)},
			state:   journal.Complete, text: "Hi", outcomes: once, usage: "-/-",
		},
		"text-nul":   {scripts: []script{stream(txt("a\x00b"), fin("stop")+doneSignal)}, state: journal.Complete, text: "a\x00b", outcomes: once},
		"text-half":  {scripts: []script{stream(chunk(`{"content":"a\ud83c b"}`, "null"), fin("stop")+doneSignal)}, state: journal.Complete, text: "a\uFFFD b", outcomes: once},
		"error-nul":  {scripts: []script{jsonAnswer(400, `{"error":{"code":"bad\u0000","message":"x\u0000y"}}`)}, state: journal.Failed, outcomes: "stream invalid_request"},
		"id-bytes":   {scripts: []script{{headers: map[string]string{"X-Request-Id": "a\xffb"}, pieces: []string{plain}}}, state: journal.Complete, text: "Hi", outcomes: once},
		"C146-twice": {scripts: []script{stream(txt("Hi"), fin("stop"), fin("length"), doneSignal)}, state: journal.Complete, text: "Hi", outcomes: once},
	}
}
