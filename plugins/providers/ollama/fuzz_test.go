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

// FuzzFrame: no line and no state breaks the plugin. What is not JSON is one
// failure.
func FuzzFrame(f *testing.F) {
	for _, c := range streamCases() {
		for _, line := range frames(c.stream) {
			f.Add([]byte(line), "")
			f.Add([]byte(line), "m2.d83d.d83d")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, state string) {
		d := provider.Decoder{State: state}
		if err := (chat{}).Frame(&d, data, ""); err != nil {
			t.Fatalf("plugin failure: %v", err)
		}
		blank := len(bytes.TrimSpace(data)) == 0
		if !blank && !json.Valid(data) && depth(data) < 100 && (len(d.Events) != 1 || d.Events[0].Type != abi.EventFailure) {
			t.Errorf("junk gave %s", tell(d.Events))
		}
		if blank && len(d.Events) > 0 {
			t.Errorf("a blank line gave %s", tell(d.Events))
		}
		if again := readState(d.State).String(); d.State != state && again != d.State {
			t.Errorf("the state %s is read as %s", d.State, again)
		}
		checkEvents(t, d.Events)
	})
}

// FuzzResponse: no body breaks the plugin, and every answer has an end.
func FuzzResponse(f *testing.F) {
	f.Add(int64(200), `{"message":{"content":"Hi"},"done":true,"done_reason":"stop"}`)
	f.Add(int64(404), `{"error":"model 'm' not found"}`)
	f.Add(int64(500), `<html>`)
	f.Add(int64(200), `{"models":[{"name":"a"}]}`)
	f.Fuzz(func(t *testing.T, status int64, body string) {
		r := abi.HTTPResponse{Status: status, Body: body, URL: "http://localhost/v1/api/chat"}
		if fail := (chat{}).Error(r); fail.Class == "" || fail.Message == "" {
			t.Errorf("failure = %+v", fail)
		}
		events, err := chat{}.Response(r)
		if err != nil || len(events) == 0 {
			t.Fatalf("response = %v, %v", events, err)
		}
		if last := events[len(events)-1].Type; last != abi.EventDone && last != abi.EventFailure {
			t.Errorf("the answer ends with %s", last)
		}
		checkEvents(t, events)
		_, _ = chat{}.ModelsResponse(r)
	})
}

// FuzzMessages: whatever was said and called before, the fragments are JSON.
func FuzzMessages(f *testing.F) {
	f.Add("user", "Hi", `{"x":1}`)
	f.Add("assistant", "{{messages}}", `{"x":`)
	f.Add("tool", "\xff\"\\\u2028", ``)
	f.Fuzz(func(t *testing.T, role, text, arguments string) {
		got, err := chat{}.Messages(abi.ChatMessages{Messages: []abi.Message{{Role: abi.Role(role), Parts: []abi.Part{
			{Type: abi.PartReasoning, Text: text},
			{Type: abi.PartText, Text: text},
			{Type: abi.PartToolCall, CallID: text, Name: role, Arguments: arguments},
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

// FuzzOptions: options give an error, or a body with one place for the messages.
func FuzzOptions(f *testing.F) {
	f.Add(`{"auth":"none","think":"low","num_ctx":1,"keep_alive":-1}`, "system")
	f.Add(`{"headers":{"a":"b"},"parameters":{"c":1},"extra_body":{"e":[1,{"f":null}]}}`, `"{{messages}}"`)
	f.Fuzz(func(t *testing.T, options, system string) {
		r, err := chat{}.Request(abi.ChatRequest{Model: "m", System: system, BaseURL: "http://localhost", Options: abi.Raw(options), Stream: true, MaxTokens: 1})
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
		if !utf8.ValidString(e.Text) || !utf8.ValidString(e.Model) || !utf8.ValidString(e.Raw) {
			t.Errorf("event is not UTF-8: %+v", e)
		}
		if (e.Type == abi.EventText || e.Type == abi.EventReasoning) && e.Text == "" {
			t.Errorf("an event says nothing: %+v", e)
		}
		if e.Type == abi.EventFailure && (e.Failure.Class == "" || e.Failure.Message == "") {
			t.Errorf("a failure tells nothing: %+v", e.Failure)
		}
	}
}

// depth bounds how deeply JSON can be nested in data.
func depth(data []byte) int { return bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{")) }
