package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// The shorthand of the cases: each gives one block of server-sent events, as the
// API sends them: with the type in the JSON and as the name.

func event(typ, members string) string {
	if members != "" {
		members = "," + members
	}
	return "event: " + typ + "\ndata: {\"type\":\"" + typ + "\"" + members + "}\n\n"
}

const (
	begin = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":3,\"cache_creation_input_tokens\":0,\"output_tokens\":1}}}\n\n"
	done  = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	ping  = "event: ping\ndata: {\"type\":\"ping\"}\n\n"
)

func open(i int, block string) string {
	return event("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, i, block))
}

func piece(i int, delta string) string {
	return event("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, i, delta))
}

func shut(i int) string { return event("content_block_stop", fmt.Sprintf(`"index":%d`, i)) }

// text is a block of text in two pieces.
func text(i int, a, b string) string {
	return open(i, `{"type":"text","text":""}`) + txt(i, a) + txt(i, b) + shut(i)
}

func txt(i int, s string) string { return piece(i, `{"type":"text_delta","text":`+quoted(s)+`}`) }

func args(i int, s string) string {
	return piece(i, `{"type":"input_json_delta","partial_json":`+quoted(s)+`}`)
}

// call is a block that calls a tool, its arguments in pieces.
func call(i int, id, name string, pieces ...string) string {
	all := open(i, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name))
	for _, p := range pieces {
		all += args(i, p)
	}
	return all + shut(i)
}

func stop(reason string) string {
	return event("message_delta", `"delta":{"stop_reason":"`+reason+`","stop_sequence":null},"usage":{"output_tokens":5}`)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

type testFrame struct{ name, data string }

// frames cuts a stream as the host does.
func frames(stream string) []testFrame {
	var all []testFrame
	for _, block := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		var f testFrame
		for line := range strings.SplitSeq(block, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				f.name = name
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				f.data = data
			}
		}
		all = append(all, f)
	}
	return all
}

// read gives the events of a stream.
func read(t *testing.T, stream string) []abi.Event {
	t.Helper()
	var d provider.Decoder
	for _, f := range frames(stream) {
		if err := (messages{}).Frame(&d, []byte(f.data), f.name); err != nil {
			t.Fatal(err)
		}
	}
	return d.Events
}

// lines renders events, one a line, and joins neighbours of one place.
func lines(events []abi.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(string(e.Type))
		if e.Index != nil {
			fmt.Fprintf(&b, " %d", *e.Index)
		}
		for _, s := range []string{e.ID, e.Model, e.Name, e.Arguments, e.Signature, e.Opaque, string(e.Reason), e.Raw} {
			if s != "" {
				b.WriteString(" " + s)
			}
		}
		if e.Text != "" {
			fmt.Fprintf(&b, " %q", e.Text)
		}
		if e.Usage != nil {
			for name, n := range map[string]*int64{"in": e.Usage.Input} {
				if n != nil {
					fmt.Fprintf(&b, " %s=%d", name, *n)
				}
			}
			if e.Usage.CacheRead != nil {
				fmt.Fprintf(&b, " read=%d", *e.Usage.CacheRead)
			}
			if e.Usage.Output != nil {
				fmt.Fprintf(&b, " out=%d", *e.Usage.Output)
			}
			if e.Usage.Reasoning != nil {
				fmt.Fprintf(&b, " thought=%d", *e.Usage.Reasoning)
			}
		}
		if e.Failure != nil {
			fmt.Fprintf(&b, " %s %q", e.Failure.Class, e.Failure.Message)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
