package main

import (
	"encoding/json"
	"net/http"
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
	out, err := responses{}.Request(r)
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
	const encrypted = `"store":false,"include":["reasoning.encrypted_content"]`
	for name, c := range map[string]struct {
		in   abi.ChatRequest
		want string
	}{
		"stream": {abi.ChatRequest{Stream: true}, `{"model":"m","input":["{{messages}}"],"stream":true,` + encrypted + `}`},
		"whole":  {abi.ChatRequest{}, `{"model":"m","input":["{{messages}}"],"stream":false,` + encrypted + `}`},
		"everything": {
			abi.ChatRequest{
				System: "be\nbrief", MaxTokens: 5, Temperature: &temperature, Stop: []string{"a"}, Tools: []abi.Tool{tool, {Name: "g"}}, ToolChoice: "f",
				Options: abi.Raw(`{"reasoning_effort":"low","reasoning_summary":"auto","verbosity":"high","service_tier":"flex","tools":[{"type":"web_search"}],"include":["x"]}`),
			},
			`{"model":"m","instructions":"be\nbrief","input":["{{messages}}"],"stream":false,"store":false,"include":["reasoning.encrypted_content","x"],` +
				`"reasoning":{"effort":"low","summary":"auto"},"text":{"verbosity":"high"},"service_tier":"flex","max_output_tokens":5,"temperature":0.25,` +
				`"tools":[{"type":"function","name":"f","description":"does \"f\"","parameters":{"type":"object"},"strict":false},{"type":"function","name":"g","strict":false},{"type":"web_search"}],` +
				`"tool_choice":{"type":"function","name":"f"}}`,
		},
		"tool_choice word": {
			abi.ChatRequest{Tools: []abi.Tool{{Name: "g"}}, ToolChoice: "required"},
			`{"model":"m","input":["{{messages}}"],"stream":false,` + encrypted + `,"tools":[{"type":"function","name":"g","strict":false}],"tool_choice":"required"}`,
		},
		"tool_choice without tools": {
			abi.ChatRequest{ToolChoice: "required", Options: abi.Raw(`{"tools":[{"type":"web_search"}]}`)},
			`{"model":"m","input":["{{messages}}"],"stream":false,` + encrypted + `,"tools":[{"type":"web_search"}]}`,
		},
		"a model that does not reason": {abi.ChatRequest{Model: "gpt-4.1-mini"}, `{"model":"gpt-4.1-mini","input":["{{messages}}"],"stream":false,"store":false}`},
		"a model that does not reason, tuned, of a gateway": {
			abi.ChatRequest{Model: "openai/gpt-4o"}, `{"model":"openai/gpt-4o","input":["{{messages}}"],"stream":false,"store":false}`,
		},
		"encrypted reasoning by option": {
			abi.ChatRequest{Model: "gpt-4o", Options: abi.Raw(`{"encrypted_reasoning":true,"include":["reasoning.encrypted_content"]}`)},
			`{"model":"gpt-4o","input":["{{messages}}"],"stream":false,` + encrypted + `}`,
		},
		"no encrypted reasoning by option": {
			abi.ChatRequest{Options: abi.Raw(`{"encrypted_reasoning":false}`)}, `{"model":"m","input":["{{messages}}"],"stream":false,"store":false}`,
		},
		"further members replace ours": {
			abi.ChatRequest{System: "s", Temperature: &temperature, Options: abi.Raw(`{"reasoning_effort":"low","extra_body":{"temperature":1,"reasoning":{"effort":"high"},"store":true,"include":[],"instructions":null}}`)},
			`{"model":"m","input":["{{messages}}"],"stream":false,"temperature":1,"reasoning":{"effort":"high"},"store":true,"include":[],"instructions":null}`,
		},
		"the place of the messages cannot be forged": {
			abi.ChatRequest{Model: "{{messages}}", System: `say "{{messages}}`, Options: abi.Raw(`{"verbosity":"{{messages}}","include":["{{messages}}"]}`)},
			`{"model":"\u007b{messages}}","instructions":"say \"\u007b{messages}}","input":["{{messages}}"],"stream":false,"store":false,"include":["reasoning.encrypted_content","\u007b{messages}}"],"text":{"verbosity":"\u007b{messages}}"}}`,
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
	for name, c := range map[string]struct {
		base, options, url string
		headers            []abi.Header
	}{
		"key": {base, ``, base + "/responses",
			[]abi.Header{content, accept, {Name: "Authorization", Value: "Bearer {{secret:api_key}}"}}},
		"no key, local server": {"http://127.0.0.1:8080/v1", `{"auth":"none"}`, "http://127.0.0.1:8080/v1/responses", []abi.Header{content, accept}},
		"Azure": {"https://x.openai.azure.com/openai/v1", `{"auth":"api-key","query":{"api-version":"preview","k":"{{secret:k}}"}}`,
			"https://x.openai.azure.com/openai/v1/responses?api-version=preview&k={{secret:k}}",
			[]abi.Header{content, accept, {Name: "api-key", Value: "{{secret:api_key}}"}}},
		"further headers":               {base, `{"auth":"none","headers":{"X-Title":"zchost"}}`, base + "/responses", []abi.Header{content, accept, {Name: "X-Title", Value: "zchost"}}},
		"the whole address as base_url": {base + "/responses", `{"auth":"none"}`, base + "/responses", []abi.Header{content, accept}},
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

func TestRequestRefuses(t *testing.T) {
	t.Parallel()
	for _, options := range []string{
		`{"auth":"basic"}`, `{"extra_body":{"input":[]}}`, `{"extra_body":{"model":"x"}}`, `{"extra_body":{"stream":true}}`,
		`{"extra_body":{"x":["{{messages}}"]}}`, `{"tools":[{"x":["{{messages}}"]}]}`, `[]`, `{`, `{"encrypted_reasoning":"no"}`, `{"headers":{"a":1}}`,
	} {
		if _, err := (responses{}).Request(abi.ChatRequest{BaseURL: base, Options: abi.Raw(options)}); err == nil {
			t.Errorf("options %s were accepted", options)
		}
	}
	schema := abi.Tool{Name: "f", InputSchema: abi.Raw(`{"enum":["{{messages}}"]}`)}
	if _, err := (responses{}).Request(abi.ChatRequest{BaseURL: base, Tools: []abi.Tool{schema}}); err == nil {
		t.Error("a schema with the place of the messages was accepted")
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	r, err := responses{}.ModelsRequest(abi.ModelsQuery{BaseURL: base})
	if err != nil || r.URL != base+"/models" || r.Method != http.MethodGet {
		t.Errorf("request = %+v, %v", r, err)
	}
	list, err := responses{}.ModelsResponse(abi.HTTPResponse{Body: `{"object":"list","data":[{"id":"a","object":"model"},` +
		`{"id":"b","context_length":1000,"top_provider":{"max_completion_tokens":50}},{"id":"c","max_model_len":7},{"object":"x"},3]}`})
	want := abi.ModelList{Models: []abi.Model{{ID: "a"}, {ID: "b", Context: 1000, Output: 50}, {ID: "c", Context: 7}}}
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("models: %v (-want +got):\n%s", err, diff)
	}
	for _, body := range []string{"", "<html>", `{"error":"no"}`, `{"data":{}}`, `[]`} {
		if _, err := (responses{}).ModelsResponse(abi.HTTPResponse{Body: body}); err == nil {
			t.Errorf("body %q was accepted", body)
		}
	}
}
