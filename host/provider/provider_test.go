package provider_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
	"github.com/zchost/zchost/host/provider"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/secret"
)

// plugin is a provider plugin of this process. An export that is not set
// answers in a plain way of its own.
type plugin struct {
	calls    map[string]int
	rendered int // messages
	exports  map[string]func(in []byte) ([]byte, error)
	rejected error
}

func (p *plugin) Call(_ context.Context, export string, in []byte) ([]byte, error) {
	if p.calls == nil {
		p.calls = map[string]int{}
	}
	p.calls[export]++
	if f := p.exports[export]; f != nil {
		return f(in)
	}
	switch export {
	case abi.ExportChatMessages:
		return p.messages(in)
	case abi.ExportChatRequest:
		return request(in)
	case abi.ExportChatEvents:
		return events(in)
	case abi.ExportChatResponse:
		return (&abi.ChatEvents{Events: []abi.Event{{Type: abi.EventText, Text: "whole"}, {Type: abi.EventDone}}}).AppendJSON(nil), nil
	}
	return (&abi.Failure{Class: abi.FailureServer, Message: "no"}).AppendJSON(nil), nil
}

func (p *plugin) Reject(_ context.Context, export string, cause error) error {
	p.rejected = fmt.Errorf("%s: %w", export, cause)
	return p.rejected
}

func (p *plugin) messages(in []byte) ([]byte, error) {
	var m abi.ChatMessages
	if err := m.DecodeJSON(in); err != nil {
		return nil, err
	}
	var out abi.ChatFragments
	for _, msg := range m.Messages {
		out.Fragments = append(out.Fragments, `"`+msg.Parts[0].Text+`"`)
		p.rendered++
	}
	return out.AppendJSON(nil), nil
}

func request(in []byte) ([]byte, error) {
	var r abi.ChatRequest
	if err := r.DecodeJSON(in); err != nil {
		return nil, err
	}
	out := abi.HTTPRequest{
		URL: r.BaseURL + "/chat", Headers: []abi.Header{{Name: "X-Key", Value: "{{secret:api_key}}"}},
		Body: fmt.Sprintf(`{"outline":%q,"messages":["{{messages}}"]}`, r.Outline),
	}
	return out.AppendJSON(nil), nil
}

// events gives each frame as text, and counts frames in the state. Some frames
// are the finish reason, the signal, and nothing at all.
func events(in []byte) ([]byte, error) {
	text, rest, _, err := abi.NextRecord(in)
	var h abi.EventsHeader
	if err == nil {
		err = h.DecodeJSON(text)
	}
	if err != nil {
		return nil, err
	}
	var out []byte
	for {
		text, next, ok, err := abi.NextRecord(rest)
		if err != nil || !ok {
			return append(abi.AppendRecord(nil, h.AppendJSON(nil)), out...), err
		}
		rest = next
		h.State += "."
		e := abi.Event{Type: abi.EventText, Text: string(text) + h.State}
		switch string(text) {
		case "[DONE]":
			e = abi.Event{Type: abi.EventDone}
		case "[FIN]":
			e = abi.Event{Type: abi.EventFinish, Reason: abi.FinishStop}
		case "ping":
			continue
		}
		out = abi.AppendRecord(out, e.AppendJSON(nil))
	}
}

// endpoint is an endpoint of a server with this handler.
func endpoint(t *testing.T, p *plugin, h http.HandlerFunc) *provider.Endpoint {
	t.Helper()
	s := httptest.NewServer(h)
	client := egress.New(egress.Options{Redactor: secret.NewRedactor()})
	t.Cleanup(func() {
		client.Close()
		s.Close()
	})
	return endpointAt(p, s.URL, client)
}

func endpointAt(p *plugin, url string, client *egress.Client) *provider.Endpoint {
	return provider.New(provider.Config{
		Name: "p", Plugin: p, Fingerprint: "p@1#0", BaseURL: url, Framing: abi.FramingSSE,
		Clocks:    egress.Clocks{Header: time.Minute, Idle: time.Minute, Progress: time.Minute},
		Fragments: provider.NewFragments(1 << 20), Client: client, Redactor: secret.NewRedactor(),
	})
}

func prompt(texts ...string) *reliability.Prompt {
	p := &reliability.Prompt{}
	for _, s := range texts {
		m := abi.Message{Role: abi.RoleUser, Parts: []abi.Part{{Type: abi.PartText, Text: s}}}
		p.Messages = append(p.Messages, reliability.NewMessage(m, ""))
	}
	return p
}

// read opens a request and returns the text of all events.
func read(t *testing.T, e *provider.Endpoint, r reliability.Request) (string, error) {
	t.Helper()
	s, err := e.Open(t.Context(), r)
	if err != nil {
		return "", err
	}
	defer s.Close()
	var all strings.Builder
	for {
		events, err := s.Next()
		for _, e := range events {
			all.WriteString(e.Text)
			if e.Type == abi.EventDone {
				return all.String(), nil
			}
		}
		if err != nil {
			return all.String(), err
		}
	}
}

func streamed(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, body)
}

// The state of a stream goes from call to call; frames that arrive together are
// decoded together.
func TestState(t *testing.T) {
	t.Parallel()
	p := &plugin{}
	e := endpoint(t, p, func(w http.ResponseWriter, _ *http.Request) {
		streamed(w, "data: a\n\ndata: b\n\ndata: c\n\ndata: [DONE]\n\n")
	})
	got, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: true})
	if err != nil || got != "a.b..c..." {
		t.Errorf("got %q, %v", got, err)
	}
	if n := p.calls[abi.ExportChatEvents]; n != 1 {
		t.Errorf("%d calls for frames that came together", n)
	}
}

// An endpoint without a key sends no header that would hold one; with a key,
// the server alone sees it.
func TestKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{"": nil, "sk-0123456789": {"sk-0123456789"}} {
		var got []string
		e := endpoint(t, &plugin{}, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Values("X-Key")
			streamed(w, "data: [DONE]\n\n")
		})
		r := reliability.Request{Prompt: prompt("x"), Stream: true}
		if key != "" {
			r.Key = secret.New(key)
		}
		if _, err := read(t, e, r); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("key %q: the server got %q", key, got)
		}
	}
}

// What is no answer becomes a failure in the plugin's words, or in the host's
// when the plugin has none (STR-4).
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	broken := map[string]func([]byte) ([]byte, error){
		abi.ExportChatError: func([]byte) ([]byte, error) { return nil, errors.New("trap") },
	}
	for name, tc := range map[string]struct {
		exports map[string]func([]byte) ([]byte, error)
		status  int
		body    string
		want    abi.FailureClass
	}{
		"the plugin's words":     {nil, 500, "x", abi.FailureServer},
		"the host's words":       {broken, 429, "x", abi.FailureRateLimited},
		"the host's words, auth": {broken, 401, "x", abi.FailureAuth},
		"an empty body":          {nil, 200, "", abi.FailureTruncated},
		"a web page":             {map[string]func([]byte) ([]byte, error){abi.ExportChatResponse: broken[abi.ExportChatError]}, 200, "<html>", abi.FailureServer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := endpoint(t, &plugin{exports: tc.exports}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			})
			_, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: true})
			var f *abi.Failure
			if !errors.As(err, &f) || f.Class != tc.want {
				t.Fatalf("got %v, want class %s", err, tc.want)
			}
			if tc.status >= 400 && f.RetryAfterMS != 7000 {
				t.Errorf("Retry-After is %d ms, want 7000 (REL-6)", f.RetryAfterMS)
			}
		})
	}
}

// Output of the plugin that cannot be used is the plugin's failure, and nothing
// else's.
func TestJunk(t *testing.T) {
	t.Parallel()
	give := func(s string) func([]byte) ([]byte, error) {
		return func([]byte) ([]byte, error) { return []byte(s), nil }
	}
	for name, exports := range map[string]map[string]func([]byte) ([]byte, error){
		"request is no JSON":      {abi.ExportChatRequest: give("junk")},
		"no placeholder":          {abi.ExportChatRequest: give(`{"url":"http://127.0.0.1","body":"{}"}`)},
		"two placeholders":        {abi.ExportChatRequest: give(`{"url":"http://127.0.0.1","body":"[\"{{messages}}\",\"{{messages}}\"]"}`)},
		"fragments are no JSON":   {abi.ExportChatMessages: give(`{"fragments":["{"]}`)},
		"a fragment is empty":     {abi.ExportChatMessages: give(`{"fragments":[""]}`)},
		"a fragment is missing":   {abi.ExportChatMessages: give(`{"fragments":[]}`)},
		"events are no sequence":  {abi.ExportChatEvents: give("junk")},
		"events have no header":   {abi.ExportChatEvents: give("")},
		"an event is no JSON":     {abi.ExportChatEvents: give("\x1e{}\n\x1ejunk\n")},
		"the state is over 256 K": {abi.ExportChatEvents: give("\x1e{\"state\":\"" + strings.Repeat("x", abi.MaxState+1) + "\"}\n")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &plugin{exports: exports}
			e := endpoint(t, p, func(w http.ResponseWriter, _ *http.Request) { streamed(w, "data: a\n\n") })
			_, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: true})
			var f *abi.Failure
			if !errors.As(err, &f) || f.Class != abi.FailurePlugin || p.rejected == nil {
				t.Errorf("got %v, rejected %v", err, p.rejected)
			}
		})
	}
}

// A script is played in place of a request, through the same clocks.
func TestScript(t *testing.T) {
	t.Parallel()
	script := func(end abi.ScriptEnd) map[string]func([]byte) ([]byte, error) {
		return map[string]func([]byte) ([]byte, error){abi.ExportChatRequest: func([]byte) ([]byte, error) {
			r := abi.HTTPRequest{Script: &abi.Script{Pieces: []abi.Piece{{Data: "data: a\n\n"}}, End: end}}
			return r.AppendJSON(nil), nil
		}}
	}
	for end, want := range map[abi.ScriptEnd]func(error) bool{
		abi.ScriptEndClean: func(err error) bool { return errors.Is(err, io.EOF) },
		abi.ScriptEndCut: func(err error) bool {
			var f *abi.Failure
			return errors.As(err, &f) && f.Class == abi.FailureTruncated
		},
	} {
		e := endpoint(t, &plugin{exports: script(end)}, func(http.ResponseWriter, *http.Request) {
			t.Error("a request was sent")
		})
		got, err := read(t, e, reliability.Request{Prompt: prompt("x"), Stream: true})
		if got != "a." || !want(err) {
			t.Errorf("end %s: got %q, %v", end, got, err)
		}
	}
}
