package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// The shorthand of the cases: each gives one line.

func say(message string) string {
	return `{"model":"m","message":{"role":"assistant",` + message + `},"done":false}` + "\n"
}

func txt(s string) string   { return say(`"content":` + quoted(s)) }
func esc(s string) string   { return say(`"content":"` + s + `"`) }
func think(s string) string { return say(`"content":"","thinking":"` + s + `"`) }
func tc(calls string) string {
	return say(`"content":"","tool_calls":[` + calls + `]`)
}
func fin(r string) string {
	return `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":` + quoted(r) + `,"prompt_eval_count":3,"eval_count":2}` + "\n"
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// frames cuts a stream into lines, as the host does.
func frames(stream string) []string {
	var all []string
	for line := range strings.Lines(stream) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// decode gives the lines to the plugin through its export, in one call for each
// of the groups, and tells the events.
func decode(t *testing.T, groups ...[]string) string {
	t.Helper()
	plugin := provider.Native(chat{})
	var events []abi.Event
	state := ""
	for _, group := range groups {
		in := abi.AppendHeader(nil, &abi.EventsHeader{State: state})
		for _, line := range group {
			in = abi.AppendRecord(in, []byte(line))
		}
		out, err := plugin.Call(t.Context(), abi.ExportChatEvents, in)
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
		return "meta " + e.Model
	case abi.EventText:
		return "text " + e.Text
	case abi.EventReasoning:
		return "reasoning " + e.Text
	case abi.EventToolCall:
		return fmt.Sprintf("call %d id=%s name=%s %s", *e.Index, e.ID, e.Name, e.Arguments)
	case abi.EventUsage:
		return "usage" + count("in", e.Usage.Input) + count("out", e.Usage.Output)
	case abi.EventFinish:
		return fmt.Sprintf("finish %s (%s)", e.Reason, e.Raw)
	case abi.EventFailure:
		return fmt.Sprintf("failure %s %s", e.Failure.Class, e.Failure.Message)
	case abi.EventDone, abi.EventProviderTool:
	}
	return string(e.Type)
}

func count(name string, n *int64) string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf(" %s=%d", name, *n)
}

func lines(l ...string) string { return strings.Join(l, "\n") }
