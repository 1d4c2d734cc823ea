package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

const base = "https://api.example.com/v1beta"

func request(t *testing.T, r abi.ChatRequest) abi.HTTPRequest {
	t.Helper()
	if r.BaseURL == "" {
		r.BaseURL = base
	}
	if r.Model == "" {
		r.Model = "m"
	}
	out, err := gemini{}.Request(r)
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
		"plain": {abi.ChatRequest{}, `{"contents":["{{messages}}"]}`},
		"everything": {
			abi.ChatRequest{System: "be\nbrief", MaxTokens: 5, Temperature: &temperature, Stop: []string{"a", "b"}, Tools: []abi.Tool{tool, {Name: "g"}}, ToolChoice: "f"},
			`{"contents":["{{messages}}"],"systemInstruction":{"parts":[{"text":"be\nbrief"}]},` +
				`"tools":[{"functionDeclarations":[{"name":"f","description":"does \"f\"","parametersJsonSchema":{"type":"object"}},{"name":"g","description":"g"}]}],` +
				`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}},` +
				`"generationConfig":{"maxOutputTokens":5,"temperature":0.25,"stopSequences":["a","b"]}}`,
		},
		"tool_choice required": {
			abi.ChatRequest{Tools: []abi.Tool{{Name: "g"}}, ToolChoice: "required"},
			`{"contents":["{{messages}}"],"tools":[{"functionDeclarations":[{"name":"g","description":"g"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`,
		},
		"tool_choice none": {
			abi.ChatRequest{Tools: []abi.Tool{{Name: "g"}}, ToolChoice: "none"},
			`{"contents":["{{messages}}"],"tools":[{"functionDeclarations":[{"name":"g","description":"g"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`,
		},
		"tool_choice without tools": {abi.ChatRequest{ToolChoice: "required"}, `{"contents":["{{messages}}"]}`},
		"the older field for the schema": {
			abi.ChatRequest{Tools: []abi.Tool{tool}, Options: abi.Raw(`{"schema_field":"parameters"}`)},
			`{"contents":["{{messages}}"],"tools":[{"functionDeclarations":[{"name":"f","description":"does \"f\"","parameters":{"type":"object"}}]}]}`,
		},
		"the provider's own tools": {
			abi.ChatRequest{Tools: []abi.Tool{{Name: "g"}}, Options: abi.Raw(`{"tools":[{"googleSearch":{}},{"codeExecution":{}}]}`)},
			`{"contents":["{{messages}}"],"tools":[{"functionDeclarations":[{"name":"g","description":"g"}]},{"googleSearch":{}},{"codeExecution":{}}]}`,
		},
		"the provider's own tools alone": {
			abi.ChatRequest{Options: abi.Raw(`{"tools":[{"googleSearch":{}}]}`)},
			`{"contents":["{{messages}}"],"tools":[{"googleSearch":{}}]}`,
		},
		"thinking": {
			abi.ChatRequest{MaxTokens: 5, Options: abi.Raw(`{"thinking_budget":-1,"include_thoughts":true,"thinking_level":"low"}`)},
			`{"contents":["{{messages}}"],"generationConfig":{"maxOutputTokens":5,"thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true,"thinkingLevel":"low"}}}`,
		},
		"further members replace ours": {
			abi.ChatRequest{System: "s", Temperature: &temperature, MaxTokens: 5, Options: abi.Raw(
				`{"generation_config":{"temperature":1,"topP":0.9},"extra_body":{"safetySettings":[],"systemInstruction":null},"thinking_budget":0}`)},
			`{"contents":["{{messages}}"],"generationConfig":{"maxOutputTokens":5,"thinkingConfig":{"thinkingBudget":0},"temperature":1,"topP":0.9},"safetySettings":[],"systemInstruction":null}`,
		},
		"the place of the messages cannot be forged": {
			abi.ChatRequest{System: `say "{{messages}}`, Stop: []string{"{{messages}}", `say "{{messages}}"`}},
			`{"contents":["{{messages}}"],"systemInstruction":{"parts":[{"text":"say \"\u007b{messages}}"}]},"generationConfig":{"stopSequences":["\u007b{messages}}","say \"{{messages}}\""]}}`,
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
	content := abi.Header{Name: "Content-Type", Value: "application/json"}
	accept := abi.Header{Name: "Accept", Value: "application/json"}
	events := abi.Header{Name: "Accept", Value: "text/event-stream"}
	key := abi.Header{Name: "x-goog-api-key", Value: "{{secret:api_key}}"}
	for name, c := range map[string]struct {
		in      abi.ChatRequest
		url     string
		headers []abi.Header
	}{
		"whole":  {abi.ChatRequest{Model: "gemini-3-pro"}, base + "/models/gemini-3-pro:generateContent", []abi.Header{content, accept, key}},
		"stream": {abi.ChatRequest{Stream: true}, base + "/models/m:streamGenerateContent?alt=sse", []abi.Header{content, events, key}},
		"name as the list has it": {
			abi.ChatRequest{Model: "models/m"}, base + "/models/m:generateContent", []abi.Header{content, accept, key},
		},
		"tuned model":              {abi.ChatRequest{Model: "tunedModels/mine"}, base + "/tunedModels/mine:generateContent", []abi.Header{content, accept, key}},
		"a name that needs escape": {abi.ChatRequest{Model: "a b?c:d"}, base + "/models/a%20b%3Fc%3Ad:generateContent", []abi.Header{content, accept, key}},
		"Vertex AI": {
			abi.ChatRequest{BaseURL: base + "/projects/p/locations/l/publishers/google", Stream: true, Options: abi.Raw(`{"auth":"bearer"}`)},
			base + "/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse",
			[]abi.Header{content, events, {Name: "Authorization", Value: "Bearer {{secret:api_key}}"}},
		},
		"further headers and parameters": {
			abi.ChatRequest{Stream: true, Options: abi.Raw(`{"auth":"none","headers":{"X-A":"b"},"query":{"a b":"c&d","k":"{{secret:k}}"}}`)},
			base + "/models/m:streamGenerateContent?alt=sse&a%20b=c%26d&k={{secret:k}}", []abi.Header{content, events, {Name: "X-A", Value: "b"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := request(t, c.in)
			if r.URL != c.url || r.Method != http.MethodPost {
				t.Errorf("%s %s, want POST %s", r.Method, r.URL, c.url)
			}
			if diff := cmp.Diff(c.headers, r.Headers); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestRefuses(t *testing.T) {
	t.Parallel()
	for _, options := range []string{
		`{"auth":"basic"}`, `{"schema_field":"x"}`, `{"extra_body":{"contents":[]}}`, `{"extra_body":{"generationConfig":{}}}`,
		`{"extra_body":{"x":["{{messages}}"]}}`, `{"tools":[{"x":["{{messages}}"]}]}`, `{"generation_config":{"x":["{{messages}}"]}}`,
		`{"thinking_level":"{{messages}}"}`, `[]`, `{`, `{"call_ids":"no"}`, `{"headers":{"a":1}}`,
	} {
		if _, err := (gemini{}).Request(abi.ChatRequest{Model: "m", BaseURL: base, Options: abi.Raw(options)}); err == nil {
			t.Errorf("options %s were accepted", options)
		}
	}
	for _, model := range []string{"", "..", "models/../../x", "/m", "m/", "a//b"} {
		if _, err := (gemini{}).Request(abi.ChatRequest{Model: model, BaseURL: base}); err == nil {
			t.Errorf("model %q was accepted", model)
		}
	}
	schema := abi.Tool{Name: "f", InputSchema: abi.Raw(`{"enum":["{{messages}}"]}`)}
	if _, err := (gemini{}).Request(abi.ChatRequest{Model: "m", BaseURL: base, Tools: []abi.Tool{schema}}); err == nil {
		t.Error("a schema with the place of the messages was accepted")
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	r, err := gemini{}.ModelsRequest(abi.ModelsQuery{BaseURL: base})
	if err != nil || r.URL != base+"/models?pageSize=1000" || r.Method != http.MethodGet {
		t.Errorf("request = %+v, %v", r, err)
	}
	list, err := gemini{}.ModelsResponse(abi.HTTPResponse{Body: `{"models":[` +
		`{"name":"models/a","inputTokenLimit":1000,"outputTokenLimit":50,"supportedGenerationMethods":["countTokens","generateContent"]},` +
		`{"name":"models/embed","supportedGenerationMethods":["embedContent"]},{"name":"tunedModels/b"},{"x":1},3],"nextPageToken":"t"}`})
	want := abi.ModelList{Models: []abi.Model{{ID: "a", Context: 1000, Output: 50}, {ID: "tunedModels/b"}}}
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("models: %v (-want +got):\n%s", err, diff)
	}
	for _, body := range []string{"", "<html>", `{"error":"no"}`, `{"models":{}}`, `[]`} {
		if _, err := (gemini{}).ModelsResponse(abi.HTTPResponse{Body: body}); err == nil {
			t.Errorf("body %q was accepted", body)
		}
	}
}
