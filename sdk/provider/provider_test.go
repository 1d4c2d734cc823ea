package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// faulty makes the mistakes that the SDK finds.
type faulty struct{ parrot }

func (faulty) Messages(abi.ChatMessages) ([]string, error) { return []string{"{}"}, nil }

func (faulty) Request(abi.ChatRequest) (abi.HTTPRequest, error) {
	return abi.HTTPRequest{}, errors.New("no request today")
}

func (faulty) Frame(d *provider.Decoder, data []byte, _ string) error {
	if string(data) == "bug" {
		return errors.New("a bug")
	}
	d.State = strings.Repeat("x", abi.MaxState+1)
	return nil
}

// lister has models.
type lister struct{ parrot }

func (lister) ModelsRequest(q abi.ModelsQuery) (abi.HTTPRequest, error) {
	return abi.HTTPRequest{Method: "GET", URL: q.BaseURL + "/models"}, nil
}

func (lister) ModelsResponse(r abi.HTTPResponse) (abi.ModelList, error) {
	return abi.ModelList{Models: []abi.Model{{ID: r.Body, Context: 8192}}}, nil
}

func TestExports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ export, in, want string }{
		{abi.ExportChatMessages, `{"messages":[{"role":"user","parts":[{"type":"text","text":"Hi"}]}]}`, `{"fragments":["{\"from\":\"user\",\"says\":\"Hi\"}"]}`},
		{
			abi.ExportChatRequest, `{"model":"grey","outline":"uT","base_url":"http://x","stream":true}`,
			`{"url":"http://x/talk","headers":[{"name":"Content-Type","value":"application/json"},{"name":"Authorization","value":"Bearer {{secret:api_key}}"}],` +
				`"body":"{\"model\":\"grey\",\"stream\":true,\"turns\":[\"{{messages}}\"]}"}`,
		},
		{
			abi.ExportChatEvents, "\x1e{}\n\x1e{\"piece\":\"Hi\"}\n\x1e{\"over\":true}\n",
			"\x1e{}\n\x1e{\"type\":\"text\",\"text\":\"Hi\"}\n\x1e{\"type\":\"finish\",\"reason\":\"stop\",\"raw\":\"over\"}\n\x1e{\"type\":\"done\"}\n",
		},
		{abi.ExportChatEvents, "\x1e{\"state\":\"kept\"}\n", "\x1e{\"state\":\"kept\"}\n"},
		{abi.ExportChatResponse, `{"status":200,"body":"{\"whole\":\"Hi\"}"}`, `{"events":[{"type":"text","text":"Hi"},{"type":"finish","reason":"stop"},{"type":"done"}]}`},
		{abi.ExportChatError, `{"status":429,"body":"{\"trouble\":\"tired\"}"}`, `{"class":"rate_limited","message":"tired","status":429}`},
		{abi.ExportModelsRequest, `{"base_url":"http://x"}`, `{"method":"GET","url":"http://x/models"}`},
		{abi.ExportModelsResponse, `{"status":200,"body":"grey"}`, `{"models":[{"id":"grey","context":8192}]}`},
	} {
		got, err := provider.Native(lister{}).Call(context.Background(), c.export, []byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.export, err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.export, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ export, in, want string }{
		{"chat_nothing", `{}`, "there is no export chat_nothing"},
		{abi.ExportChatMessages, `{`, "decode ChatMessages: json: unexpected end at byte 1"},
		{abi.ExportChatMessages, `{"messages":[]}`, "1 fragments for 0 messages"},
		{abi.ExportChatRequest, `{}`, "no request today"},
		{abi.ExportChatEvents, "", "sequence: no header"},
		{abi.ExportChatEvents, "{}", abi.ErrNoRecord.Error()},
		{abi.ExportChatEvents, "\x1e[]\n", "decode EventsHeader: json: array where object was expected at byte 0"},
		{abi.ExportChatEvents, "\x1e{}\n\x1e{}", abi.ErrCutRecord.Error()},
		{abi.ExportChatEvents, "\x1e{\"names\":[\"a\"]}\n\x1e{}\n\x1e{}\n", "1 names for 2 frames"},
		{abi.ExportChatEvents, "\x1e{}\n\x1ebug\n", "a bug"},
		{abi.ExportChatEvents, "\x1e{}\n\x1e{}\n", "the state has 262145 bytes, more than 262144"},
		{abi.ExportModelsRequest, `{}`, "this plugin lists no models"},
	} {
		out, err := provider.Native(faulty{}).Call(context.Background(), c.export, []byte(c.in))
		if err == nil || err.Error() != c.want || out != nil {
			t.Errorf("%s: %q, %v, want %s", c.export, out, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := provider.Native(faulty{}).Call(ctx, abi.ExportChatError, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a call with a cancelled context: %v", err)
	}
}

// named gives the names of frames, and counts them in the state.
type named struct{ parrot }

func (named) Frame(d *provider.Decoder, data []byte, name string) error {
	d.State += "."
	d.Text(name + "=" + string(data) + d.State)
	return nil
}

func TestNamesAndState(t *testing.T) {
	t.Parallel()
	in := "\x1e{\"state\":\"..\",\"names\":[\"a\",\"\"]}\n\x1e1\n\x1e2\n"
	want := "\x1e{\"state\":\"....\"}\n\x1e{\"type\":\"text\",\"text\":\"a=1...\"}\n\x1e{\"type\":\"text\",\"text\":\"=2....\"}\n"
	got, err := provider.Native(named{}).Call(context.Background(), abi.ExportChatEvents, []byte(in))
	if err != nil || string(got) != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
}

func TestDecoder(t *testing.T) {
	t.Parallel()
	var d provider.Decoder
	index, n := int64(1), int64(7)
	d.Meta("r1", "grey")
	d.Text("")
	d.Text("a")
	d.Reasoning("")
	d.Reasoning("b")
	d.ToolCall(&index, "c1", "look", "{}")
	d.Usage(abi.Usage{Input: &n})
	d.Finish(abi.FinishLength, "max")
	d.Done()
	d.Fail(abi.Failure{Class: abi.FailureServer})
	want := []abi.Event{
		{Type: abi.EventMeta, ID: "r1", Model: "grey"},
		{Type: abi.EventText, Text: "a"},
		{Type: abi.EventReasoning, Text: "b"},
		{Type: abi.EventToolCall, Index: &index, ID: "c1", Name: "look", Arguments: "{}"},
		{Type: abi.EventUsage, Usage: &abi.Usage{Input: &n}},
		{Type: abi.EventFinish, Reason: abi.FinishLength, Raw: "max"},
		{Type: abi.EventDone},
		{Type: abi.EventFailure, Failure: &abi.Failure{Class: abi.FailureServer}},
	}
	if diff := cmp.Diff(want, d.Events); diff != "" {
		t.Error(diff)
	}
}

func FuzzCall(f *testing.F) {
	exports := []string{
		abi.ExportChatMessages, abi.ExportChatRequest, abi.ExportChatEvents, abi.ExportChatResponse,
		abi.ExportChatError, abi.ExportModelsRequest, abi.ExportModelsResponse,
	}
	f.Add(uint8(2), []byte("\x1e{}\n\x1e{\"piece\":\"Hi\"}\n"))
	f.Add(uint8(0), []byte(`{"messages":[{}]}`))
	f.Add(uint8(3), []byte(`{"body":"{}"}`))
	f.Fuzz(func(t *testing.T, export uint8, in []byte) {
		out, err := provider.Native(lister{}).Call(context.Background(), exports[int(export)%len(exports)], in)
		if err == nil && len(out) == 0 {
			t.Fatal("neither output nor error")
		}
	})
}
