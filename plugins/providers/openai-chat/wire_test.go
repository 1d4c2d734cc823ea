package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// The shorthand of the cases: each gives one block of server-sent events.

func block(delta, finish string) string {
	return `data: {"id":"r1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + finish + "}]}\n\n"
}

func txt(s string) string  { return block(`{"content":`+quoted(s)+`}`, "null") }
func esc(s string) string  { return block(`{"content":"`+s+`"}`, "null") }
func fin(r string) string  { return block(`{}`, quoted(r)) }
func tc(d string) string   { return block(`{"tool_calls":[`+d+`]}`, "null") }
func args(s string) string { return `{"index":0,"function":{"arguments":` + quoted(s) + `}}` }
func use(p, c int) string {
	return fmt.Sprintf(`data: {"id":"r1","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, p, c, p+c) + "\n\n"
}

const done = "data: [DONE]\n\n"

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// frame is what the host makes of a block.
type frame struct{ name, data string }

// frames cuts a stream into frames, as far as the cases here need it: the host
// has its own tests for the framing.
func frames(stream string) []frame {
	var all []frame
	for _, b := range strings.Split(stream, "\n\n") {
		var f frame
		for _, line := range strings.Split(b, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				f.name = name
			}
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				f.data += strings.TrimPrefix(data, " ")
			}
		}
		if f.data != "" || f.name != "" {
			all = append(all, f)
		}
	}
	return all
}

// decode gives the frames to the plugin through its export, in one call for
// each of the groups, and tells the events.
func decode(t *testing.T, groups ...[]frame) string {
	t.Helper()
	plugin := provider.Native(chat{})
	var events []abi.Event
	state := ""
	for _, group := range groups {
		out, err := plugin.Call(t.Context(), abi.ExportChatEvents, sequence(state, group))
		if err != nil {
			t.Fatal(err)
		}
		var got []abi.Event
		if state, got, err = readSequence(out); err != nil {
			t.Fatal(err)
		}
		events = append(events, got...)
	}
	return tell(events)
}

func sequence(state string, group []frame) []byte {
	h := abi.EventsHeader{State: state}
	for _, f := range group {
		h.Names = append(h.Names, f.name)
	}
	in := abi.AppendHeader(nil, &h)
	for _, f := range group {
		in = abi.AppendRecord(in, []byte(f.data))
	}
	return in
}

func readSequence(seq []byte) (state string, events []abi.Event, err error) {
	var h abi.EventsHeader
	for n := 0; ; n++ {
		text, rest, ok, err := abi.NextRecord(seq)
		if err != nil || !ok {
			return h.State, events, err
		}
		seq = rest
		if n == 0 {
			err = h.DecodeJSON(text)
		} else {
			events = append(events, abi.Event{})
			err = events[n-1].DecodeJSON(text)
		}
		if err != nil {
			return "", nil, err
		}
	}
}

// tell writes events in short, one a line.
func tell(events []abi.Event) string {
	lines := make([]string, len(events))
	for i, e := range events {
		lines[i] = tellEvent(e)
	}
	return strings.Join(lines, "\n")
}

func tellEvent(e abi.Event) string {
	switch e.Type {
	case abi.EventMeta:
		return "meta " + e.ID + " " + e.Model
	case abi.EventText:
		return "text " + e.Text
	case abi.EventReasoning:
		if e.Signature != "" {
			return "signature " + e.Signature
		}
		return "reasoning " + e.Text
	case abi.EventToolCall:
		index := "-"
		if e.Index != nil {
			index = fmt.Sprint(*e.Index)
		}
		return fmt.Sprintf("call %s id=%s name=%s %s", index, e.ID, e.Name, e.Arguments)
	case abi.EventUsage:
		return "usage" + tellUsage(e.Usage)
	case abi.EventFinish:
		return fmt.Sprintf("finish %s (%s)", e.Reason, e.Raw)
	case abi.EventFailure:
		return fmt.Sprintf("failure %s code=%s %s", e.Failure.Class, e.Failure.Code, e.Failure.Message)
	case abi.EventDone, abi.EventProviderTool:
	}
	return string(e.Type)
}

func tellUsage(u *abi.Usage) string {
	line := ""
	for _, f := range []struct {
		name string
		n    *int64
	}{
		{"in", u.Input}, {"out", u.Output}, {"read", u.CacheRead}, {"write", u.CacheWrite}, {"reasoning", u.Reasoning},
	} {
		if f.n != nil {
			line += fmt.Sprintf(" %s=%d", f.name, *f.n)
		}
	}
	return line
}

func lines(l ...string) string { return strings.Join(l, "\n") }
