package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	meta  = "meta r1 m"
	usage = "usage in=3 out=2"
	stop  = "finish stop (completed)"
	calls = "finish tool_calls (completed)"
)

// The items of the cases.
const (
	msg       = `{"type":"message","id":"msg_0","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}`
	reasoning = `{"type":"reasoning", "id":"rs_1","summary":[{"type":"summary_text","text":"I\u0020think."}],"encrypted_content":"gAAA+/=="}`
	search    = `{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"weather"}}`
)

// streamCases are the cases of this protocol in the catalogue of failures that
// people met, and further inputs of the same kinds. What a case says about
// framing, clocks and outcome is the host's; here is what the frames mean.
func streamCases() map[string]struct{ stream, want string } {
	cases := callCases()
	for name, c := range itemCases() {
		cases[name] = c
	}
	for name, c := range map[string]struct{ stream, want string }{
		"plain answer": {
			created + added(0, `{"type":"message","id":"msg_0","role":"assistant","content":[]}`) + event("response.content_part.added", `"output_index":0`) +
				txt(0, "Hel") + txt(0, "lo") + event("response.output_text.done", `"item_id":"msg_0","output_index":0,"text":"Hello"`) + itemDone(0, msg) + completed(msg),
			lines(meta, `text 0 "Hel"`, `text 0 "lo"`, usage, stop, "done"),
		},
		"C004 U+FEFF in the content stays":        {txt(0, "a\uFEFFb"), "text 0 \"a\\ufeffb\""},
		"C006 blank frames are skipped":           {"data:\n\n" + "data: \n\n" + txt(0, "ok"), `text 0 "ok"`},
		"C006 text that is not JSON is an error":  {"data: <html>busy</html>\n\n", "failure server code= a frame of the stream is not JSON: <html>busy</html>"},
		"C008 characters of three and four bytes": {txt(0, "漢字🚲"), `text 0 "漢字🚲"`},
		"C008 halves in two pieces":               {esc(0, `1\ud83d`) + esc(0, `\udeb22`) + completed(""), lines(`text 0 "1"`, `text 0 "🚲2"`, meta, usage, stop, "done")},
		"C008 halves, and others around":          {esc(0, `\uD83D`) + esc(0, ``) + event("keepalive", "") + event("response.content_part.added", `"output_index":0`) + esc(0, `\uDEB2`), `text 0 "🚲"`},
		"C008 many halves":                        {esc(0, `\ud83d`) + esc(0, `\udeb2\ud83d`) + esc(0, `\udeb2.`), lines(`text 0 "🚲"`, `text 0 "🚲."`)},
		"C008 a half, then a plain character":     {esc(0, `\ud83d`) + txt(0, "x"), "text 0 \"\uFFFDx\""},
		"C008 a low half alone":                   {esc(0, `\udeb2`), "text 0 \"\uFFFD\""},
		"C008 a half, then the end of the item":   {esc(0, `a\ud83d`) + itemDone(0, msg), "text 0 \"a\"\ntext 0 \"\uFFFD\""},
		"C008 a half, then the end":               {esc(0, `a\ud83d`) + completed(""), lines(`text 0 "a"`, meta, usage, "text 0 \"\uFFFD\"", stop, "done")},
		"C008 a half, then a failure":             {esc(0, `a\ud83d`) + event("error", `"message":"BOOM"`), lines(`text 0 "a"`, "failure server code= BOOM")},
		"C008 a half, then another item":          {esc(0, `\ud83d`) + esc(1, `\udeb2`), lines("text 0 \"\uFFFD\"", "text 1 \"\uFFFD\"")},
		"C008 a half, then a call":                {esc(0, `\ud83d`) + added(1, fcall("fc_1", "c", "f", "")), lines("text 0 \"\uFFFD\"", "call 0 id=c name=f ")},
		"C008 halves of reasoning": {
			event("response.reasoning_text.delta", `"output_index":0,"delta":"a\ud83d"`) + event("response.reasoning_text.delta", `"output_index":0,"delta":"\udeb2"`) + esc(0, `b`), lines(`reasoning 0 "a"`, `reasoning 0 "🚲"`, `text 0 "b"`),
		},
		"C012 half a frame gives nothing of it":   {"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"x\n\n", `failure server code= a frame of the stream is not JSON: {"type":"response.output_text.delta","delta":"x`},
		"C016 no end is made up":                  {created + txt(0, "The total is 4") + itemDone(0, msg), lines(meta, `text 0 "The total is 4"`)},
		"C018 error event":                        {event("error", `"code":"server_error","message":"BOOM","param":null,"sequence_number":3`), "failure server code=server_error BOOM"},
		"C018 error event with an object":         {event("error", `"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"BOOM"}`), "failure context_overflow code=context_length_exceeded BOOM"},
		"C018 error event whose JSON has no type": {"event: error\ndata: {\"message\":\"BOOM\"}\n\n", "failure server code= BOOM"},
		"C018 error event, text":                  {"event: error\ndata: BOOM\n\n", "failure server code= the provider reported an error: BOOM"},
		"C018 error object alone":                 {`data: {"error":{"code":429,"message":"slow"}}` + "\n\n", "failure rate_limited code=429 slow"},
		"C018 no error: null, false, empty":       {"data: {\"error\":null}\n\n" + "data: {\"error\":{}}\n\n", ""},
		"C018 failed":                             {created + event("response.failed", `"response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow"},"usage":{"input_tokens":3,"output_tokens":2}}`), lines(meta, usage, "failure rate_limited code=rate_limit_exceeded slow")},
		"C018 failed, the server's fault":         {event("response.failed", `"response":{"status":"failed","error":{"code":"server_error","message":"BOOM"}}`), "failure server code=server_error BOOM"},
		"C018 failed, the prompt's fault":         {event("response.failed", `"response":{"status":"failed","error":{"code":"invalid_prompt","message":"no"}}`), "failure content_filtered code=invalid_prompt no"},
		"C018 failed, an image's fault":           {event("response.failed", `"response":{"status":"failed","error":{"code":"image_too_large","message":"no"}}`), "failure invalid_request code=image_too_large no"},
		"C018 failed without a word":              {event("response.failed", `"response":{"status":"failed","error":null}`), "failure server code= the provider ended the response with the status failed"},
		"C018 failed without a response":          {event("response.failed", ""), "failure server code= the provider ended the response with the status failed"},
		"C018 failed, in a completed event":       {event("response.completed", `"response":{"status":"failed","error":{"message":"no"}}`), "failure server code= no"},
		"C018 cancelled":                          {event("response.cancelled", `"response":{"status":"cancelled"}`), "failure server code= the provider ended the response with the status cancelled"},
		"C036 one usage, at the end":              {event("response.in_progress", `"response":{"usage":null}`) + completed(""), lines(meta, usage, stop, "done")},
		"CST-2 unknown usage is not zero":         {event("response.completed", `"response":{"status":"completed","usage":{"input_tokens":0,"output_tokens":0}}`), lines(stop, "done")},
		"usage in detail":                         {event("response.completed", `"response":{"status":"completed","usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":7},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":6},"total_tokens":17}}`), lines("usage in=9 out=8 read=7 reasoning=6", stop, "done")},
		"C044 incomplete by the limit":            {created + itemDone(0, reasoning) + event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[],"usage":{"input_tokens":5,"output_tokens":100}}`), lines(meta, `reasoning 0 "I think." opaque `+reasoning, "usage in=5 out=100", "finish length (max_output_tokens)", "done")},
		"C044 incomplete by the filter":           {event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`), lines("finish content_filter (content_filter)", "done")},
		"C044 incomplete for another reason":      {event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_tool_calls"}}`), lines("finish length (max_tool_calls)", "done")},
		"C044 incomplete, in a completed event":   {event("response.completed", `"response":{"status":"incomplete","incomplete_details":null}`), lines("finish length (incomplete)", "done")},
		"C044 incomplete without a response":      {event("response.incomplete", ""), lines("finish length (incomplete)", "done")},
		"C044 an open call":                       {added(0, fcall("fc_0", "c1", "w", "")) + args(0, "fc_0", `{"p":"a`) + event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`+strings.Replace(fcall("fc_0", "c1", "w", `{"p":"a`), "completed", "incomplete", 1)+`]}`), lines("call 0 id=c1 name=w ", `call 0 id= name= {"p":"a`, "finish length (max_output_tokens)", "done")},
		"C148 no names":                           {strings.ReplaceAll(strings.ReplaceAll(created+txt(0, "a")+completed(""), "event: response", "ignored: response"), "event: ", ""), lines(meta, `text 0 "a"`, usage, stop, "done")},
		"C148 named message":                      {"event: message\n" + strings.TrimPrefix(txt(0, "a"), "event: response.output_text.delta\n"), `text 0 "a"`},
		"C148 only names":                         {"event: response.output_text.delta\ndata: {\"delta\":\"a\",\"output_index\":0}\n\n", `text 0 "a"`},
		"C148 unknown types":                      {event("response.rate_limits", `"x":1`) + event("keepalive", "") + "event: vendor.progress\ndata: 50 %\n\n" + txt(0, "a"), `text 0 "a"`},
		"C148 a name and no data":                 {"event: response.created\n\n" + strings.TrimPrefix(created, "event: response.created\n"), meta},
		"C148 [DONE] at the end says nothing":     {txt(0, "a") + "data: [DONE]\n\n", `text 0 "a"`},
		"STR-5 refusal":                           {created + event("response.refusal.delta", `"item_id":"msg_0","output_index":0,"delta":"I can"`) + event("response.refusal.delta", `"item_id":"msg_0","output_index":0,"delta":"not"`) + completed(`{"type":"message","id":"msg_0","content":[{"type":"refusal","refusal":"I cannot"}]}`), lines(meta, `text 0 "I can"`, `text 0 "not"`, usage, "finish refusal (completed)", "done")},
		"STR-5 refusal, whole":                    {completed(`{"type":"message","id":"msg_0","content":[{"type":"refusal","refusal":"I cannot"}]}`), lines(meta, `text 0 "I cannot"`, usage, "finish refusal (completed)", "done")},
		"STR-4 a whole response in a frame":       {`data: {"object":"response","id":"r1","model":"m","status":"completed","error":null,"output":[` + msg + `]}` + "\n\n", lines(meta, `text 0 "Hello"`, stop, "done")},
		"members of other kinds":                  {`data: {"type":1,"delta":{},"output_index":"0","item":[],"response":1}` + "\n\n" + event("response.output_text.delta", `"delta":[]`) + event("response.output_item.added", `"item":{"type":[]}`) + event("response.output_item.done", `"item":"x"`) + event("response.created", `"response":[]`) + "data: 17\n\ndata: null\n\ndata: \"text\"\n\n", ""},
		"a place out of this world":               {event("response.output_text.delta", `"delta":"a","output_index":-1`) + event("response.output_text.delta", `"delta":"b","output_index":1e300`), lines(`text - "a"`, `text - "b"`)},
	} {
		cases[name] = c
	}
	return cases
}

// callCases are those about calls (STR-6).
func callCases() map[string]struct{ stream, want string } {
	return map[string]struct{ stream, want string }{
		"C024 pieces in turns": {
			added(0, fcall("fc_0", "a", "t1", "")) + added(1, fcall("fc_1", "b", "t2", "")) + args(0, "fc_0", `{"x":`) + args(1, "fc_1", `{"y":`) +
				args(0, "fc_0", `1}`) + args(1, "fc_1", `2}`) + itemDone(0, fcall("fc_0", "a", "t1", `{"x":1}`)) + itemDone(1, fcall("fc_1", "b", "t2", `{"y":2}`)) +
				completed(fcall("fc_0", "a", "t1", `{"x":1}`)+","+fcall("fc_1", "b", "t2", `{"y":2}`)),
			lines("call 0 id=a name=t1 ", "call 1 id=b name=t2 ", `call 0 id= name= {"x":`, `call 1 id= name= {"y":`, `call 0 id= name= 1}`, `call 1 id= name= 2}`, meta, usage, calls, "done"),
		},
		"C024 the place is always 0": {
			added(0, fcall("fc_0", "a", "t1", "")) + added(0, fcall("fc_1", "b", "t2", "")) + args(0, "fc_0", `{}`) + args(0, "fc_1", `{"y":2}`) +
				itemDone(0, fcall("fc_0", "a", "t1", `{}`)) + itemDone(0, fcall("fc_1", "b", "t2", `{"y":2}`)) +
				completed(fcall("fc_0", "a", "t1", `{}`)+","+fcall("fc_1", "b", "t2", `{"y":2}`)),
			lines("call 0 id=a name=t1 ", "call 1 id=b name=t2 ", `call 0 id= name= {}`, `call 1 id= name= {"y":2}`, meta, usage, calls, "done"),
		},
		"C024 the id is always the same": {
			added(0, fcall("fc", "a", "t1", "")) + args(0, "fc", `{}`) + itemDone(0, fcall("fc", "a", "t1", `{}`)) +
				added(1, fcall("fc", "b", "t2", "")) + args(1, "fc", `{"y":2}`) + itemDone(1, fcall("fc", "b", "t2", `{"y":2}`)) +
				completed(fcall("fc", "a", "t1", `{}`)+","+fcall("fc", "b", "t2", `{"y":2}`)),
			lines("call 0 id=a name=t1 ", `call 0 id= name= {}`, "call 1 id=b name=t2 ", `call 1 id= name= {"y":2}`, meta, usage, calls, "done"),
		},
		"C024 another id in each event": {
			added(0, fcall("x1", "a", "t1", "")) + added(1, fcall("x2", "b", "t2", "")) + args(0, "x3", `{}`) + args(1, "x4", `{"y":2}`) +
				itemDone(0, fcall("x5", "a", "t1", `{}`)) + itemDone(1, fcall("x6", "b", "t2", `{"y":2}`)) + txt(2, "Hello") + itemDone(2, strings.Replace(msg, "msg_0", "x7", 1)) +
				completed(fcall("x8", "a", "t1", `{}`)+","+fcall("x9", "b", "t2", `{"y":2}`)+","+msg),
			lines("call 0 id=a name=t1 ", "call 1 id=b name=t2 ", `call 0 id= name= {}`, `call 1 id= name= {"y":2}`, `text 2 "Hello"`, meta, usage, calls, "done"),
		},
		"C022 neither places nor ids": {
			event("response.output_item.added", `"item":{"type":"function_call","name":"f"}`) + event("response.function_call_arguments.delta", `"delta":"{\"x\":"`) + event("response.function_call_arguments.delta", `"delta":"1}"`) +
				event("response.output_item.done", `"item":{"type":"function_call","name":"f","arguments":"{\"x\":1}"}`) +
				event("response.output_item.added", `"item":{"type":"function_call","name":"g"}`) + event("response.output_item.done", `"item":{"type":"function_call","name":"g","arguments":"{}"}`),
			lines("call 0 id= name=f ", `call 0 id= name= {"x":`, `call 0 id= name= 1}`, "call 1 id= name=g ", "call 1 id= name=g {}"),
		},
		"C028 arguments empty, missing, null, an object": {
			itemDone(0, fcall("f0", "a", "f", "")) + itemDone(1, `{"type":"function_call","call_id":"b","name":"f"}`) + itemDone(2, `{"type":"function_call","call_id":"c","name":"f","arguments":null}`) +
				itemDone(3, `{"type":"function_call","call_id":"d","name":"f","arguments":{"x": 1}}`),
			lines("call 0 id=a name=f ", "call 1 id=b name=f ", "call 2 id=c name=f ", `call 3 id=d name=f {"x": 1}`),
		},
		"arguments only with the end of the item": {
			added(0, fcall("fc_0", "a", "f", "")) + itemDone(0, fcall("fc_0", "a", "f", `{"x":1}`)), lines("call 0 id=a name=f ", `call 0 id=a name=f {"x":1}`),
		},
		"arguments in one piece": {
			added(0, fcall("fc_0", "a", "f", "")) + event("response.function_call_arguments.done", `"item_id":"fc_0","output_index":0,"arguments":"{}"`) + itemDone(0, fcall("fc_0", "a", "f", `{}`)),
			lines("call 0 id=a name=f ", `call 0 id= name= {}`),
		},
		"a call that is told only at the end": {completed(fcall("fc_0", "a", "f", `{"x":1}`)), lines(meta, `call 0 id=a name=f {"x":1}`, usage, calls, "done")},
		"a call whose beginning is missing":   {args(0, "fc_0", `{}`) + itemDone(0, fcall("fc_0", "a", "f", `{}`)), lines("call 0 id= name= {}", "call 0 id=a name=f ")},
		"a beginning that comes twice":        {added(0, fcall("fc_0", "a", "f", "")) + added(0, fcall("fc_0", "a", "f", "")), "call 0 id=a name=f "},
		"C152 a cut call that says it is complete": {
			event("response.output_item.done", `"item":`+fcall("", "c1", "w", `{"p":"a`)) + event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`),
			lines(`call 0 id=c1 name=w {"p":"a`, "finish length (max_output_tokens)", "done"),
		},
		"C152 a call with whole arguments of an incomplete response": {
			event("response.output_item.done", `"item":`+fcall("", "c1", "w", `{"p":"a"}`)) + event("response.incomplete", `"response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`),
			lines(`call 0 id=c1 name=w {"p":"a"}`, "finish length (max_output_tokens)", "done"),
		},
	}
}

// itemCases are those about the other items (STR-7, STR-8).
func itemCases() map[string]struct{ stream, want string } {
	delta := func(typ string, part int, s string) string {
		return event("response."+typ+".delta", `"item_id":"rs_1","output_index":0,"summary_index":`+string(rune('0'+part))+`,"delta":`+quoted(s))
	}
	return map[string]struct{ stream, want string }{
		"STR-8 reasoning, byte for byte": {
			added(0, `{"type":"reasoning","id":"rs_1","summary":[]}`) + event("response.reasoning_summary_part.added", `"output_index":0,"summary_index":0`) + delta("reasoning_summary_text", 0, "I ") +
				delta("reasoning_summary_text", 0, "think.") + event("response.reasoning_summary_part.added", `"output_index":0,"summary_index":1`) + delta("reasoning_summary_text", 1, "More.") + itemDone(0, reasoning) + txt(1, "a"),
			lines(`reasoning 0 "I "`, `reasoning 0 "think."`, `reasoning 0 "\n\n"`, `reasoning 0 "More."`, `reasoning 0 "" opaque `+reasoning, `text 1 "a"`),
		},
		"STR-8 reasoning that shows nothing": {
			itemDone(0, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g=="}`), `reasoning 0 "" opaque {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"g=="}`,
		},
		"STR-8 reasoning without its encrypted form is not sent back": {
			itemDone(0, `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":null}`), `reasoning 0 "a\n\nb"`,
		},
		"STR-8 reasoning of an open model": {
			delta("reasoning_text", 0, "hm") + itemDone(0, `{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`),
			lines(`reasoning 0 "hm"`, `reasoning 0 "" opaque {"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]}`),
		},
		"STR-8 two items of reasoning stay two": {
			itemDone(0, reasoning) + itemDone(1, strings.Replace(reasoning, "rs_1", "rs_2", 1)),
			lines(`reasoning 0 "I think." opaque `+reasoning, `reasoning 1 "I think." opaque `+strings.Replace(reasoning, "rs_1", "rs_2", 1)),
		},
		"STR-8 the phase of a message": {
			txt(0, "Hel") + txt(0, "lo") + itemDone(0, strings.Replace(msg, `"role"`, `"phase":"commentary","role"`, 1)) + itemDone(1, strings.NewReplacer(`"role"`, `"phase":"final_answer","role"`, "msg_0", "msg_1").Replace(msg)),
			lines(`text 0 "Hel"`, `text 0 "lo"`, `text 0 "" signed commentary`, `text 1 "Hello" signed final_answer`),
		},
		"STR-8 compaction": {
			itemDone(0, `{"type":"compaction","id":"cmp_1","encrypted_content":"g=="}`), `reasoning 0 "" opaque {"type":"compaction","id":"cmp_1","encrypted_content":"g=="}`,
		},
		"STR-7 a web search": {
			added(0, `{"type":"web_search_call","id":"ws_1","status":"in_progress"}`) + event("response.web_search_call.searching", `"output_index":0`) + itemDone(0, search) + txt(1, "Sunny."),
			lines(`tool ws_1 web_search "" `, `tool ws_1 web_search "weather" `+search, `text 1 "Sunny."`),
		},
		"STR-7 the other tools": {
			itemDone(0, `{"type":"code_interpreter_call","id":"ci","code":"1+1"}`) + itemDone(1, `{"type":"file_search_call","id":"fs","queries":["a","b"]}`) +
				itemDone(2, `{"type":"mcp_call","id":"mcp","name":"roll","server_label":"s","arguments":"{}"}`) + itemDone(3, `{"type":"image_generation_call","id":"ig","result":"AA=="}`) + itemDone(4, `{"type":"later_call","id":"l"}`),
			lines(`tool ci code_interpreter "1+1" {"type":"code_interpreter_call","id":"ci","code":"1+1"}`, `tool fs file_search "a" {"type":"file_search_call","id":"fs","queries":["a","b"]}`,
				`tool mcp mcp roll "" {"type":"mcp_call","id":"mcp","name":"roll","server_label":"s","arguments":"{}"}`, `tool ig image_generation "" {"type":"image_generation_call","id":"ig","result":"AA=="}`,
				`tool l later "" {"type":"later_call","id":"l"}`),
		},
		"an answer that is told only at the end": {
			created + completed(reasoning+","+search+","+msg), lines(meta, `reasoning 0 "I think." opaque `+reasoning, `tool ws_1 web_search "weather" `+search, `text 2 "Hello"`, usage, stop, "done"),
		},
		"an answer that is told only with the items": {created + itemDone(0, msg) + completed(msg), lines(meta, `text 0 "Hello"`, usage, stop, "done")},
		"two messages, their place always 0": {
			txt(0, "a") + itemDone(0, msg) + event("response.output_text.delta", `"item_id":"msg_1","output_index":0,"delta":"b"`) + itemDone(0, strings.Replace(msg, "msg_0", "msg_1", 1)) +
				completed(msg+","+strings.Replace(msg, "msg_0", "msg_1", 1)),
			lines(`text 0 "a"`, `text 0 "b"`, meta, usage, stop, "done"),
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
			var groups [][]sseFrame
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
