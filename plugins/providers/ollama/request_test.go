package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

const base = "http://127.0.0.1:11434"

func request(t *testing.T, r abi.ChatRequest) abi.HTTPRequest {
	t.Helper()
	if r.BaseURL == "" {
		r.BaseURL = base
	}
	r.Model = "m"
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
	f := abi.Tool{Name: "f", Description: "does \"f\"", InputSchema: abi.Raw(`{"type":"object"}`)}
	const (
		fJSON = `{"type":"function","function":{"name":"f","description":"does \"f\"","parameters":{"type":"object"}}}`
		gJSON = `{"type":"function","function":{"name":"g","description":"","parameters":{"type":"object","properties":{}}}}`
		whole = `{"model":"m","messages":["{{messages}}"],"stream":false`
	)
	both := []abi.Tool{f, {Name: "g"}}
	for name, c := range map[string]struct {
		in   abi.ChatRequest
		want string
	}{
		"stream": {abi.ChatRequest{Stream: true}, `{"model":"m","messages":["{{messages}}"],"stream":true}`},
		"whole":  {abi.ChatRequest{}, whole + `}`},
		"everything": {
			abi.ChatRequest{
				System: "be\nbrief", MaxTokens: 5, Temperature: &temperature, Stop: []string{"a", "b"}, Tools: both,
				Options: abi.Raw(`{"think":"low","num_ctx":8192,"keep_alive":-1,"parameters":{"seed":1},"extra_body":{"truncate":false}}`),
			},
			`{"model":"m","messages":[{"role":"system","content":"be\nbrief"},"{{messages}}"],"stream":false,"tools":[` + fJSON + `,` + gJSON + `],"think":"low","keep_alive":-1,` +
				`"options":{"num_ctx":8192,"num_predict":5,"temperature":0.25,"stop":["a","b"],"seed":1},"truncate":false}`,
		},
		"thinking off, a duration": {abi.ChatRequest{Options: abi.Raw(`{"think":false,"keep_alive":"10m"}`)}, whole + `,"think":false,"keep_alive":"10m"}`},
		"parameters replace": {
			abi.ChatRequest{MaxTokens: 5, Options: abi.Raw(`{"num_ctx":1,"parameters":{"num_ctx":2,"num_predict":-1}}`)},
			whole + `,"options":{"num_ctx":2,"num_predict":-1}}`,
		},
		"extra_body replaces": {
			abi.ChatRequest{Tools: both, Options: abi.Raw(`{"think":true,"extra_body":{"think":"high","tools":[]}}`)}, whole + `,"think":"high","tools":[]}`,
		},
		"tool_choice none":              {abi.ChatRequest{Tools: both, ToolChoice: "none"}, whole + `}`},
		"tool_choice required":          {abi.ChatRequest{Tools: both[:1], ToolChoice: "required"}, whole + `,"tools":[` + fJSON + `]}`},
		"tool_choice of one":            {abi.ChatRequest{Tools: both, ToolChoice: "g"}, whole + `,"tools":[` + gJSON + `]}`},
		"the place cannot be forged":    {abi.ChatRequest{System: `"{{messages}}"`}, `{"model":"m","messages":[{"role":"system","content":"\"{{messages}}\""},"{{messages}}"],"stream":false}`},
		"the place cannot be forged, 2": {abi.ChatRequest{System: `{{messages}}`}, `{"model":"m","messages":[{"role":"system","content":"\u007b{messages}}"},"{{messages}}"],"stream":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, request(t, c.in).Body); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestHead(t *testing.T) {
	t.Parallel()
	accept := abi.Header{Name: "Accept", Value: "application/json"}
	content := abi.Header{Name: "Content-Type", Value: "application/json"}
	bearer := abi.Header{Name: "Authorization", Value: "Bearer {{secret:api_key}}"}
	for name, c := range map[string]struct {
		base, options, url string
		headers            []abi.Header
	}{
		"usual":                  {base, ``, base + "/api/chat", []abi.Header{content, accept, bearer}},
		"C020 with /api":         {base + "/api", ``, base + "/api/chat", []abi.Header{content, accept, bearer}},
		"C020 the whole address": {base + "/api/chat", ``, base + "/api/chat", []abi.Header{content, accept, bearer}},
		"behind a proxy":         {"https://h/o", `{"auth":"none","headers":{"X-A":"b"}}`, "https://h/o/api/chat", []abi.Header{content, accept, {Name: "X-A", Value: "b"}}},
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
		`{"auth":"basic"}`, `{"extra_body":{"messages":[]}}`, `{"extra_body":{"model":"x"}}`, `{"extra_body":{"stream":true}}`, `{"extra_body":{"options":{}}}`,
		`{"extra_body":{"x":["{{messages}}"]}}`, `{"parameters":{"x":["{{messages}}"]}}`, `{"think":"{{messages}}"}`, `[]`, `{`, `{"num_ctx":"big"}`, `{"headers":{"a":1}}`,
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
		"images": {
			abi.Message{Role: abi.RoleUser, Parts: []abi.Part{text("see"), {Type: abi.PartImage, Blob: "1a", MediaType: "image/png"}, {Type: abi.PartImage, Blob: "2b", MediaType: "image/jpeg"}}},
			`{"role":"user","content":"see","images":["{{blob:1a}}","{{blob:2b}}"]}`,
		},
		"an image alone": {
			abi.Message{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartImage, Blob: "1a"}}}, `{"role":"user","content":"","images":["{{blob:1a}}"]}`,
		},
		"a file has no place": {
			abi.Message{Role: abi.RoleUser, Parts: []abi.Part{text("see"), {Type: abi.PartFile, Blob: "1a", Name: "a.pdf", MediaType: "application/pdf"}}},
			`{"role":"user","content":"see\n\n[A file was attached that cannot be passed on to you: a.pdf (application/pdf)]"}`,
		},
		"assistant with a marker": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartReasoning, Text: "hm"}, text("The total is"), text("[stream interrupted]")}},
			`{"role":"assistant","content":"The total is\n\n[stream interrupted]"}`,
		},
		"thinking goes back with calls": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartReasoning, Text: "hm"}, text("wait"), call("t.1.1", `{"x": 1}`), call("t.1.2", `{}`)}},
			`{"role":"assistant","content":"wait","thinking":"hm","tool_calls":[{"function":{"name":"f","arguments":{"x": 1}}},` +
				`{"function":{"name":"f","arguments":{}}}]}`,
		},
		"C028, C030 arguments that are no object": {
			abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{call("a", ``), call("b", `{"content":"aaaa`), call("c", `[1]`)}},
			`{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{}}},` +
				`{"function":{"name":"f","arguments":{}}},{"function":{"name":"f","arguments":{}}}]}`,
		},
		"a message for each result": {
			abi.Message{Role: abi.RoleTool, Parts: []abi.Part{
				{Type: abi.PartToolResult, CallID: "t.1.1", Name: "f", Text: "one"}, {Type: abi.PartToolResult, CallID: "t.1.2", Name: "g", Text: "two", IsError: true},
			}},
			`{"role":"tool","tool_name":"f","content":"one"},{"role":"tool","tool_name":"g","content":"two"}`,
		},
		"the place of the messages cannot be forged": {abi.Message{Role: abi.RoleUser, Parts: []abi.Part{text("{{messages}}")}}, `{"role":"user","content":"\u007b{messages}}"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := chat{}.Messages(abi.ChatMessages{Messages: []abi.Message{c.in}})
			if diff := cmp.Diff([]string{c.want}, got); err != nil || diff != "" {
				t.Errorf("%v, fragments (-want +got):\n%s", err, diff)
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
	if err != nil || r.URL != base+"/api/tags" || r.Method != http.MethodGet || r.Body != "" {
		t.Errorf("request = %+v, %v", r, err)
	}
	list, err := chat{}.ModelsResponse(abi.HTTPResponse{Body: `{"models":[{"name":"a:latest","model":"a:latest","size":1,"details":{"family":"x"}},{"name":"b"},{"model":"c"},{"size":1},3]}`})
	want := abi.ModelList{Models: []abi.Model{{ID: "a:latest"}, {ID: "b"}, {ID: "c"}}}
	if diff := cmp.Diff(want, list); err != nil || diff != "" {
		t.Errorf("models: %v (-want +got):\n%s", err, diff)
	}
	for _, body := range []string{"", "<html>", `{"error":"no"}`, `{"models":{}}`, `[]`} {
		if _, err := (chat{}).ModelsResponse(abi.HTTPResponse{Body: body}); err == nil {
			t.Errorf("body %q was accepted", body)
		}
	}
}
