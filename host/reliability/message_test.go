package reliability_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/reliability"
)

// What another provider is shown of an answer (C050): the text as it was read,
// also where it was cut into signed pieces, and the calls.
func TestMessageForAnother(t *testing.T) {
	t.Parallel()
	text := func(s, signature string) abi.Part {
		return abi.Part{Type: abi.PartText, Text: s, Signature: signature}
	}
	m := reliability.NewMessage(abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{
		text("It is ", "c1"), text("", "s"), text("a host", "c2"), text(".", ""),
		{Type: abi.PartProviderTool, Name: "search"},
		text("Done.", ""), {Type: abi.PartToolCall, CallID: "c", Name: "ls", Arguments: "{}", Signature: "s"}, text("So.", ""),
	}}, "a")
	want := []abi.Part{text("It is a host.", ""), text("Done.", ""), {Type: abi.PartToolCall, CallID: "c", Name: "ls", Arguments: "{}"}, text("So.", "")}
	if diff := cmp.Diff(want, m.For("b").Parts); diff != "" {
		t.Errorf("for another (-want +got):\n%s", diff)
	}
	if m.For("a") != m || m.For("b") != m.For("c") {
		t.Error("its own provider gets the message itself, the others share one")
	}
	thoughts := reliability.NewMessage(abi.Message{Role: abi.RoleAssistant, Parts: []abi.Part{{Type: abi.PartReasoning, Text: "hm"}}}, "a")
	if thoughts.For("b") != nil {
		t.Error("nothing is left, and yet there is a message")
	}
}
