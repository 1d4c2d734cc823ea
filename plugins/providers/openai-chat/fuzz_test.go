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

// FuzzFrame: no frame breaks the plugin. What is not JSON is one failure, and
// what is gives only text that stands in it.
func FuzzFrame(f *testing.F) {
	for _, c := range streamCases() {
		for _, fr := range frames(c.stream) {
			f.Add([]byte(fr.data), fr.name)
		}
	}
	f.Add([]byte("11\f"), "")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		var d provider.Decoder
		if err := (chat{}).Frame(&d, data, name); err != nil {
			t.Fatalf("plugin failure: %v", err)
		}
		blank := len(bytes.TrimSpace(data)) == 0
		junk := !blank && string(bytes.TrimSpace(data)) != "[DONE]" && !json.Valid(data)
		if junk && (name == "" || name == "message") && depth(data) < 100 {
			if len(d.Events) != 1 || d.Events[0].Type != abi.EventFailure {
				t.Errorf("junk gave %s", tell(d.Events))
			}
		}
		if blank && len(d.Events) > 0 {
			t.Errorf("a blank frame gave %s", tell(d.Events))
		}
		checkEvents(t, d.Events)
	})
}

// FuzzResponse: no body breaks the plugin, and every answer has an end.
func FuzzResponse(f *testing.F) {
	f.Add(int64(200), `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`)
	f.Add(int64(200), `{"choices":[{"error":{"code":429}}]}`)
	f.Add(int64(404), `[{"error":{"code":404,"status":"NOT_FOUND","details":[{"retryDelay":"1s"}]}}]`)
	f.Add(int64(500), `<html>`)
	f.Add(int64(422), `{"detail":[{"msg":"x"}],"metadata":{"raw":"y","reasons":[1]},"innererror":{"code":"z"}}`)
	f.Fuzz(func(t *testing.T, status int64, body string) {
		r := abi.HTTPResponse{Status: status, Body: body, URL: "http://localhost/chat/completions"}
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
	f.Add("user", "Hi", `{"x":1}`, `{"type":"reasoning.text","text":null}`)
	f.Add("assistant", "{{messages}}", `{"x":`, `{}`)
	f.Add("tool", "\xff\"\\\u2028", ``, `{"data":"x"}`)
	f.Fuzz(func(t *testing.T, role, text, arguments, signature string) {
		got, err := chat{}.Messages(abi.ChatMessages{Messages: []abi.Message{{Role: abi.Role(role), Parts: []abi.Part{
			{Type: abi.PartReasoning, Text: text, Signature: signature},
			{Type: abi.PartText, Text: text},
			{Type: abi.PartToolCall, CallID: text, Name: role, Arguments: arguments},
			{Type: abi.PartToolResult, CallID: text, Text: text},
			{Type: abi.PartFile, Blob: text, Name: signature, MediaType: role},
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
	f.Add(`{"auth":"none","include_usage":false,"max_tokens_field":"x","system_role":"y"}`, "system")
	f.Add(`{"headers":{"a":"b"},"query":{"c":"d"},"extra_body":{"e":[1,{"f":null}]}}`, `"{{messages}}"`)
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
		if !utf8.ValidString(e.Text) || !utf8.ValidString(e.ID) || !utf8.ValidString(e.Raw) {
			t.Errorf("event is not UTF-8: %+v", e)
		}
		if (e.Type == abi.EventText || e.Type == abi.EventReasoning) && e.Text == "" && e.Signature == "" {
			t.Errorf("an event says nothing: %+v", e)
		}
		if e.Type == abi.EventFailure && e.Failure.Class == "" {
			t.Errorf("a failure has no class: %+v", e.Failure)
		}
		if e.Type == abi.EventUsage && tellUsage(e.Usage) == "" {
			t.Error("usage without a number")
		}
	}
}

// depth bounds how deeply JSON can be nested in data.
func depth(data []byte) int { return bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{")) }
