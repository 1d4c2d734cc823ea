package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// FuzzFrame: no frame breaks the plugin, whatever state it is given. What is not
// JSON is one failure.
func FuzzFrame(f *testing.F) {
	for _, c := range streamCases() {
		for _, fr := range frames(c.stream) {
			f.Add([]byte(fr.data), fr.name, "d83d,x,0,1,2,f,0;{\"type\":\"server_tool_use\",\"id\":\"s\"}\n{")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name, state string) {
		d := provider.Decoder{State: state}
		if err := (messages{}).Frame(&d, data, name); err != nil {
			t.Fatalf("plugin failure: %v", err)
		}
		blank := len(bytes.Trim(data, " \t\r\n")) == 0 // what JSON takes for space
		junk := !blank && string(bytes.Trim(data, " \t\r\n")) != "[DONE]" && !json.Valid(data)
		if junk && (name == "" || name == "message") && depth(data) < 100 {
			if len(d.Events) != 1 || d.Events[0].Type != abi.EventFailure {
				t.Errorf("junk gave %s", lines(d.Events))
			}
		}
		if blank && len(d.Events) > 0 {
			t.Errorf("a blank frame gave %s", lines(d.Events))
		}
		checkEvents(t, d.Events)
	})
}

// FuzzResponse: no body breaks the plugin, and every answer has an end.
func FuzzResponse(f *testing.F) {
	f.Add(int64(200), `{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"t","input":{"x":1}},null,{"type":"x"}],"stop_reason":"x"}`)
	f.Add(int64(200), `{"type":"error","error":{"type":"x","message":"y"}}`)
	f.Add(int64(400), `{"error":"x"}`)
	f.Add(int64(200), `{"data":[{"id":"a"}]}`)
	f.Fuzz(func(t *testing.T, status int64, body string) {
		r := abi.HTTPResponse{Status: status, Body: body, URL: "http://localhost/responses"}
		if fail := (messages{}).Error(r); fail.Class == "" || fail.Message == "" {
			t.Errorf("failure = %+v", fail)
		}
		events, err := messages{}.Response(r)
		if err != nil || len(events) == 0 {
			t.Fatalf("response = %v, %v", events, err)
		}
		if last := events[len(events)-1].Type; last != abi.EventDone && last != abi.EventFailure {
			t.Errorf("the answer ends with %s", last)
		}
		checkEvents(t, events)
		_, _ = messages{}.ModelsResponse(r)
	})
}

// FuzzMessages: whatever was said and called before, the fragments are JSON.
func FuzzMessages(f *testing.F) {
	f.Add("user", "Hi", `{"x":1}`, "S", `{"type":"reasoning"}`)
	f.Add("assistant", "{{messages}}", `{"x":`, "", `{}`)
	f.Add("tool", "\xff\"\\\u2028", ``, "\x00", `x`)
	f.Fuzz(func(t *testing.T, role, text, arguments, signature, opaque string) {
		got, err := messages{}.Messages(abi.ChatMessages{Messages: []abi.Message{{Role: abi.Role(role), Parts: []abi.Part{
			{Type: abi.PartReasoning, Text: text, Opaque: opaque},
			{Type: abi.PartText, Text: text, Signature: signature},
			{Type: abi.PartProviderTool, Opaque: opaque},
			{Type: abi.PartToolCall, CallID: text, Name: role, Arguments: arguments, Signature: signature},
			{Type: abi.PartToolResult, CallID: text, Text: text},
			{Type: abi.PartImage, Blob: text, MediaType: role},
			{Type: abi.PartFile, Blob: text, Name: text, MediaType: role},
		}}}})
		if err != nil {
			return
		}
		if len(got) != 1 || !json.Valid([]byte("["+got[0]+"]")) {
			t.Errorf("fragments = %q", got)
		}
	})
}

// FuzzRequest: names and options give an error, or a body with one place for the
// messages.
func FuzzRequest(f *testing.F) {
	f.Add("m", `{"auth":"none","encrypted_reasoning":true,"query":{"c":"d"},"tools":[{"x":{}}],"include":["a"]}`, "system")
	f.Add("gpt-4", `{"reasoning_effort":"x","verbosity":"{{messages}}","extra_body":{"e":[1,{"f":null}]}}`, `"{{messages}}"`)
	f.Fuzz(func(t *testing.T, model, options, system string) {
		r, err := messages{}.Request(abi.ChatRequest{Model: model, System: system, BaseURL: "http://localhost", Options: abi.Raw(options), Stream: true, MaxTokens: 1})
		if err != nil {
			return
		}
		if !json.Valid([]byte(r.Body)) || strings.Count(r.Body, messagesPlace) != 1 {
			t.Errorf("body = %s", r.Body)
		}
	})
}

func checkEvents(t *testing.T, events []abi.Event) {
	t.Helper()
	for _, e := range events {
		if !utf8.ValidString(e.Text) || !utf8.ValidString(e.ID) || !utf8.ValidString(e.Raw) {
			t.Errorf("event is not UTF-8: %+v", e)
		}
		if (e.Type == abi.EventText || e.Type == abi.EventReasoning) && e.Text == "" && e.Signature == "" && e.Opaque == "" {
			t.Errorf("an event says nothing: %+v", e)
		}
		if e.Type == abi.EventFailure && (e.Failure.Class == "" || e.Failure.Message == "") {
			t.Errorf("a failure says nothing: %+v", e.Failure)
		}
		if e.Type == abi.EventUsage && (*e.Usage == abi.Usage{}) {
			t.Error("usage without a number")
		}
	}
}

// depth bounds how deeply JSON can be nested in data.
func depth(data []byte) int { return bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{")) }
