package host_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/journal"
)

// chatCase is a case of cases.md, parts 1 and 5, as far as it concerns chat
// completions, run through the whole host: config, plugin, network, journal.
type chatCase struct {
	scripts  []script
	knobs    string // further keys of the profile
	state    journal.State
	text     string
	outcomes string
	mentions string // the turn's error must
	warning  string // of the last attempt
	usage    string // of the last attempt: "input/output"
}

func stream(pieces ...string) script { return script{pieces: pieces} }

func jsonAnswer(status int, body string) script {
	return script{status: status, headers: map[string]string{"Content-Type": "application/json"}, pieces: []string{body}}
}

// gzipped compresses pieces, each flushed by itself.
func gzipped(pieces ...string) []string {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	var out []string
	for _, p := range pieces {
		_, _ = w.Write([]byte(p))
		_ = w.Flush()
		out = append(out, buf.String())
		buf.Reset()
	}
	_ = w.Close()
	return append(out, buf.String())
}

func chatCases() map[string]chatCase {
	plain := txt("Hi") + fin("stop") + doneSignal
	once := "stream complete"
	zip := map[string]string{"Content-Encoding": "gzip"}
	return map[string]chatCase{
		"C002-cr": {scripts: []script{{pieces: []string{
			strings.ReplaceAll(txt("A"), "\n\n", "\r"), "\n\r", "\n" + fin("stop") + doneSignal,
		}, gap: 5 * time.Millisecond}}, state: journal.Complete, text: "A", outcomes: once},
		"C002-crcr":  {scripts: []script{stream(strings.ReplaceAll(txt("A")+fin("stop")+doneSignal, "\n", "\r"))}, state: journal.Complete, text: "A", outcomes: once},
		"C002-bytes": {scripts: []script{stream(bytewise(plain)...)}, state: journal.Complete, text: "Hi", outcomes: once},
		"C004-bom":   {scripts: []script{stream("\xEF\xBB\xBF" + plain)}, state: journal.Complete, text: "Hi", outcomes: once},
		"C004-split": {scripts: []script{{pieces: []string{"\xEF", "\xBB\xBF" + plain}, gap: 5 * time.Millisecond}}, state: journal.Complete, text: "Hi", outcomes: once},
		"C004-inner": {scripts: []script{stream(txt("a\uFEFFb") + fin("stop") + doneSignal)}, state: journal.Complete, text: "a\uFEFFb", outcomes: once},
		"C006-blank": {scripts: []script{stream("data:\n\n", "data: \n\n", txt("ok"), "data:\n\n", fin("stop")+doneSignal)}, state: journal.Complete, text: "ok", outcomes: once},
		"C006-junk":  {scripts: []script{stream(txt("ok"), "data: <html>\n\n")}, state: journal.Interrupted, text: "ok", outcomes: "stream server"},
		"C008-utf8":  {scripts: []script{{pieces: bytewise(txt("漢字🚲") + fin("stop") + doneSignal)}}, state: journal.Complete, text: "漢字🚲", outcomes: once},
		"C008-tail":  {scripts: []script{stream(txt("a"), "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xE6")}, state: journal.Interrupted, text: "a", outcomes: "stream truncated"},
		"C010-gzip":  {scripts: []script{{headers: zip, pieces: gzipped(txt("Hi"), fin("stop"), doneSignal)}}, state: journal.Complete, text: "Hi", outcomes: once},
		"C010-unsaid": {
			scripts: []script{stream(gzipped(plain)...), whole("ok")},
			state:   journal.Complete, text: "ok", outcomes: "stream server; whole complete",
		},
		"C010-cut": {scripts: []script{{headers: zip, pieces: gzipped(txt("Hi"), fin("stop"))[:1], end: closing}}, state: journal.Interrupted, text: "Hi", outcomes: "stream truncated"},
		"C012-eof": {
			scripts: []script{stream(txt("Hi"), strings.TrimSpace(fin("stop")))},
			state:   journal.Complete, text: "Hi", outcomes: once, warning: "completion-signal-missing",
		},
		"C012-half": {scripts: []script{stream(txt("Hi"), fin("stop")[:40])}, state: journal.Interrupted, text: "Hi", outcomes: "stream truncated"},
		"C014-empty": {
			scripts: []script{{headers: map[string]string{"Content-Length": "0"}}},
			knobs:   "provider_retries = 1",
			state:   journal.Failed, outcomes: "stream truncated; whole truncated; whole truncated", mentions: "the body of the answer was empty",
		},
		"C016-eof":   {scripts: []script{stream(txt("The total is 4"))}, state: journal.Interrupted, text: "The total is 4", outcomes: "stream truncated", usage: "-/-"},
		"C016-reset": {scripts: []script{{pieces: []string{txt("The total is 4")}, end: reset, gap: time.Millisecond}}, state: journal.Interrupted, text: "The total is 4", outcomes: "stream truncated"},
		"C016-call": {
			scripts: []script{stream(tc(`{"index":0,"id":"a","function":{"name":"ls","arguments":"{\"p\":"}}`)), whole("ok")},
			state:   journal.Complete, text: "ok", outcomes: "stream truncated; whole complete",
		},
		"C018-502": {
			scripts: []script{stream(`data: {"id":"r1","choices":[],"error":{"code":502,"message":"no free slot"}}`+"\n\n", doneSignal), whole("ok")},
			state:   journal.Complete, text: "ok", outcomes: "stream server; whole complete",
		},
		"C018-400": {
			scripts: []script{stream(`data: {"id":"r1","choices":[],"error":{"code":400,"message":"bad field"}}`+"\n\n", doneSignal), whole("no")},
			state:   journal.Failed, outcomes: "stream invalid_request", mentions: "bad field",
		},
		"C018-string": {scripts: []script{stream(`data: {"error":"BOOM"}` + "\n\n"), whole("ok")}, state: journal.Complete, text: "ok", outcomes: "stream server; whole complete"},
		"C018-event":  {scripts: []script{stream("event: error\ndata: {\"message\":\"BOOM\"}\n\n"), whole("ok")}, state: journal.Complete, text: "ok", outcomes: "stream server; whole complete"},
		"C018-after":  {scripts: []script{stream(txt("Hi"), `data: {"error":"BOOM"}`+"\n\n")}, state: journal.Interrupted, text: "Hi", outcomes: "stream server", mentions: "BOOM"},
		"C020-error": {
			scripts: []script{jsonAnswer(200, `{"error":"no such route"}`)}, knobs: "provider_retries = 0",
			state: journal.Failed, mentions: "/v1",
		},
		"C020-whole": {scripts: []script{whole("in one piece")}, state: journal.Complete, text: "in one piece", outcomes: once, usage: "3/4"},
		"C020-html": {
			scripts: []script{{headers: map[string]string{"Content-Type": "text/html"}, pieces: []string{"<html><body>Sign in</body></html>"}}}, knobs: "provider_retries = 0",
			state: journal.Failed, mentions: "web page",
		},
		"C034-reasoning": {
			scripts: []script{stream(chunk(`{"reasoning_content":"the user greets me; "}`, "null"), fin("stop")+doneSignal)},
			state:   journal.Interrupted, outcomes: "stream empty",
		},
		"C036-usage": {scripts: []script{stream(txt("a"), use(31, 20), txt("b"), use(31, 45), fin("stop"), use(31, 90), use(31, 90), doneSignal)}, state: journal.Complete, text: "ab", outcomes: once, usage: "31/90"},
		"C128-401":   {scripts: []script{jsonAnswer(401, `{"error":{"code":"invalid_api_key","message":"Incorrect key"}}`)}, state: journal.Failed, outcomes: "stream auth", mentions: "Incorrect key"},
		"C128-402":   {scripts: []script{jsonAnswer(429, `{"error":{"code":"insufficient_quota","message":"no credit"}}`)}, state: journal.Failed, outcomes: "stream quota"},
		"C128-404":   {scripts: []script{jsonAnswer(404, `{"error":{"code":"model_not_found","message":"no such model"}}`)}, state: journal.Failed, outcomes: "stream model_not_found"},
		"C056-overflow": {
			scripts: []script{jsonAnswer(400, `{"error":{"code":"context_length_exceeded","message":"too long"}}`)},
			state:   journal.Failed, outcomes: "stream context_overflow",
		},
		"C146-eos":     {scripts: []script{stream(txt("a"), fin("eos")+doneSignal)}, state: journal.Complete, text: "a", outcomes: once},
		"C146-network": {scripts: []script{stream(fin("network_error") + doneSignal), whole("ok")}, state: journal.Complete, text: "ok", outcomes: "stream server; whole complete"},
		"C146-filter":  {scripts: []script{stream(txt("a"), fin("sensitive")+doneSignal)}, state: journal.Incomplete, text: "a", outcomes: "stream incomplete"},
		"C146-nocalls": {scripts: []script{stream(fin("tool_calls") + doneSignal), stream(fin("tool_calls") + doneSignal)}, state: journal.Failed},
		"C146-role":    {scripts: []script{stream(chunk(`{"role":"assistant","content":null}`, "null"), plain)}, state: journal.Complete, text: "Hi", outcomes: once},
		"C146-choice":  {scripts: []script{stream(strings.Replace(txt("no"), `"index":0`, `"index":1`, 1), plain)}, state: journal.Complete, text: "Hi", outcomes: once},
		"C148-vendor":  {scripts: []script{stream("event: vendor.progress\ndata: {\"tool\":\"x\"}\n\n", plain)}, state: journal.Complete, text: "Hi", outcomes: once},
	}
}

// Every case of cases.md that concerns chat completions has its right answer,
// through the whole host (part 1; C128, C138, C146, C148 of parts 1 and 5).
func TestChatCases(t *testing.T) {
	t.Parallel()
	cases := chatCases()
	maps.Copy(cases, ruleCases())
	scripts := map[string][]script{}
	for name, c := range cases {
		scripts[name] = c.scripts
	}
	v := startVendor(t, scripts)
	var config strings.Builder
	fmt.Fprintf(&config, "[reliability]\nprovider_backoff_ms = 1\n")
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		// A provider of its own, because what is learned of a key is shared.
		fmt.Fprintf(&config, "[providers.%s]\nplugin = \"openai-chat\"\nbase_url = \"%s/v1\"\napi_keys = [\"env:TEST_KEY\"]\n", name, v.URL)
		fmt.Fprintf(&config, "[models.%s]\nprovider = \"%s\"\nmodel = \"%s\"\n%s\n", name, name, name, cases[name].knobs)
		fmt.Fprintf(&config, "[agents.%s]\nmodel = \"%s\"\n", name, name)
	}
	h := startHost(t, config.String(), "TEST_KEY=sk-test-0123456789")
	t.Cleanup(func() { // when all of them are done: none spoils the sums (CST-2)
		for _, by := range []journal.UsageBy{journal.ByDay, journal.ByModel} {
			if _, err := h.Journal().Usage(context.WithoutCancel(t.Context()), journal.UsageQuery{By: by}); err != nil {
				t.Errorf("usage: %v", err)
			}
		}
	})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, h, v, name)
		})
	}
}

func (c chatCase) check(t *testing.T, h *host.Host, v *vendor, name string) {
	t.Helper()
	got, shown := ask(t, h, name, "hello")
	made, attempts := outcomes(t, h, got.ID)
	if got.State != c.state || shown != c.text {
		t.Errorf("state %s, shown %q; want %s, %q (error: %v)", got.State, shown, c.state, c.text, got.Error)
	}
	if c.outcomes != "" && made != c.outcomes {
		t.Errorf("attempts %q, want %q (error: %v)", made, c.outcomes, got.Error)
	}
	if n := len(v.asked(name)); n != len(attempts) {
		t.Errorf("%d requests and %d rows in the ledger (CST-1)", n, len(attempts))
	}
	if !strings.Contains(got.Error.Message, c.mentions) {
		t.Errorf("the error %q does not mention %q", got.Error.Message, c.mentions)
	}
	last := attempts[len(attempts)-1]
	if last.Warning != c.warning {
		t.Errorf("warning %q, want %q", last.Warning, c.warning)
	}
	if u := number(last.Usage.Input) + "/" + number(last.Usage.Output); c.usage != "" && u != c.usage {
		t.Errorf("usage %s, want %s", u, c.usage)
	}
	messages, err := h.Journal().Messages(t.Context(), got.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[bool]int{true: 1, false: 2}[c.text == ""]; len(messages) != want {
		t.Errorf("%d messages are kept, want %d (MRK-2, MRK-4)", len(messages), want)
	}
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(*n)
}
