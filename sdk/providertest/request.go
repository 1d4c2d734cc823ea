package providertest

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zchost/zchost/abi"
)

// messagesMark is what the host puts the fragments in place of.
const messagesMark = "{{messages}}"

// request: a valid request for each way of asking.
func (r runner) request(t *testing.T) {
	temperature := 0.5
	messages := history()
	for _, base := range []string{"https://provider.test/v1", "http://127.0.0.1:8080"} {
		plain := abi.ChatRequest{Model: r.suite.Model, Outline: abi.OutlineOf(messages), BaseURL: base, Options: r.suite.Options}
		if r.suite.Scripted {
			plain.Messages = messages[len(messages)-1:]
		}
		full := plain
		full.System = "Be brief.\n\"Always\"."
		full.MaxTokens, full.Temperature, full.Stop = 100, &temperature, []string{"\n\n", "END"}
		full.Tools = []abi.Tool{
			{Name: "list", Description: "Lists files.", InputSchema: abi.Raw(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "status", InputSchema: abi.Raw(`{"type":"object"}`)},
		}
		first := plain
		first.Outline = "uT"
		for _, in := range []abi.ChatRequest{plain, full, first} {
			for _, choice := range []string{"", "none", "required", "list"} {
				if len(in.Tools) == 0 && choice != "" {
					continue
				}
				in.ToolChoice = choice
				in.Stream = false
				whole := r.oneRequest(t, in, messages)
				in.Stream = true
				stream := r.oneRequest(t, in, messages)
				if !r.suite.Scripted && whole.Body == stream.Body && whole.URL == stream.URL {
					t.Error("a streamed answer is asked for with the same request as one in one piece")
				}
			}
		}
	}
}

func (r runner) oneRequest(t *testing.T, in abi.ChatRequest, messages []abi.Message) abi.HTTPRequest {
	t.Helper()
	var out abi.HTTPRequest
	r.ask(t, abi.ExportChatRequest, &in, &out)
	if out.Script != nil {
		if !r.suite.Scripted {
			t.Error("the answer is a script")
		}
		checkScript(t, out)
		return out
	}
	checkDestination(t, out, in.BaseURL)
	checkHeaders(t, out.Headers)
	r.checkBody(t, out.Body, messages)
	if !strings.Contains(out.Body+out.URL, r.suite.Model) {
		t.Errorf("the request does not name the model %s", r.suite.Model)
	}
	return out
}

func checkScript(t *testing.T, out abi.HTTPRequest) {
	t.Helper()
	if out.URL != "" || out.Body != "" || len(out.Headers) > 0 {
		t.Error("a script comes with a request")
	}
	s := out.Script
	if s.Status != 0 && (s.Status < 200 || s.Status > 599) {
		t.Errorf("a script has the status %d", s.Status)
	}
	if !slices.Contains([]abi.ScriptEnd{"", abi.ScriptEndClean, abi.ScriptEndCut, abi.ScriptEndSilence}, s.End) {
		t.Errorf("a script has the end %q", s.End)
	}
	for _, p := range s.Pieces {
		if p.DelayMS < 0 {
			t.Errorf("a piece has a delay of %d ms", p.DelayMS)
		}
	}
}

// checkDestination: at or below the base URL.
func checkDestination(t *testing.T, out abi.HTTPRequest, base string) {
	t.Helper()
	if out.Method != "" && !token.MatchString(out.Method) {
		t.Errorf("method %q", out.Method)
	}
	u, err := url.Parse(placeholder.ReplaceAllString(out.URL, "s"))
	if err != nil {
		t.Fatalf("URL %q: %v", out.URL, err)
	}
	b, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if u.Scheme != b.Scheme || u.Host != b.Host || u.User != nil || u.Fragment != "" {
		t.Errorf("URL %q is not at %s", out.URL, base)
	}
	if u.Path != b.Path && !strings.HasPrefix(u.Path, b.Path+"/") || strings.Contains(u.Path+"/", "/../") {
		t.Errorf("URL %q is not below %s", out.URL, base)
	}
}

var (
	placeholder = regexp.MustCompile(`\{\{secret:[a-z0-9_-]+\}\}`)
	token       = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	hostOwned   = regexp.MustCompile(`(?i)^(host|content-length|connection|transfer-encoding|accept-encoding)$`)
)

func checkHeaders(t *testing.T, headers []abi.Header) {
	t.Helper()
	for _, h := range headers {
		if !token.MatchString(h.Name) || hostOwned.MatchString(h.Name) {
			t.Errorf("header %q is not for a plugin to set", h.Name)
		}
		if strings.ContainsAny(h.Value, "\r\n\x00") {
			t.Errorf("header %s has the value %q", h.Name, h.Value)
		}
		if strings.Contains(placeholder.ReplaceAllString(h.Value, ""), "{{") {
			t.Errorf("header %s has a malformed placeholder: %q", h.Name, h.Value)
		}
	}
}

// checkBody: JSON with the mark once, as an element of an array, and JSON still
// when the fragments are in its place.
func (r runner) checkBody(t *testing.T, body string, messages []abi.Message) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("the body is not JSON: %v\n%s", err, short([]byte(body)))
	}
	if n := strings.Count(body, messagesMark); n != 1 || elements(v) != 1 {
		t.Errorf("the body holds %s %d times, %d of them as an element of an array: %s", messagesMark, n, elements(v), short([]byte(body)))
	}
	if strings.Contains(body, "{{secret:") {
		t.Errorf("the body names a secret, which is not replaced there: %s", short([]byte(body)))
	}
	whole := strings.Replace(body, `"`+messagesMark+`"`, strings.Join(r.render(t, messages), ","), 1)
	if !json.Valid([]byte(whole)) {
		t.Errorf("the request is not JSON with the fragments in it: %s", whole)
	}
}

// elements counts the marks that are elements of arrays.
func elements(v any) int {
	n := 0
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if e == messagesMark {
				n++
			}
			n += elements(e)
		}
	case map[string]any:
		for _, e := range v {
			n += elements(e)
		}
	}
	return n
}
