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
			f.Add([]byte(fr.data), fr.name, "mf1.2")
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, name, state string) {
		d := provider.Decoder{State: state}
		if err := (gemini{}).Frame(&d, data, name); err != nil {
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
	f.Add(int64(200), `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`)
	f.Add(int64(200), `[{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"x"}}]}}]}]`)
	f.Add(int64(404), `[{"error":{"code":404,"status":"NOT_FOUND","details":[{"retryDelay":"1s"}]}}]`)
	f.Add(int64(400), wrongKey)
	f.Add(int64(429), dayQuota)
	f.Add(int64(200), `{"models":[{"name":"models/a","supportedGenerationMethods":["generateContent"]}]}`)
	f.Fuzz(func(t *testing.T, status int64, body string) {
		r := abi.HTTPResponse{Status: status, Body: body, URL: "http://localhost/models/m:generateContent"}
		if fail := (gemini{}).Error(r); fail.Class == "" || fail.Message == "" {
			t.Errorf("failure = %+v", fail)
		}
		events, err := gemini{}.Response(r)
		if err != nil || len(events) == 0 {
			t.Fatalf("response = %v, %v", events, err)
		}
		if last := events[len(events)-1].Type; last != abi.EventDone && last != abi.EventFailure {
			t.Errorf("the answer ends with %s", last)
		}
		checkEvents(t, events)
		_, _ = gemini{}.ModelsResponse(r)
	})
}

// FuzzMessages: whatever was said and called before, the fragments are JSON.
func FuzzMessages(f *testing.F) {
	f.Add("user", "Hi", `{"x":1}`, "S", `{"executableCode":{}}`)
	f.Add("assistant", "{{messages}}", `{"x":`, "", `{}`)
	f.Add("tool", "\xff\"\\\u2028", ``, "\x00", `x`)
	f.Fuzz(func(t *testing.T, role, text, arguments, signature, opaque string) {
		got, err := gemini{}.Messages(abi.ChatMessages{Messages: []abi.Message{{Role: abi.Role(role), Parts: []abi.Part{
			{Type: abi.PartReasoning, Text: text, Signature: signature},
			{Type: abi.PartText, Text: text, Signature: signature},
			{Type: abi.PartProviderTool, Opaque: opaque},
			{Type: abi.PartToolCall, CallID: text, Name: role, Arguments: arguments, Signature: signature},
			{Type: abi.PartToolResult, CallID: text, Text: text},
			{Type: abi.PartImage, Blob: text, MediaType: role},
		}}}})
		if err != nil {
			return
		}
		if len(got) != 1 || !json.Valid([]byte(got[0])) {
			t.Errorf("fragments = %q", got)
		}
	})
}

// FuzzRequest: names and options give an error, or a body with one place for the
// messages at an address below the base.
func FuzzRequest(f *testing.F) {
	f.Add("m", `{"auth":"none","thinking_budget":1,"query":{"c":"d"},"tools":[{"x":{}}]}`, "system")
	f.Add("tunedModels/../x", `{"generation_config":{"a":1},"extra_body":{"e":[1,{"f":null}]}}`, `"{{messages}}"`)
	f.Fuzz(func(t *testing.T, model, options, system string) {
		r, err := gemini{}.Request(abi.ChatRequest{Model: model, System: system, BaseURL: "http://localhost", Options: abi.Raw(options), Stream: true, MaxTokens: 1})
		if err != nil {
			return
		}
		if !json.Valid([]byte(r.Body)) || strings.Count(r.Body, messagesPlace) != 1 {
			t.Errorf("body = %s", r.Body)
		}
		if path, _, _ := strings.Cut(r.URL, "?"); strings.Contains(path+"/", "/../") || strings.ContainsAny(path, " #\n") {
			t.Errorf("address = %s", r.URL)
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
		if e.Type == abi.EventToolCall && (e.Index == nil || *e.Index < 0 || e.Name == "") {
			t.Errorf("a call can be taken for another: %+v", e)
		}
		if e.Type == abi.EventFailure && (e.Failure.Class == "" || e.Failure.Message == "") {
			t.Errorf("a failure says nothing: %+v", e.Failure)
		}
		if e.Type == abi.EventUsage && tellUsage(e.Usage) == "" {
			t.Error("usage without a number")
		}
	}
}

// depth bounds how deeply JSON can be nested in data.
func depth(data []byte) int { return bytes.Count(data, []byte("[")) + bytes.Count(data, []byte("{")) }
