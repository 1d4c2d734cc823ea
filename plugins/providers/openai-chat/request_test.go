package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

const base = "https://api.example.com/v1"

func request(t *testing.T, r abi.ChatRequest) abi.HTTPRequest {
	t.Helper()
	if r.BaseURL == "" {
		r.BaseURL = base
	}
	if r.Model == "" {
		r.Model = "m"
	}
	out, err := chat{}.Request(r)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.Body, messagesPlace) != 1 || !json.Valid([]byte(out.Body)) {
		t.Fatalf("body is not JSON with one place for the messages: %s", out.Body)
	}
	return out
}

func TestRequestBody(t *testing.T) {
	t.Parallel()
	temperature := 0.25
	tool := abi.Tool{Name: "f", Description: "does \"f\"", InputSchema: abi.Raw(`{"type":"object"}`)}
	for name, c := range map[string]struct {
		in   abi.ChatRequest
		want string
	}{
		"stream": {abi.ChatRequest{Stream: true}, `{"model":"m","messages":["{{messages}}"],"stream":true,"stream_options":{"include_usage":true}}`},
		"whole":  {abi.ChatRequest{}, `{"model":"m","messages":["{{messages}}"],"stream":false}`},
		"no usage": {
			abi.ChatRequest{Stream: true, Options: abi.Raw(`{"include_usage":false}`)},
			`{"model":"m","messages":["{{messages}}"],"stream":true}`,
		},
		"everything": {
			abi.ChatRequest{System: "be\nbrief", MaxTokens: 5, Temperature: &temperature, Stop: []string{"a", "b"}, Tools: []abi.Tool{tool, {Name: "g"}}, ToolChoice: "f"},
			`{"model":"m","messages":[{"role":"system","content":"be\nbrief"},"{{messages}}"],"stream":false,"max_tokens":5,"temperature":0.25,"stop":["a","b"],` +
				`"tools":[{"type":"function","function":{"name":"f","description":"does \"f\"","parameters":{"type":"object"}}},{"type":"function","function":{"name":"g"}}],` +
				`"tool_choice":{"type":"function","function":{"name":"f"}}}`,
		},
		"tool_choice word": {
			abi.ChatRequest{Tools: []abi.Tool{{Name: "g"}}, ToolChoice: "required"},
			`{"model":"m","messages":["{{messages}}"],"stream":false,"tools":[{"type":"function","function":{"name":"g"}}],"tool_choice":"required"}`,
		},
		"tool_choice without tools": {abi.ChatRequest{ToolChoice: "required"}, `{"model":"m","messages":["{{messages}}"],"stream":false}`},
		"limit at OpenAI": {
			abi.ChatRequest{BaseURL: "https://api.openai.com/v1", MaxTokens: 5},
			`{"model":"m","messages":["{{messages}}"],"stream":false,"max_completion_tokens":5}`,
		},
		"limit by option": {
			abi.ChatRequest{BaseURL: "https://api.openai.com/v1", MaxTokens: 5, Options: abi.Raw(`{"max_tokens_field":"max_tokens"}`)},
			`{"model":"m","messages":["{{messages}}"],"stream":false,"max_tokens":5}`,
		},
		"role of the system prompt": {
			abi.ChatRequest{System: "s", Options: abi.Raw(`{"system_role":"developer"}`)},
			`{"model":"m","messages":[{"role":"developer","content":"s"},"{{messages}}"],"stream":false}`,
		},
		"extra members replace ours": {
			abi.ChatRequest{Stream: true, Temperature: &temperature, Options: abi.Raw(`{"extra_body":{"temperature":1,"reasoning":{"effort":"low"},"stream_options":null}}`)},
			`{"model":"m","messages":["{{messages}}"],"stream":true,"temperature":1,"reasoning":{"effort":"low"},"stream_options":null}`,
		},
		"the place of the messages cannot be forged": {
			abi.ChatRequest{Model: "{{messages}}", System: `say "{{messages}}`, Stop: []string{"{{messages}}", `say "{{messages}}"`}},
			`{"model":"\u007b{messages}}","messages":[{"role":"system","content":"say \"\u007b{messages}}"},"{{messages}}"],"stream":false,"stop":["\u007b{messages}}","say \"{{messages}}\""]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, request(t, c.in).Body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestAddressAndHeaders(t *testing.T) {
	t.Parallel()
	json := abi.Header{Name: "Content-Type", Value: "application/json"}
	accept := abi.Header{Name: "Accept", Value: "application/json"}
	for name, c := range map[string]struct {
		base, options, url string
		headers            []abi.Header
	}{
		"key": {base, ``, base + "/chat/completions",
			[]abi.Header{json, accept, {Name: "Authorization", Value: "Bearer {{secret:api_key}}"}}},
		"no key, local server": {"http://127.0.0.1:8080/v1", `{"auth":"none"}`, "http://127.0.0.1:8080/v1/chat/completions",
			[]abi.Header{json, accept}},
		"Azure": {"https://x.openai.azure.com/openai/deployments/d", `{"auth":"api-key","query":{"api-version":"2024-10-21","a b":"c&d","k":"{{secret:k}}"}}`,
			"https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21&a%20b=c%26d&k={{secret:k}}",
			[]abi.Header{json, accept, {Name: "api-key", Value: "{{secret:api_key}}"}}},
		"further headers": {base, `{"auth":"none","headers":{"X-Title":"zchost"}}`, base + "/chat/completions",
			[]abi.Header{json, accept, {Name: "X-Title", Value: "zchost"}}},
		"the whole address as base_url": {base + "/chat/completions", `{"auth":"none"}`, base + "/chat/completions", []abi.Header{json, accept}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, abi.ChatRequest{BaseURL: c.base, Options: abi.Raw(c.options)})
			if r.URL != c.url || r.Method != http.MethodPost {
				t.Errorf("%s %s, want POST %s", r.Method, r.URL, c.url)
			}
			if diff := cmp.Diff(c.headers, r.Headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestRefusesOptions(t *testing.T) {
	t.Parallel()
	for _, options := range []string{
		`{"auth":"basic"}`, `{"extra_body":{"messages":[]}}`, `{"extra_body":{"model":"x"}}`, `{"extra_body":{"stream":true}}`,
		`{"extra_body":{"x":["{{messages}}"]}}`, `[]`, `{`, `{"include_usage":"no"}`, `{"headers":{"a":1}}`,
	} {
		if _, err := (chat{}).Request(abi.ChatRequest{BaseURL: base, Options: abi.Raw(options)}); err == nil {
			t.Errorf("options %s were accepted", options)
		}
	}
	schema := abi.Tool{Name: "f", InputSchema: abi.Raw(`{"enum":["{{messages}}"]}`)}
	if _, err := (chat{}).Request(abi.ChatRequest{BaseURL: base, Tools: []abi.Tool{schema}}); err == nil {
		t.Error("a schema with the place of the messages was accepted")
	}
}

func TestFragments(t *testing.T) {
	t.Parallel()
	text := func(s string) abi.Part { return abi.Part{Type: abi.PartText, Text: s} }
	call := func(id, args string) abi.Part {
		return abi.Part{Type: abi.PartToolCall, CallID: id, Name: "f", Arguments: args}
	}
	for name, c := range map[string]struct {
		in   abi.Message
		want string
	}{
		"user":        {abi.Message{Role: abi.RoleUser, Parts: []abi.Part{text("Hi \"you\"\n")}}, `{"role":"user","content":"Hi \"you\"\n"}`},
		"user merged": {abi.Message{Role: abi.RoleUser, Parts: []abi.Part{text("one"), text("two")}}, `{"role":"user","content":"one\n\ntwo"}`},
		"assistant with a marker": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{text("The total is"), text("[stream interrupted]")}},
			`{"role":"assistant","content":"The total is\n\n[stream interrupted]"}`,
		},
		"content is null beside calls alone": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{call("call00001", `{"x": 1}`), call("call00002", `{}`)}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call00001","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}},{"id":"call00002","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		},
		"text and a call": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{text("wait"), call("call00001", `{}`)}},
			`{"role":"assistant","content":"wait","tool_calls":[{"id":"call00001","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		},
		"C028, C030 arguments that are no object": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{call("call00001", ``), call("call00002", `{"content":"aaaa`), call("call00003", `[1]`)}},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"call00001","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call00002","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"call00003","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		},
		"a message for each result": {
			abi.Message{Role: abi.RoleTool, Parts: []abi.Part{
				{Type: abi.PartToolResult, CallID: "call00001", Name: "f", Text: "one"}, {Type: abi.PartToolResult, CallID: "call00002", Text: "two", IsError: true},
			}},
			`{"role":"tool","tool_call_id":"call00001","content":"one"},{"role":"tool","tool_call_id":"call00002","content":"two"}`,
		},
		"image and files": {
			abi.Message{Role: abi.RoleUser, Parts: []abi.Part{
				text("see"), {Type: abi.PartImage, Blob: "1a", MediaType: "image/png", Name: "x"}, text(""),
				{Type: abi.PartFile, Blob: "2b", MediaType: "application/pdf", Name: "a \"b\".pdf"}, {Type: abi.PartFile, Blob: "3c", MediaType: "application/pdf"},
			}},
			`{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,{{blob:1a}}"}},` +
				`{"type":"file","file":{"filename":"a \"b\".pdf","file_data":"data:application/pdf;base64,{{blob:2b}}"}},` +
				`{"type":"file","file":{"filename":"file.pdf","file_data":"data:application/pdf;base64,{{blob:3c}}"}}]}`,
		},
		"STR-8 signature goes back": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{
				{Type: abi.PartReasoning, Text: "hm", Signature: `{"type":"reasoning.text","text":null,"signature":"S\u0031"}`},
				{Type: abi.PartReasoning, Signature: `{"type":"reasoning.encrypted","data":"AA=="}`}, text("Hi"),
			}},
			`{"role":"assistant","content":"Hi","reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"S\u0031"},{"type":"reasoning.encrypted","data":"AA=="}]}`,
		},
		"STR-8 an element without text gets the part's": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartReasoning, Text: "hm", Signature: `{"signature":"S"}`}}},
			`{"role":"assistant","content":"","reasoning_details":[{"signature":"S","text":"hm"}]}`,
		},
		"STR-8 encrypted reasoning gets no text": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartReasoning, Text: "hm", Signature: `{"data":"AA=="}`}}},
			`{"role":"assistant","content":"","reasoning_details":[{"data":"AA=="}]}`,
		},
		"C050 another vendor's signature is left out": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartReasoning, Text: "hm", Signature: "EqQB"}, {Type: abi.PartReasoning, Text: "x"}, text("Hi")}},
			`{"role":"assistant","content":"Hi"}`,
		},
		"the place of the messages cannot be forged": {abi.Message{Role: abi.RoleUser, Parts: []abi.Part{text("{{messages}}")}}, `{"role":"user","content":"\u007b{messages}}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := chat{}.Messages(abi.ChatMessages{Messages: []abi.Message{c.in}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Errorf("fragments (-want +got):\n%s", diff)
			}
		})
	}
	for _, m := range []abi.Message{{Role: "narrator"}, {Role: abi.RoleTool, Parts: []abi.Part{text("x")}}} {
		if _, err := (chat{}).Messages(abi.ChatMessages{Messages: []abi.Message{m}}); err == nil {
			t.Errorf("message %+v was accepted", m)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	r, err := chat{}.ModelsRequest(abi.ModelsQuery{BaseURL: base})
	if err != nil || r.URL != base+"/models" || r.Method != http.MethodGet {
		t.Errorf("request = %+v, %v", r, err)
	}
	list, err := chat{}.ModelsResponse(abi.HTTPResponse{Body: `{"object":"list","data":[{"id":"a","object":"model"},` +
		`{"id":"b","context_length":1000,"top_provider":{"max_completion_tokens":50}},{"id":"c","max_model_len":7},{"object":"x"},3]}`})
	want := abi.ModelList{Models: []abi.Model{{ID: "a"}, {ID: "b", Context: 1000, Output: 50}, {ID: "c", Context: 7}}}
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("models: %v (-want +got):\n%s", err, diff)
	}
	for _, body := range []string{"", "<html>", `{"error":"no"}`, `{"data":{}}`, `[]`} {
		if _, err := (chat{}).ModelsResponse(abi.HTTPResponse{Body: body}); err == nil {
			t.Errorf("body %q was accepted", body)
		}
	}
}

// C026: ids stay apart, are the same for call and result, and are what the
// strictest server takes.
func TestCallID(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)
	seen := map[string]string{}
	for turn := range 20 {
		for call := range 200 {
			id := fmt.Sprintf("t01jz%d.1.%d", turn, call)
			got := callID(id)
			if !valid.MatchString(got) {
				t.Errorf("the id of %q is %q", id, got)
			}
			if before, ok := seen[got]; ok {
				t.Errorf("%q and %q have the same id", before, id)
			}
			seen[got] = id
		}
	}
	if got := callID("aB3dE6gH9"); got != "aB3dE6gH9" {
		t.Errorf("a good id became %q", got)
	}
}
