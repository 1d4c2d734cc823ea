package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

func body(t *testing.T, r abi.ChatRequest) abi.HTTPRequest {
	t.Helper()
	out, err := (messages{}).Request(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What a request looks like, with all that it can hold and with nothing.
func TestRequest(t *testing.T) {
	t.Parallel()
	temperature := 0.5
	tool := abi.Tool{Name: "ls", Description: "lists", InputSchema: abi.Raw(`{"type":"object"}`)}
	for name, tc := range map[string]struct {
		r    abi.ChatRequest
		url  string
		want string
	}{
		"nothing": {
			abi.ChatRequest{Model: "claude-x", BaseURL: "http://127.0.0.1:1"}, "http://127.0.0.1:1/v1/messages",
			`{"model":"claude-x","max_tokens":16384,"messages":["{{messages}}"],"stream":false}`,
		},
		"Anthropic itself": {
			abi.ChatRequest{Model: "m", BaseURL: "https://api.anthropic.com", System: "S", Stream: true, MaxTokens: 5, Temperature: &temperature, Stop: []string{"a"}, Tools: []abi.Tool{tool}},
			"https://api.anthropic.com/v1/messages",
			`{"model":"m","max_tokens":5,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":["{{messages}}"],"stream":true,` +
				`"cache_control":{"type":"ephemeral"},"temperature":0.5,"stop_sequences":["a"],"tools":[{"name":"ls","description":"lists","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]}`,
		},
		"elsewhere, with /v1": {
			abi.ChatRequest{Model: "m", BaseURL: "https://gw.example/anthropic/v1", System: "S", Options: abi.Raw(`{"cache_ttl":"1h"}`)},
			"https://gw.example/anthropic/v1/messages",
			`{"model":"m","max_tokens":16384,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral","ttl":"1h"}}],"messages":["{{messages}}"],"stream":false}`,
		},
		"no cache, thinking with a budget": {
			abi.ChatRequest{Model: "m", BaseURL: "https://api.anthropic.com", System: "S", Temperature: &temperature, Options: abi.Raw(`{"cache":"off","thinking_budget":2000,"max_tokens":100,"effort":"low"}`)},
			"https://api.anthropic.com/v1/messages",
			`{"model":"m","max_tokens":2100,"system":"S","messages":["{{messages}}"],"stream":false,"thinking":{"type":"enabled","budget_tokens":2000},"output_config":{"effort":"low"}}`,
		},
		"adaptive thinking, shown": {
			abi.ChatRequest{Model: "m", BaseURL: "http://x", Tools: []abi.Tool{tool}, ToolChoice: "none", Options: abi.Raw(`{"cache":"off","thinking":"adaptive","thinking_display":"summarized"}`)},
			"http://x/v1/messages",
			`{"model":"m","max_tokens":16384,"messages":["{{messages}}"],"stream":false,"thinking":{"type":"adaptive","display":"summarized"},"tools":[{"name":"ls","description":"lists","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"}}`,
		},
		"no thinking": {
			abi.ChatRequest{Model: "m", BaseURL: "http://x", Options: abi.Raw(`{"thinking":"off","thinking_display":"summarized"}`)},
			"http://x/v1/messages", `{"model":"m","max_tokens":16384,"messages":["{{messages}}"],"stream":false,"thinking":{"type":"disabled"}}`,
		},
		"a tool of the provider's, one that must be called": {
			abi.ChatRequest{Model: "m", BaseURL: "http://x", Tools: []abi.Tool{tool}, ToolChoice: "ls", Options: abi.Raw(`{"cache":"off","thinking":"adaptive","tools":[{"type":"web_search_20250305","name":"web_search"}],"extra_body":{"top_k":3}}`)},
			"http://x/v1/messages",
			`{"model":"m","max_tokens":16384,"messages":["{{messages}}"],"stream":false,"tools":[{"type":"web_search_20250305","name":"web_search"},{"name":"ls","description":"lists","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"ls"},"top_k":3}`,
		},
	} {
		got := body(t, tc.r)
		if got.URL != tc.url {
			t.Errorf("%s: URL %s, want %s", name, got.URL, tc.url)
		}
		if diff := cmp.Diff(tc.want, got.Body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The key is in the header that the option says.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`{}`:                                  "anthropic-version: 2023-06-01, x-api-key: {{secret:api_key}}",
		`{"auth":"bearer","betas":["a","b"]}`: "anthropic-version: 2023-06-01, anthropic-beta: a,b, Authorization: Bearer {{secret:api_key}}",
		`{"auth":"none","version":"1","headers":{"x":"y"}}`: "anthropic-version: 1, x: y",
	} {
		var all []string
		for _, h := range body(t, abi.ChatRequest{BaseURL: "http://x", Options: abi.Raw(options)}).Headers[2:] {
			all = append(all, h.Name+": "+h.Value)
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: %s, want %s", options, got, want)
		}
	}
}

// Options that would break the request are refused.
func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []string{`{"auth":"x"}`, `{"extra_body":{"model":"x"}}`, `{"extra_body":{"a":"{{messages}}"}}`, `{"tools":[{"a":"{{messages}}"}]}`, `{`} {
		if _, err := (messages{}).Request(abi.ChatRequest{BaseURL: "http://x", Options: abi.Raw(o)}); err == nil {
			t.Errorf("%s was taken", o)
		}
	}
}

// What each message becomes.
func TestMessages(t *testing.T) {
	t.Parallel()
	msg := func(role abi.Role, parts ...abi.Part) abi.Message { return abi.Message{Role: role, Parts: parts} }
	txt := func(s string) abi.Part { return abi.Part{Type: abi.PartText, Text: s} }
	use := abi.Part{Type: abi.PartProviderTool, Name: "web_search", Opaque: `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query": "x"}}`}
	found := abi.Part{Type: abi.PartProviderTool, Name: "web_search", Opaque: `{"type":"web_search_tool_result","tool_use_id":"srv1","content":[]}`}
	for name, tc := range map[string]struct {
		m    abi.Message
		want string
	}{
		"text":  {msg(abi.RoleUser, txt("a"), txt(" "), txt("b")), `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		"blank": {msg(abi.RoleUser, txt(" ")), `{"role":"user","content":[{"type":"text","text":"(no text)"}]}`},
		"image and PDF": {
			msg(abi.RoleUser, abi.Part{Type: abi.PartImage, Blob: "b1", MediaType: "image/png"}, abi.Part{Type: abi.PartFile, Blob: "b2", MediaType: "application/pdf", Name: "a.pdf"}, abi.Part{Type: abi.PartFile, Blob: "b3", MediaType: "text/csv", Name: "a.csv"}),
			`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"{{blob:b1}}"}},` +
				`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"{{blob:b2}}"},"title":"a.pdf"},` +
				`{"type":"text","text":"(attached: a.csv, text/csv, which cannot be shown here)"}]}`,
		},
		"STR-8: thinking, and what the provider ran": {
			msg(abi.RoleAssistant, abi.Part{Type: abi.PartReasoning, Text: "hm", Signature: "S1"}, abi.Part{Type: abi.PartReasoning, Text: "unsigned"},
				abi.Part{Type: abi.PartReasoning, Opaque: `{"type":"redacted_thinking","data":"R"}`}, abi.Part{Type: abi.PartProviderTool, Name: "web_search", Opaque: `{"type":"x_tool_result"}`}, txt("a"),
				abi.Part{Type: abi.PartToolCall, CallID: "t_1.1.2", Name: "ls", Arguments: `{"x":1}`}),
			`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"S1"},{"type":"redacted_thinking","data":"R"},{"type":"x_tool_result"},{"type":"text","text":"a"},` +
				`{"type":"tool_use","id":"t_1_1_2","name":"ls","input":{"x":1}}]}`,
		},
		"STR-8: thinking at the end stays out": {
			msg(abi.RoleAssistant, txt("a"), abi.Part{Type: abi.PartReasoning, Text: "hm", Signature: "S1"}),
			`{"role":"assistant","content":[{"type":"text","text":"a"}]}`,
		},
		"STR-8: nothing but thinking": {
			msg(abi.RoleAssistant, abi.Part{Type: abi.PartReasoning, Text: "hm", Signature: "S1"}),
			`{"role":"assistant","content":[{"type":"text","text":"(no text)"}]}`,
		},
		"STR-8: what a text is taken from": {
			msg(abi.RoleAssistant, abi.Part{Type: abi.PartText, Text: "a", Signature: `[{"type":"x", "a":1}]`}, abi.Part{Type: abi.PartText, Text: "b", Signature: "other"}),
			`{"role":"assistant","content":[{"type":"text","text":"a","citations":[{"type":"x", "a":1}]},{"type":"text","text":"b"}]}`,
		},
		"C042: a paused answer goes back as it is": {
			msg(abi.RoleAssistant, txt("a"), use), `{"role":"assistant","content":[{"type":"text","text":"a"},` + use.Opaque + `]}`,
		},
		"C042: a use with its result": {
			msg(abi.RoleAssistant, use, found, txt("a")), `{"role":"assistant","content":[` + use.Opaque + `,` + found.Opaque + `,{"type":"text","text":"a"}]}`,
		},
		"C042: a use whose result did not come": {
			msg(abi.RoleAssistant, txt("a"), use, txt("[stream interrupted]")), `{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"[stream interrupted]"}]}`,
		},
		"C042: a use beside a call": {
			msg(abi.RoleAssistant, use, txt("a"), abi.Part{Type: abi.PartToolCall, CallID: "t", Name: "ls", Arguments: `{}`}),
			`{"role":"assistant","content":[` + use.Opaque + `,{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"ls","input":{}}]}`,
		},
		"C042: a use that was not whole": {
			msg(abi.RoleAssistant, txt("a"), abi.Part{Type: abi.PartProviderTool, Name: "web_search"}), `{"role":"assistant","content":[{"type":"text","text":"a"}]}`,
		},
		"C028, C030: arguments that are no object": {
			msg(abi.RoleAssistant, abi.Part{Type: abi.PartToolCall, CallID: "t", Name: "ls", Arguments: `{"x":`}), `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}}]}`,
		},
		"results": {
			msg(abi.RoleTool, abi.Part{Type: abi.PartToolResult, CallID: "t_1.1.2", Text: "files"}, abi.Part{Type: abi.PartToolResult, CallID: "t_1.1.3", IsError: true}),
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t_1_1_2","content":"files"},{"type":"tool_result","tool_use_id":"t_1_1_3","content":"(no text)","is_error":true}]}`,
		},
	} {
		got, err := (messages{}).Messages(abi.ChatMessages{Messages: []abi.Message{tc.m}})
		if err != nil || len(got) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, got[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
