package main

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const meta = "meta r1 m"

// streamCases are the cases of chat completions in the catalogue of failures
// that people met, and further inputs of the same kinds. What a case says about
// framing, clocks and outcome is the host's; here is what the frames mean.
func streamCases() map[string]struct{ stream, want string } {
	return map[string]struct{ stream, want string }{
		"plain answer": {
			block(`{"role":"assistant","content":""}`, "null") + txt("Hel") + txt("lo") + fin("stop") + use(3, 2) + done,
			lines(meta, "text Hel", "text lo", "finish stop (stop)", "usage in=3 out=2", "done"),
		},
		"C004 U+FEFF in the content stays": {txt("a\uFEFFb"), lines(meta, "text a\uFEFFb")},
		"C006 blank frames are skipped": {
			"data:\n\n" + "data: \n\n" + txt("ok") + "data:\n\n" + fin("stop") + done,
			lines(meta, "text ok", "finish stop (stop)", "done"),
		},
		"C006 text that is not JSON is an error": {
			"data: <html>busy</html>\n\n",
			"failure server code= a frame of the stream is not JSON: <html>busy</html>",
		},
		"C008 characters of three and four bytes": {txt("漢字🚲"), lines(meta, "text 漢字🚲")},
		"C008 halves in two chunks":               {esc(`1\ud83d`) + esc(`\udeb22`) + fin("stop"), lines(meta, "text 1", "text 🚲2", "finish stop (stop)")},
		"C008 halves alone, and others around":    {esc(`\uD83D`) + use(1, 1) + esc(``) + block(`{"content":null}`, "null") + esc(`\uDEB2`), lines(meta, "usage in=1 out=1", "text 🚲")},
		"C008 many halves":                        {esc(`\ud83d`) + esc(`\udeb2\ud83d`) + esc(`\udeb2\ud83d`) + esc(`\udeb2.`), lines(meta, "text 🚲", "text 🚲", "text 🚲.")},
		"C008 a half, then a plain character":     {esc(`\ud83d`) + txt("x"), lines(meta, "text \uFFFDx")},
		"C008 a half, then a high half":           {esc(`\ud83d`) + esc(`\ud83d`) + esc(`\udeb2`), lines(meta, "text \uFFFD", "text 🚲")},
		"C008 a low half alone":                   {esc(`\udeb2`), lines(meta, "text \uFFFD")},
		"C008 a half, then finish":                {esc(`a\ud83d`) + fin("stop") + done, lines(meta, "text a", "text \uFFFD", "finish stop (stop)", "done")},
		"C008 a half with finish":                 {block(`{"content":"a\ud83d"}`, `"stop"`) + done, lines(meta, "text a\uFFFD", "finish stop (stop)", "done")},
		"C008 a half, then [DONE]":                {esc(`a\ud83d`) + block(`{"reasoning":"\ud83d"}`, "null") + done, lines(meta, "text a", "reasoning \uFFFD", "text \uFFFD", "done")},
		"C008 a half after finish":                {fin("stop") + esc(`\ud83d`) + done, lines(meta, "finish stop (stop)", "text \uFFFD", "done")},
		"C008 a half, then a failure":             {esc(`a\ud83d`) + fin("error") + `data: {"error":"BOOM"}` + "\n\n", lines(meta, "text a", "failure server code=error the provider ended the answer with finish_reason error", "failure server code= BOOM")},
		"C008 a half, then a call":                {esc(`\ud83d`) + tc(args("{}")), lines(meta, "text \uFFFD", "call 0 id= name= {}")},
		"C008 halves without id and model": {
			`data: {"choices":[{"delta":{"content":"\ud83d"}}]}` + "\n\n" + esc(`\udeb2`), lines(meta, "text 🚲"),
		},
		"C008 halves of a refusal": {
			block(`{"refusal":"\ud83d"}`, "null") + block(`{"refusal":"\udeb2"}`, "null") + fin("stop"), lines(meta, "text 🚲", "finish refusal (stop)"),
		},
		"C008 halves in another choice": {
			esc(`\ud83d`) + `data: {"choices":[{"delta":{"content":"\udeb2"},"index":1},{"delta":{"content":"\udeb2"}}]}` + "\n\n", lines(meta, "text 🚲"),
		},
		"C008 halves of reasoning": {
			block(`{"reasoning":"a\ud83d"}`, "null") + block(`{"reasoning":"\udeb2b"}`, "null") + txt("c"), lines(meta, "reasoning a", "reasoning 🚲b", "text c"),
		},
		"C008 halves of reasoning, twice": {
			block(`{"reasoning_content":"\ud83d","reasoning":"\ud83d"}`, "null") + block(`{"reasoning_content":"","reasoning":""}`, "null") +
				block(`{"reasoning":"\udeb2","reasoning_content":"\udeb2"}`, "null"),
			lines(meta, "reasoning 🚲"),
		},
		"C008 halves of reasoning_details": {
			block(`{"reasoning_details":[{"type":"reasoning.text","text":"\ud83d"}]}`, "null") + block(`{"reasoning_details":[{"type":"reasoning.text","text":"\udeb2"}]}`, "null"),
			lines(meta, "reasoning 🚲"),
		},
		"C008 a half of reasoning, then a signature": {
			block(`{"reasoning":"\ud83d"}`, "null") + block(`{"reasoning_details":[{"signature":"S"}]}`, "null"),
			lines(meta, "reasoning \uFFFD", `signature {"signature":"S"}`),
		},
		"C008 halves of Mistral's parts": {
			block(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"\ud83d"},{"type":"text","text":"\udeb2\ud83d"}]}]}`, "null") +
				block(`{"content":[{"type":"thinking","thinking":"\udeb2"},{"type":"text","text":"\ud83d"}]}`, "null") + esc(`\udeb2`),
			lines(meta, "reasoning 🚲", "reasoning 🚲", "text 🚲"),
		},
		"C008 a half of reasoning, then text": {block(`{"reasoning":"\ud83d"}`, "null") + txt("a"), lines(meta, "reasoning \uFFFD", "text a")},
		"C008 a half of text, then reasoning": {esc(`\ud83d`) + block(`{"reasoning":"hm"}`, "null") + esc(`\udeb2`), lines(meta, "reasoning hm", "text 🚲")},
		"C012 the last frame has no blank line": {
			txt("Hi") + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
			lines(meta, "text Hi", "finish stop (stop)"),
		},
		"C012 half a frame gives nothing of it": {
			txt("Hi") + `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_re`,
			lines(meta, "text Hi", `failure server code= a frame of the stream is not JSON: {"choices":[{"index":0,"delta":{"content":"x"},"finish_re`),
		},
		"C016 no finish reason and no signal are made up": {txt("The total is 4"), lines(meta, "text The total is 4")},
		"C018 error object beside empty choices": {
			`data: {"id":"r1","choices":[],"error":{"code":502,"message":"no free slot"}}` + "\n\n" + done,
			lines("meta r1 ", "failure server code=502 no free slot", "done"),
		},
		"C018 the code decides: 400": {
			`data: {"error":{"code":400,"message":"bad"}}` + "\n\n", "failure invalid_request code=400 bad",
		},
		"C018 the code decides: 429 as text": {
			`data: {"error":{"code":"429","message":"slow"}}` + "\n\n", "failure rate_limited code=429 slow",
		},
		"C018 error string":      {`data: {"error":"BOOM"}` + "\n\n", "failure server code= BOOM"},
		"C018 error event":       {"event: error\ndata: {\"message\":\"BOOM\"}\n\n", "failure server code= BOOM"},
		"C018 error event, text": {"event: error\ndata: BOOM\n\n", "failure server code= the provider reported an error: BOOM"},
		"C018 vLLM's error": {
			`data: {"object":"error","message":"engine","type":"InternalServerError","code":500}` + "\n\n",
			"failure server code=500 engine",
		},
		"C018 OpenRouter's error after some text": {
			txt("Hi") + `data: {"id":"r1","error":{"code":"server_error","message":"gone"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n",
			lines(meta, "text Hi", "failure server code=server_error gone"),
		},
		"C018 error of the choice": {
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":503,"message":"full"}}]}` + "\n\n",
			"failure overloaded code=503 full",
		},
		"C018 no error: null, false, empty": {
			`data: {"error":null,"choices":[]}` + "\n\n" + `data: {"error":{}}` + "\n\n" + `data: {"error":false}` + "\n\n" + `data: {"error":""}` + "\n\n", "",
		},
		"C022 no index": {
			tc(`{"id":"a","type":"function","function":{"name":"up","arguments":"{\"x\":1}"}}`) +
				tc(`{"id":"b","type":"function","function":{"name":"down","arguments":"{\"x\":2}"}}`) + fin("tool_calls") + done,
			lines(meta, `call - id=a name=up {"x":1}`, `call - id=b name=down {"x":2}`, "finish tool_calls (tool_calls)", "done"),
		},
		"C022 no index, both in one chunk": {
			tc(`{"id":"a","function":{"name":"up","arguments":"{}"}},{"id":"b","function":{"name":"down","arguments":"{}"}}`),
			lines(meta, `call - id=a name=up {}`, `call - id=b name=down {}`),
		},
		"C022 a null index is none": {tc(`{"index":null,"id":"a","function":{"name":"f"}}`), lines(meta, "call - id=a name=f ")},
		"C024 pieces in turns": {
			tc(`{"index":0,"id":"a","function":{"name":"t1","arguments":""}}`) + tc(`{"index":1,"id":"b","function":{"name":"t2","arguments":""}}`) +
				tc(`{"index":0,"function":{"arguments":"{\"target\":\"A\"}"}}`) + tc(`{"index":1,"function":{"arguments":"{\"target\":\"B\"}"}}`) + fin("tool_calls"),
			lines(meta, "call 0 id=a name=t1 ", "call 1 id=b name=t2 ", `call 0 id= name= {"target":"A"}`, `call 1 id= name= {"target":"B"}`,
				"finish tool_calls (tool_calls)"),
		},
		"C028 arguments empty, missing, null, blank, an object": {
			tc(`{"index":0,"id":"a","function":{"name":"s","arguments":""}},{"index":1,"id":"b","function":{"name":"s"}},`+
				`{"index":2,"id":"c","function":{"name":"s","arguments":null}},{"index":3,"id":"d","function":{"name":"s","arguments":"   "}},`+
				`{"index":4,"id":"e","function":{"name":"s","arguments":{"x": 1}}}`) + fin("tool_calls"),
			lines(meta, "call 0 id=a name=s ", "call 1 id=b name=s ", "call 2 id=c name=s ", "call 3 id=d name=s    ", `call 4 id=e name=s {"x": 1}`,
				"finish tool_calls (tool_calls)"),
		},
		"C030 arguments cut by the limit are passed on as they are": {
			tc(args(`{"content":"aaaa`)) + fin("tool_calls") + use(50, 300),
			lines(meta, `call 0 id= name= {"content":"aaaa`, "finish tool_calls (tool_calls)", "usage in=50 out=300"),
		},
		"C032 pieces end inside escapes": {
			tc(args(`{"t":"a\`)) + tc(args(`n\u00`)) + tc(args(`e9 \ud83c`)) + tc(args(`\udf0d\"q\""}`)),
			lines(meta, `call 0 id= name= {"t":"a\`, `call 0 id= name= n\u00`, `call 0 id= name= e9 \ud83c`, `call 0 id= name= \udf0d\"q\""}`),
		},
		"legacy function_call": {
			block(`{"function_call":{"name":"f","arguments":""}}`, "null") + block(`{"function_call":{"arguments":"{}"}}`, "null") + fin("function_call"),
			lines(meta, "call 0 id= name=f ", "call 0 id= name= {}", "finish tool_calls (function_call)"),
		},
		"C034 only reasoning is no text": {
			block(`{"reasoning_content":"the user greets me; "}`, "null") + block(`{"reasoning_content":"hm","content":null}`, "null") + fin("stop") + done,
			lines(meta, "reasoning the user greets me; ", "reasoning hm", "finish stop (stop)", "done"),
		},
		"C034 reasoning":             {block(`{"content":"","reasoning":"hm"}`, "null"), lines(meta, "reasoning hm")},
		"C034 reasoning, twice":      {block(`{"reasoning":"hm","reasoning_content":"hm"}`, "null"), lines(meta, "reasoning hm")},
		"C034 reasoning_details":     {block(`{"reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`, "null"), lines(meta, "reasoning hm")},
		"C034 reasoning and details": {block(`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`, "null"), lines(meta, "reasoning hm")},
		"C034 <think> is left alone": {txt("<think>hm</think>Hi"), lines(meta, "text <think>hm</think>Hi")},
		"C034 Mistral's array":       {block(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Hi"}]}`, "null"), lines(meta, "reasoning hm", "text Hi")},
		"C034 reasoning before text": {block(`{"content":"Hi","reasoning":"hm"}`, "null"), lines(meta, "reasoning hm", "text Hi")},
		"STR-8 signature as it was": {
			block(`{"reasoning_details":[{"type":"reasoning.text", "signature":"S\u0031","text":null}]}`, "null"),
			lines(meta, `signature {"type":"reasoning.text", "signature":"S\u0031","text":null}`),
		},
		"C036 usage so far in each chunk": {
			txt("a") + use(31, 20) + txt("b") + use(31, 45) + fin("stop") + use(31, 90) + use(31, 90) + done,
			lines(meta, "text a", "usage in=31 out=20", "text b", "usage in=31 out=45", "finish stop (stop)", "usage in=31 out=90", "usage in=31 out=90", "done"),
		},
		"CST-2 unknown usage is not zero": {
			`data: {"choices":[],"usage":null}` + "\n\n" + use(0, 0) + `data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":null}}` + "\n\n",
			lines("meta r1 ", "usage in=7"),
		},
		"usage in detail": {
			`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":8,"prompt_tokens_details":{"cached_tokens":7,"cache_write_tokens":1},"completion_tokens_details":{"reasoning_tokens":6}}}` + "\n\n",
			"usage in=9 out=8 read=7 write=1 reasoning=6",
		},
		"usage of DeepSeek": {`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":8,"prompt_cache_hit_tokens":5}}` + "\n\n", "usage in=9 out=8 read=5"},
		"usage of Groq": {
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"q","usage":{"prompt_tokens":1,"completion_tokens":2}}}` + "\n\n",
			lines("usage in=1 out=2", "finish stop (stop)"),
		},
		"usage of Moonshot, in the choice": {
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2}}]}` + "\n\n",
			lines("usage in=1 out=2", "finish stop (stop)"),
		},
		"timings of llama.cpp, with its order of members": {
			`data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"id":"r1","model":"m"}` + "\n\n" +
				`data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"timings":{"cache_n":10,"prompt_n":2,"predicted_n":5,"prompt_ms":1.5}}` + "\n\n",
			lines(meta, "usage in=12 out=5 read=10", "finish stop (stop)"),
		},
		"usage knows better than timings": {
			`data: {"choices":[],"timings":{"prompt_n":2,"predicted_n":5},"usage":{"prompt_tokens":12,"completion_tokens":5}}` + "\n\n", "usage in=12 out=5",
		},
		"C146 eos":              {fin("eos"), lines(meta, "finish unknown (eos)")},
		"C146 sensitive":        {fin("sensitive"), lines(meta, "finish content_filter (sensitive)")},
		"C146 empty reason":     {block(`{"content":"a"}`, `""`) + txt("b"), lines(meta, "text a", "text b")},
		"C146 network_error":    {fin("network_error"), lines(meta, "failure server code=network_error the provider ended the answer with finish_reason network_error")},
		"C146 function_call":    {fin("function_call"), lines(meta, "finish tool_calls (function_call)")},
		"C146 two reasons":      {fin("stop") + fin("stop") + done, lines(meta, "finish stop (stop)", "finish stop (stop)", "done")},
		"C146 text after":       {fin("stop") + txt("more"), lines(meta, "finish stop (stop)", "text more")},
		"C146 only a role":      {block(`{"role":"assistant","content":null}`, "null"), meta},
		"C146 calls and stop":   {tc(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`) + fin("stop"), lines(meta, "call 0 id=a name=f {}", "finish stop (stop)")},
		"C146 no calls":         {fin("tool_calls") + done, lines(meta, "finish tool_calls (tool_calls)", "done")},
		"C146 another choice":   {`data: {"choices":[{"index":1,"delta":{"content":"no","tool_calls":[{"id":"x"}]},"finish_reason":"length"}]}` + "\n\n", ""},
		"C146 index behind":     {`data: {"choices":[{"delta":{"content":"no"},"finish_reason":"length","index":1},{"delta":{"content":"yes"},"index":0}]}` + "\n\n", "text yes"},
		"C146 no index":         {`data: {"choices":[{"delta":{"content":"yes"}}]}` + "\n\n", "text yes"},
		"STR-5 length":          {fin("length"), lines(meta, "finish length (length)")},
		"STR-5 content_filter":  {fin("content_filter"), lines(meta, "finish content_filter (content_filter)")},
		"STR-5 upper case":      {fin("MAX_TOKENS"), lines(meta, "finish length (MAX_TOKENS)")},
		"STR-5 refusal":         {block(`{"refusal":"I can"}`, "null") + block(`{"refusal":"not"}`, "null") + fin("stop"), lines(meta, "text I can", "text not", "finish refusal (stop)")},
		"C148 a vendor's event": {txt("a") + "event: vendor.progress\ndata: {\"tool\":\"x\"}\n\n" + "event: ping\ndata: still here\n\n" + txt("b"), lines(meta, "text a", "text b")},
		"C148 named message":    {"event: message\n" + txt("a"), lines(meta, "text a")},
		"C148 after [DONE]":     {done + done + txt("a"), lines("done", "done", meta, "text a")},
		"Azure's first chunk": {
			`data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}` + "\n\n" + txt("a"),
			lines(meta, "text a"),
		},
		"a whole message in place of deltas": {
			`data: {"id":"r1","model":"m","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"all"},"finish_reason":"stop"}]}` + "\n\n" + done,
			lines(meta, "text all", "finish stop (stop)", "done"),
		},
		"a message beside the delta is not read twice": {`data: {"choices":[{"message":{"content":"so far"},"delta":{"content":"far"}}]}` + "\n\n", "text far"},
		"members of other kinds": {
			`data: {"id":1,"model":[],"choices":[7,{"index":"0","delta":[],"finish_reason":3},{"delta":{"content":{"a":1},"tool_calls":"x","reasoning":[]}}],"usage":"no","timings":1,"x_groq":2}` + "\n\n" +
				"data: 17\n\ndata: null\n\ndata: \"text\"\n\n", "",
		},
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for name, c := range streamCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, decode(t, frames(c.stream))); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGroupsOfFrames: however the frames are spread over calls, the events are
// the same (STR-2, as far as it is the plugin's).
func TestGroupsOfFrames(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, c := range streamCases() {
		all := frames(c.stream)
		for range 5 {
			var groups [][]frame
			for from := 0; from < len(all); {
				n := 1 + random.IntN(len(all)-from)
				groups = append(groups, all[from:from+n])
				from += n
			}
			if diff := cmp.Diff(c.want, decode(t, groups...)); diff != "" {
				t.Errorf("%s in %d calls (-want +got):\n%s", name, len(groups), diff)
			}
		}
	}
}
