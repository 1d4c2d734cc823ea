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

func block(members string) string { return "data: {" + members + "}\n\n" }

// parts is a chunk with parts, fin one that ends the answer.
func parts(list string) string {
	return block(`"candidates":[{"content":{"parts":[` + list + `],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r1"`)
}

func txt(s string) string { return parts(`{"text":` + quoted(s) + `}`) }

func esc(s string) string { return parts(`{"text":"` + s + `"}`) }

func fin(r string) string {
	return block(`"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":` + quoted(r) + `,"index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":2}`)
}

func use(members string) string { return block(`"usageMetadata":{` + members + `}`) }

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
	plugin := provider.Native(gemini{})
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
	case abi.EventText, abi.EventReasoning:
		if e.Signature != "" || e.Index != nil {
			return fmt.Sprintf("%s %s %q signed %s", e.Type, tellIndex(e.Index), e.Text, e.Signature)
		}
		return string(e.Type) + " " + e.Text
	case abi.EventToolCall:
		line := fmt.Sprintf("call %s id=%s name=%s %s", tellIndex(e.Index), e.ID, e.Name, e.Arguments)
		if e.Signature != "" {
			line += " signed " + e.Signature
		}
		return line
	case abi.EventProviderTool:
		return fmt.Sprintf("tool %s %q %s", e.Name, e.Text, e.Opaque)
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
