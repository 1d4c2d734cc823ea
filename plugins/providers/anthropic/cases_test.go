package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

type streamCase struct{ stream, want string }

const start = "meta msg_1 claude-x\nusage in=13 read=3\n"

// over is how an answer ends.
func over(reason, raw string) string {
	return "usage read=3 out=5\nfinish " + reason + " " + raw + "\ndone\n"
}

func streamCases() map[string]streamCase {
	search := `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}`
	found := `{"type":"web_search_tool_result","tool_use_id":"srv1","content":[{"type":"web_search_result","url":"u","encrypted_content":"E1"}]}`
	return map[string]streamCase{
		"text":                 {begin + ping + text(0, "Hel", "lo") + stop("end_turn") + done, start + "text 0 \"Hel\"\ntext 0 \"lo\"\n" + over("stop", "end_turn")},
		"a stop text":          {begin + text(0, "a", "b") + stop("stop_sequence") + done, start + "text 0 \"a\"\ntext 0 \"b\"\n" + over("stop", "stop_sequence")},
		"the output limit":     {begin + text(0, "a", "b") + stop("max_tokens") + done, start + "text 0 \"a\"\ntext 0 \"b\"\n" + over("length", "max_tokens")},
		"the window is full":   {begin + stop("model_context_window_exceeded") + done, start + over("length", "model_context_window_exceeded")},
		"a refusal":            {begin + stop("refusal") + done, start + over("refusal", "refusal")},
		"C146: unknown reason": {begin + stop("eos") + done, start + over("unknown", "eos")},
		"C040: no message_stop": {
			begin + text(0, "a", "b") + stop("end_turn"),
			start + "text 0 \"a\"\ntext 0 \"b\"\nusage read=3 out=5\nfinish stop end_turn\n",
		},
		"C148: no names": {
			"data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"x\"}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: {\"type\":\"message_stop\"}\n\ndata: [DONE]\n\n",
			"meta m x\ntext 0 \"a\"\nfinish unknown\ndone\n",
		},
		"C148: names alone, and a vendor's own event": {
			"event: vendor.progress\ndata: {\"tool\":\"x\"}\n\nevent: vendor.other\ndata: not json\n\nevent: content_block_delta\ndata: {\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\nevent: message_stop\ndata: {}\n\n",
			"text \"a\"\nfinish unknown\ndone\n",
		},
		"thinking": {
			begin + open(0, `{"type":"thinking","thinking":"","signature":""}`) + piece(0, `{"type":"thinking_delta","thinking":"hm"}`) + piece(0, `{"type":"signature_delta","signature":"S1"}`) + shut(0) +
				open(1, `{"type":"redacted_thinking","data":"R1"}`) + shut(1) + text(2, "a", "b") + stop("end_turn") + done,
			start + "reasoning 0 \"hm\"\nreasoning 0 S1\nreasoning 1 {\"type\":\"redacted_thinking\",\"data\":\"R1\"}\ntext 2 \"a\"\ntext 2 \"b\"\n" + over("stop", "end_turn"),
		},
		"two calls": {
			begin + call(0, "t1", "up", `{"x"`, `:1}`) + call(1, "t2", "down", `{"x":2}`) + stop("tool_use") + done,
			start + "tool_call 0 t1 up\ntool_call 0 {\"x\"\ntool_call 0 :1}\ntool_call 1 t2 down\ntool_call 1 {\"x\":2}\n" + over("tool_calls", "tool_use"),
		},
		"C028: no arguments": {
			begin + call(0, "t1", "a") + call(1, "t2", "b", "") + stop("tool_use") + done,
			start + "tool_call 0 t1 a\ntool_call 1 t2 b\n" + over("tool_calls", "tool_use"),
		},
		"C028: arguments with the start": {
			begin + open(0, `{"type":"tool_use","id":"t1","name":"a","input":{"x":1}}`) + shut(0) + stop("tool_use") + done,
			start + "tool_call 0 t1 a {\"x\":1}\n" + over("tool_calls", "tool_use"),
		},
		"C032: a cut between surrogates": {
			begin + open(0, `{"type":"tool_use","id":"t1","name":"a","input":{}}`) + piece(0, `{"type":"input_json_delta","partial_json":"{\"t\":\"\ud83c"}`) + piece(0, `{"type":"input_json_delta","partial_json":"\udf0d\"}"}`) + shut(0) + stop("tool_use") + done,
			start + "tool_call 0 t1 a\ntool_call 0 {\"t\":\"\ntool_call 0 🌍\"}\n" + over("tool_calls", "tool_use"),
		},
		"C008: half a character": {
			begin + piece(0, `{"type":"text_delta","text":"a\ud83d"}`) + piece(0, `{"type":"text_delta","text":"\udeb2"}`) + piece(0, `{"type":"text_delta","text":"\ud83d"}`) + shut(0) + stop("end_turn") + done,
			start + "text 0 \"a\"\ntext 0 \"🚲\"\ntext 0 \"\uFFFD\"\n" + over("stop", "end_turn"),
		},
		"C042: a tool of the provider's, and a pause": {
			begin + open(0, search) + args(0, `{"query":`) + args(0, `"x"}`) + shut(0) + open(1, found) + shut(1) + stop("pause_turn") + done,
			start + "provider_tool srv1 web_search\nprovider_tool srv1 web_search " +
				`{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"x"}}` + " \"x\"\nprovider_tool srv1 web_search " + found + " \"u\"\n" + over("pause", "pause_turn"),
		},
		"C042: a pause before the result": {
			begin + open(0, search) + args(0, `{"query":`) + args(0, `"x"}`) + shut(0) + stop("pause_turn") + done,
			start + "provider_tool srv1 web_search\nprovider_tool srv1 web_search " +
				`{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"x"}}` + " \"x\"\n" + over("pause", "pause_turn"),
		},
		"C042: its block does not end": {
			begin + open(0, search) + args(0, `{"query":"x"}`) + stop("pause_turn") + done,
			start + "provider_tool srv1 web_search\nusage read=3 out=5\nprovider_tool srv1 web_search " +
				`{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"x"}}` + " \"x\"\nfinish pause pause_turn\ndone\n",
		},
		"STR-7: its result is an error": {
			begin + open(0, `{"type":"web_search_tool_result","tool_use_id":"srv1","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}`) + shut(0),
			start + `provider_tool srv1 web_search {"type":"web_search_tool_result","tool_use_id":"srv1","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}} "max_uses_exceeded"` + "\n",
		},
		"STR-8: what a text is taken from": {
			begin + open(0, `{"type":"text","text":"","citations":[]}`) + piece(0, `{"type":"citations_delta","citation":{"type":"x", "a":1}}`) + txt(0, "one") +
				piece(0, `{"type":"citations_delta","citation":{"type":"y"}}`) + piece(0, `{"type":"citations_delta","citation":7}`) + shut(0) + text(1, "t", "wo") + stop("end_turn") + done,
			start + "text 0 \"one\"\ntext 0 " + `[{"type":"x", "a":1},{"type":"y"}]` + "\ntext 1 \"t\"\ntext 1 \"wo\"\n" + over("stop", "end_turn"),
		},
		"STR-8: the same with the start": {
			begin + open(0, `{"type":"text","text":"one","citations":[{"a":1}]}`) + open(1, `{"type":"text","text":"two"}`),
			start + "text 0 \"one\"\ntext 0 " + `[{"a":1}]` + "\ntext 1 \"two\"\n",
		},
		"STR-8: thinking that is not shown": {
			begin + open(0, `{"type":"thinking","thinking":"","signature":""}`) + piece(0, `{"type":"signature_delta","signature":"S1"}`) + shut(0) + text(1, "a", "b"),
			start + "reasoning 0 S1\ntext 1 \"a\"\ntext 1 \"b\"\n",
		},
		"C024: pieces of two calls in turns": {
			begin + open(1, `{"type":"tool_use","id":"a","name":"t1","input":{}}`) + open(2, `{"type":"tool_use","id":"b","name":"t2","input":{}}`) + args(1, `{"x":`) + args(2, `{"y":`) + args(1, `1}`) + args(2, `2}`),
			start + "tool_call 1 a t1\ntool_call 2 b t2\ntool_call 1 {\"x\":\ntool_call 2 {\"y\":\ntool_call 1 1}\ntool_call 2 2}\n",
		},
		"C012: half of the last frame": {
			begin + stop("end_turn") + "event: message_stop\ndata: {\"ty\n\n",
			start + "usage read=3 out=5\nfinish stop end_turn\nfailure server \"a frame of the stream is not JSON: {\\\"ty\"\n",
		},
		"C016: no end is made up": {begin + text(0, "a", "b"), start + "text 0 \"a\"\ntext 0 \"b\"\n"},
		"C040: no message_stop, with a call": {
			begin + call(0, "t1", "a", "{}") + stop("tool_use"),
			start + "tool_call 0 t1 a\ntool_call 0 {}\nusage read=3 out=5\nfinish tool_calls tool_use\n",
		},
		"CST-2: a server that does not count": {
			event("message_start", `"message":{"id":"m","usage":{"input_tokens":0,"output_tokens":0}}`) + event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":0}`),
			"meta m\nusage out=0\nfinish stop end_turn\n",
		},
		"CST-2: one that counts at the end alone": {
			event("message_start", `"message":{"id":"m","usage":{"input_tokens":0,"output_tokens":0}}`) + event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"output_tokens":2}`),
			"meta m\nusage in=9 out=2\nfinish stop end_turn\n",
		},
		"how much was thinking": {
			event("message_delta", `"delta":{"stop_reason":null},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}`), "usage out=9 thought=4\n",
		},
		"C006, C148: blank, [DONE], a type that is not known": {
			"data: [DONE]\n\n" + event("container_upload", `"x":1`) + piece(0, `{"type":"later_delta","text":"a"}`), "",
		},
		"C038: an error in the stream": {
			begin + text(0, "Hel", "lo") + event("error", `"error":{"type":"overloaded_error","message":"Overloaded"}`),
			start + "text 0 \"Hel\"\ntext 0 \"lo\"\nfailure overloaded \"Overloaded\"\n",
		},
		"C038: the first event": {
			event("error", `"error":{"type":"overloaded_error","message":"Overloaded"}`), "failure overloaded \"Overloaded\"\n",
		},
		"C038: before any text": {
			begin + event("error", `"error":{"type":"api_error","message":"Internal"}`), start + "failure server \"Internal\"\n",
		},
		"C038: an error under another name": {
			"event: message\ndata: {\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}}\n\n", "failure rate_limited \"slow\"\n",
		},
		"C018: an error without a type": {
			"event: error\ndata: {\"message\":\"BOOM\"}\n\n", "failure server \"BOOM\"\n",
		},
		"usage at the end counts the input anew": {
			begin + event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":100,"cache_read_input_tokens":7,"output_tokens":5}`) + done,
			start + "usage in=107 read=7 out=5\nfinish stop end_turn\ndone\n",
		},
		"not JSON": {"event: message_start\ndata: {\"ty\n\n", "failure server \"a frame of the stream is not JSON: {\\\"ty\"\n"},
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for name, c := range streamCases() {
		if diff := cmp.Diff(c.want, lines(read(t, c.stream))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
