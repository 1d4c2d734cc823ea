package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

func user(parts ...abi.Part) abi.Message { return abi.Message{Role: abi.RoleUser, Parts: parts} }

func model(parts ...abi.Part) abi.Message { return abi.Message{Role: abi.RoleAssistant, Parts: parts} }

func text(s, signature string) abi.Part {
	return abi.Part{Type: abi.PartText, Text: s, Signature: signature}
}

func toolCall(id, name, args, signature string) abi.Part {
	return abi.Part{Type: abi.PartToolCall, CallID: id, Name: name, Arguments: args, Signature: signature}
}

func TestFragments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   abi.Message
		want string
	}{
		"user":            {user(text("Hi \"you\"", "")), `{"role":"user","parts":[{"text":"Hi \"you\""}]}`},
		"user, two texts": {user(text("a", ""), text("b", "")), `{"role":"user","parts":[{"text":"a"},{"text":"b"}]}`},
		"nothing at all":  {user(text("", "")), `{"role":"user","parts":[{"text":""}]}`},
		"image and file": {
			user(text("see", ""), abi.Part{Type: abi.PartImage, Blob: "1a", MediaType: "image/jpg", Name: "x"}, abi.Part{Type: abi.PartFile, Blob: "2b", MediaType: "application/pdf"},
				abi.Part{Type: abi.PartFile, Blob: "3c", MediaType: "application/json; charset=utf-8"}),
			`{"role":"user","parts":[{"text":"see"},{"inlineData":{"mimeType":"image/jpeg","data":"{{blob:1a}}"}},{"inlineData":{"mimeType":"application/pdf","data":"{{blob:2b}}"}},` +
				`{"inlineData":{"mimeType":"text/plain","data":"{{blob:3c}}"}}]}`,
		},
		"C050 each signature on its part": {
			model(abi.Part{Type: abi.PartReasoning, Text: "t", Signature: "S1"}, toolCall("t1.1.1", "f", "{}", ""), toolCall("t1.1.2", "g", `{"x": 1}`, "S2")),
			`{"role":"model","parts":[{"text":"t","thought":true,"thoughtSignature":"S1"},{"functionCall":{"id":"t1.1.1","name":"f","args":{}}},` +
				`{"functionCall":{"id":"t1.1.2","name":"g","args":{"x": 1}},"thoughtSignature":"S2"}]}`,
		},
		"C050 a signature on a part without text": {
			model(text("Hi", ""), text("", "S==")), `{"role":"model","parts":[{"text":"Hi"},{"text":"","thoughtSignature":"S=="}]}`,
		},
		"C050 calls of another vendor's model": {
			model(text("Hi", ""), toolCall("t1.1.1", "f", "{}", ""), toolCall("t1.1.2", "g", "{}", "")),
			`{"role":"model","parts":[{"text":"Hi"},{"functionCall":{"id":"t1.1.1","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},` +
				`{"functionCall":{"id":"t1.1.2","name":"g","args":{}}}]}`,
		},
		"thoughts without a signature stay here": {
			model(abi.Part{Type: abi.PartReasoning, Text: "t"}, text("Hi", "")), `{"role":"model","parts":[{"text":"Hi"}]}`,
		},
		"thoughts alone": {model(abi.Part{Type: abi.PartReasoning, Text: "t"}), `{"role":"model","parts":[{"text":""}]}`},
		"C030 arguments that are no object": {
			model(toolCall("1", "f", `{"x":`, "S"), toolCall("2", "f", `[1]`, "")),
			`{"role":"model","parts":[{"functionCall":{"id":"1","name":"f","args":{}},"thoughtSignature":"S"},{"functionCall":{"id":"2","name":"f","args":{}}}]}`,
		},
		"results": {
			abi.Message{Role: abi.RoleTool, Parts: []abi.Part{
				{Type: abi.PartToolResult, CallID: "t1.1.1", Name: "f", Text: "one\n"}, {Type: abi.PartToolResult, CallID: "t1.1.2", Name: "g", Text: "no", IsError: true},
			}},
			`{"role":"user","parts":[{"functionResponse":{"id":"t1.1.1","name":"f","response":{"output":"one\n"}}},{"functionResponse":{"id":"t1.1.2","name":"g","response":{"error":"no"}}}]}`,
		},
		"STR-8 what the provider ran, byte for byte": {
			model(abi.Part{Type: abi.PartProviderTool, Opaque: `{"executableCode": {"code":"\u0031"}}`}, abi.Part{Type: abi.PartProviderTool, Text: "no form"},
				abi.Part{Type: abi.PartProviderTool, Opaque: `not JSON`}, text("1", "")),
			`{"role":"model","parts":[{"executableCode": {"code":"\u0031"}},{"text":"1"}]}`,
		},
		"the place of the messages cannot be forged": {user(text("{{messages}}", "")), `{"role":"user","parts":[{"text":"\u007b{messages}}"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := gemini{}.Messages(abi.ChatMessages{Messages: []abi.Message{c.in}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{c.want}, got); diff != "" {
				t.Errorf("fragments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFragmentsByOptions(t *testing.T) {
	t.Parallel()
	in := abi.ChatMessages{Options: abi.Raw(`{"call_ids":false,"sign_calls":false}`), Messages: []abi.Message{
		model(toolCall("t1.1.1", "f", "{}", "")),
		{Role: abi.RoleTool, Parts: []abi.Part{{Type: abi.PartToolResult, CallID: "t1.1.1", Name: "f", Text: "x"}}},
	}}
	got, err := gemini{}.Messages(in)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}`,
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"}}}]}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fragments (-want +got):\n%s", diff)
	}
	if _, err := (gemini{}).Messages(abi.ChatMessages{Messages: []abi.Message{{Role: "narrator"}}}); err == nil {
		t.Error("an unknown role was accepted")
	}
}
