package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

// An answer in one piece gives the events that a stream does.
func TestResponse(t *testing.T) {
	t.Parallel()
	const (
		head = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[`
		tail = `,"usage":{"input_tokens":10,"cache_read_input_tokens":3,"output_tokens":5}}`
		used = "usage in=13 read=3 out=5\n"
		meta = "meta msg_1 claude-x\n"
	)
	use := `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query": "x"}}`
	found := `{"type":"web_search_tool_result","tool_use_id":"srv1","content":[{"type":"web_search_result","title":"T","url":"u"}]}`
	for name, c := range map[string]struct{ body, want string }{
		"all that there is": {
			head + `{"type":"thinking","thinking":"hm","signature":"S1"},{"type":"redacted_thinking","data":"R"},` + use + `,` + found +
				`,{"type":"text","text":"Hi","citations":[{"a":1}]},{"type":"text","text":"you","citations":null},{"type":"tool_use","id":"t1","name":"ls","input":{}},{"type":"tool_use","id":"t2","name":"cat","input":{"x": 1}}],"stop_reason":"tool_use"` + tail,
			meta + "reasoning 0 S1 \"hm\"\nreasoning 1 {\"type\":\"redacted_thinking\",\"data\":\"R\"}\nprovider_tool srv1 web_search " + use + " \"x\"\nprovider_tool srv1 web_search " + found + " \"T (u)\"\n" +
				"text 4 [{\"a\":1}] \"Hi\"\ntext 5 \"you\"\ntool_call 6 t1 ls\ntool_call 7 t2 cat {\"x\": 1}\n" + used + "finish tool_calls tool_use\ndone\n",
		},
		"C042: a pause":     {head + use + `],"stop_reason":"pause_turn"` + tail, meta + "provider_tool srv1 web_search " + use + " \"x\"\n" + used + "finish pause pause_turn\ndone\n"},
		"no reason":         {head + `{"type":"text","text":"Hi"}],"stop_reason":null` + tail, meta + "text 0 \"Hi\"\n" + used + "finish unknown\ndone\n"},
		"blocks of no kind": {head + `null,7,{},{"type":"text","text":""},{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}`, meta + "text 4 \"Hi\"\nfinish stop end_turn\ndone\n"},
		"C018: an error":    {`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "failure overloaded \"Overloaded (from u: check base_url)\"\n"},
		"C020: no answer":   {`{"error":"no such route"}`, "failure server \"no such route (from u: check base_url)\"\n"},
		"C014: empty":       {"", "failure server \"HTTP 200 with an empty body (from u: check base_url)\"\n"},
	} {
		events, err := messages{}.Response(abi.HTTPResponse{Status: 200, Body: c.body, URL: "u"})
		if diff := cmp.Diff(c.want, lines(events)); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
