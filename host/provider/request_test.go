package provider_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/provider"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/secret"
)

// A message is rendered once, however often it is sent; its fragment stands in
// the body, and the outline tells the plugin what is there.
func TestFragments(t *testing.T) {
	t.Parallel()
	var bodies []string
	p := &plugin{}
	e := endpoint(t, p, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		streamed(w, "data: [DONE]\n\n")
	})
	for _, texts := range [][]string{{"a"}, {"a", "b"}, {"a", "b", `{{messages}} {{secret:api_key}}`}} {
		if _, err := read(t, e, reliability.Request{Prompt: prompt(texts...), Stream: true}); err != nil {
			t.Fatal(err)
		}
	}
	if p.rendered != 3 {
		t.Errorf("%d messages went through the plugin, want 3", p.rendered)
	}
	if want := `{"outline":"uT uT uT","messages":["a","b","{{messages}} {{secret:api_key}}"]}`; bodies[2] != want {
		t.Errorf("body %s, want %s", bodies[2], want)
	}
}

// The cache drops what was used least recently when it is full.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	p := &plugin{}
	e := endpoint(t, p, func(w http.ResponseWriter, _ *http.Request) { streamed(w, "data: [DONE]\n\n") })
	e.Fragments = provider.NewFragments(3 * 300)
	for _, text := range []string{"a", "b", "c", "a", "d", "a", "b"} {
		r := reliability.Request{Prompt: prompt(strings.Repeat(text, 90)), Stream: true}
		if _, err := read(t, e, r); err != nil {
			t.Fatal(err)
		}
	}
	if p.rendered != 5 {
		t.Errorf("rendered %d times, want 5: a, b, c, d, and b again", p.rendered)
	}
}

// A long history goes through the plugin in pieces of about 256 KiB, so that
// each stays within the deadline of a call.
func TestBatches(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	for _, tc := range []struct {
		sizes []int
		calls int
	}{
		{[]int{100 * kib, 100 * kib, 100 * kib, 100 * kib, 100 * kib}, 3},
		{[]int{1 << 20, 1, 1}, 2},
		{[]int{128 * kib, 128 * kib}, 1},
	} {
		p := &plugin{}
		e := endpoint(t, p, func(w http.ResponseWriter, _ *http.Request) { streamed(w, "data: [DONE]\n\n") })
		e.Fragments = provider.NewFragments(4 << 20)
		var texts []string
		for i, n := range tc.sizes {
			texts = append(texts, strings.Repeat(string(rune('a'+i)), n))
		}
		if _, err := read(t, e, reliability.Request{Prompt: prompt(texts...), Stream: true}); err != nil {
			t.Fatal(err)
		}
		if got := p.calls[abi.ExportChatMessages]; got != tc.calls || p.rendered != len(texts) {
			t.Errorf("%v: %d messages in %d calls, want %d calls", tc.sizes, p.rendered, got, tc.calls)
		}
	}
}

// What a person wrote is no template, nor is a system prompt that speaks of
// placeholders; what the plugin writes by itself may hold none (C138).
func TestSystemPromptIsNoTemplate(t *testing.T) {
	t.Parallel()
	const speaks = "Keys are written as {{secret:api_key}} in a plugin."
	for _, tc := range []struct {
		system, own string
		sent        string
	}{
		{speaks, "", `{"system":"` + speaks + `","own":"","messages":["x"]}`},
		{"", "{{secret:api_key}}", ""},
	} {
		p := &plugin{exports: map[string]func([]byte) ([]byte, error){abi.ExportChatRequest: func(in []byte) ([]byte, error) {
			var r abi.ChatRequest
			err := r.DecodeJSON(in)
			out := abi.HTTPRequest{URL: r.BaseURL, Body: fmt.Sprintf(`{"system":%q,"own":%q,"messages":["{{messages}}"]}`, r.System, tc.own)}
			return out.AppendJSON(nil), err
		}}}
		var sent []byte
		e := endpoint(t, p, func(w http.ResponseWriter, r *http.Request) {
			sent, _ = io.ReadAll(r.Body)
			streamed(w, "data: [DONE]\n\n")
		})
		r := reliability.Request{Prompt: prompt("x"), Stream: true, Key: secret.New("sk-0123456789")}
		r.Prompt.System = tc.system
		_, err := read(t, e, r)
		if (err == nil) != (tc.sent != "") || string(sent) != tc.sent {
			t.Errorf("system %q: sent %s, %v; want %s", tc.system, sent, err, tc.sent)
		}
	}
}
