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

// txt is a piece of the text of the item at a place.
func txt(place int, s string) string {
	return event("response.output_text.delta", fmt.Sprintf(`"item_id":"msg_%d","output_index":%d,"content_index":0,"delta":%s`, place, place, quoted(s)))
}

// esc is a piece of text that is given as it stands in JSON.
func esc(place int, s string) string {
	return event("response.output_text.delta", fmt.Sprintf(`"item_id":"msg_%d","output_index":%d,"delta":"%s"`, place, place, s))
}

func added(place int, item string) string {
	return event("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, place, item))
}

func itemDone(place int, item string) string {
	return event("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, place, item))
}

func args(place int, id, s string) string {
	return event("response.function_call_arguments.delta", fmt.Sprintf(`"item_id":%q,"output_index":%d,"delta":%s`, id, place, quoted(s)))
}

// fcall is an item that calls a function.
func fcall(id, callID, name, arguments string) string {
	return fmt.Sprintf(`{"type":"function_call","id":%q,"call_id":%q,"name":%q,"arguments":%s,"status":"completed"}`, id, callID, name, quoted(arguments))
}

const created = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r1\",\"model\":\"m\",\"status\":\"in_progress\",\"error\":null,\"output\":[]}}\n\n"

// completed is the terminal event, with a usage of 3 and 2 tokens.
func completed(items string) string {
	return event("response.completed", `"response":{"id":"r1","model":"m","status":"completed","error":null,"output":[`+items+`],"usage":{"input_tokens":3,"output_tokens":2}}`)
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// sseFrame is what the host makes of a block.
type sseFrame struct{ name, data string }

// frames cuts a stream into frames, as far as the cases here need it: the host
// has its own tests for the framing.
func frames(stream string) []sseFrame {
	var all []sseFrame
	for _, b := range strings.Split(stream, "\n\n") {
		var f sseFrame
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
func decode(t *testing.T, groups ...[]sseFrame) string {
	t.Helper()
	plugin := provider.Native(responses{})
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

func sequence(state string, group []sseFrame) []byte {
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
	case abi.EventText, abi.EventReasoning:
		line := fmt.Sprintf("%s %s %q", e.Type, tellIndex(e.Index), e.Text)
		if e.Signature != "" {
			line += " signed " + e.Signature
		}
		if e.Opaque != "" {
			line += " opaque " + e.Opaque
		}
		return line
	case abi.EventToolCall:
		return fmt.Sprintf("call %s id=%s name=%s %s", tellIndex(e.Index), e.ID, e.Name, e.Arguments)
	case abi.EventProviderTool:
		return fmt.Sprintf("tool %s %s %q %s", e.ID, e.Name, e.Text, e.Opaque)
	case abi.EventUsage:
		return "usage" + tellUsage(e.Usage)
	case abi.EventFinish:
		return fmt.Sprintf("finish %s (%s)", e.Reason, e.Raw)
	case abi.EventFailure:
		return fmt.Sprintf("failure %s code=%s %s", e.Failure.Class, e.Failure.Code, e.Failure.Message)
	case abi.EventDone:
	}
	return string(e.Type)
}

func tellIndex(index *int64) string {
	if index == nil {
		return "-"
	}
	return fmt.Sprint(*index)
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
