package provider_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/provider"
	"github.com/zchost/zchost/host/reliability"
)

// A message that another provider gave comes without what only that one
// understands, and one of which nothing is left does not come at all (C050).
func TestForeignMessages(t *testing.T) {
	t.Parallel()
	text := func(s string) abi.Part { return abi.Part{Type: abi.PartText, Text: s} }
	user := func(s string) *reliability.Message {
		return reliability.NewMessage(abi.Message{Role: abi.RoleUser, Parts: []abi.Part{text(s)}}, "")
	}
	thought := abi.Part{Type: abi.PartReasoning, Text: "hm", Signature: "S1", Opaque: "{}"}
	signed := abi.Part{Type: abi.PartText, Text: "b", Signature: "S2"}
	search := abi.Part{Type: abi.PartProviderTool, Name: "search", Opaque: "{}"}
	call := abi.Part{Type: abi.PartToolCall, CallID: "c", Name: "ls", Arguments: "{}", Signature: "S3"}
	given := []*reliability.Message{
		user("a"),
		reliability.NewMessage(abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{thought, search, signed, call}}, "other"),
		user("c"),
		reliability.NewMessage(abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{thought}}, "other"),
		user("d"),
		reliability.NewMessage(abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{thought, signed}}, "p"),
	}
	bare := call
	bare.Signature = ""
	want := []abi.Message{
		{Role: abi.RoleUser, Parts: []abi.Part{text("a")}},
		{Role: abi.RoleAssistant, Parts: []abi.Part{text("b"), bare}},
		{Role: abi.RoleUser, Parts: []abi.Part{text("c"), text("d")}},
		{Role: abi.RoleAssistant, Parts: []abi.Part{thought, signed}},
	}
	var got []abi.Message
	for _, m := range shown(t, "p", given) {
		got = append(got, m.Message)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The contents of images come in when the request is put together; text that
// looks like a placeholder stays.
func TestAttachments(t *testing.T) {
	t.Parallel()
	m := reliability.NewMessage(abi.Message{Role: abi.RoleUser, Parts: []abi.Part{
		{Type: abi.PartText, Text: "see {{blob:b2}}"},
		{Type: abi.PartImage, Blob: "b1", MediaType: "image/png"},
	}}, "")
	f, err := attached(t, m, `{"text":"see {{blob:b2}}","image":"data:image/png;base64,{{blob:b1}}"}`,
		func(_ context.Context, id string) ([]byte, error) { return []byte("bytes of " + id), nil })
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Text, Image string }
	if err := json.Unmarshal(f, &got); err != nil {
		t.Fatal(err)
	}
	if got.Text != "see {{blob:b2}}" || !strings.HasSuffix(got.Image, ";base64,Ynl0ZXMgb2YgYjE=") {
		t.Errorf("%+v", got)
	}
}

func shown(t *testing.T, name string, messages []*reliability.Message) []*reliability.Message {
	t.Helper()
	return provider.New(provider.Config{Name: name}).Own(messages)
}

func attached(t *testing.T, m *reliability.Message, fragment string, blob func(context.Context, string) ([]byte, error)) ([]byte, error) {
	t.Helper()
	f, err := provider.New(provider.Config{Blob: blob}).Attach(t.Context(), []*reliability.Message{m}, [][]byte{[]byte(fragment)})
	if err != nil {
		return nil, err
	}
	return f[0], nil
}
