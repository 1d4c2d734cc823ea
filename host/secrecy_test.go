package host_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zchost/zchost/host"
)

// buildPlugin builds a plugin of testdata into a home.
func buildPlugin(t *testing.T, home, name string) {
	t.Helper()
	dir := filepath.Join(home, "plugins", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join("testdata", name, "plugin.toml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "plugin.toml"), manifest, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-buildmode=c-shared", "-ldflags=-s -w",
		"-o", filepath.Join(dir, "plugin.wasm"), "./testdata/"+name)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build plugin %s: %v\n%s", name, err, out)
	}
}

// The key of a provider appears nowhere but in the outgoing request: not in the
// plugin's memory, and not in anything that is stored, shown or logged, also
// when the vendor sends it back in every way it can think of (C138).
func TestKeyAppearsNowhere(t *testing.T) {
	t.Parallel()
	const key = "sk-spy-0123456789 +/abcdef"
	var requests []*http.Request
	var bodies []string
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests, bodies = append(requests, r), append(bodies, string(body))
		echo := r.Header.Get("Authorization") + " " + url.QueryEscape(key) + " " + url.PathEscape(key)
		w.Header().Set("X-Request-Id", key)
		w.Header().Set("X-Echo", echo)
		switch r.URL.Path {
		case "/v1/refuse":
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"bad key %s"}}`, echo)
		case "/v1/cut":
			w.Header().Set("Content-Type", "text/event-stream")
			flushed(t, w, "data: "+echo+"\n\n", "data: "+echo[:15])
			panic(http.ErrAbortHandler)
		case "/v1/redirect":
			http.Redirect(w, r, "http://127.0.0.1:1/?key="+url.QueryEscape(key), http.StatusTemporaryRedirect)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			// Also cut in two: one secret over two writes.
			flushed(t, w, "data: "+echo[:15], echo[15:]+"\n\n", "event: "+key+"\ndata: x\n\n", "data: [DONE]\n\n")
		}
	}))
	t.Cleanup(vendor.Close)
	var config strings.Builder
	fmt.Fprintf(&config, "[log]\nlevel = \"trace\"\n[providers.spy]\nplugin = \"spy\"\nbase_url = %q\napi_keys = [\"env:SPY_KEY\"]\nprovider_retries = 0\n", vendor.URL+"/v1")
	models := []string{"stream", "refuse", "cut", "redirect"}
	for _, m := range models {
		fmt.Fprintf(&config, "[models.%s]\nprovider = \"spy\"\nmodel = %q\n[agents.%s]\nmodel = %q\n", m, m, m, m)
	}
	home := newHome(t, config.String())
	buildPlugin(t, home, "spy")
	h, err := host.Start(t.Context(), host.Options{Home: home, Env: []string{"SPY_KEY=" + key}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	for _, m := range models {
		turn, text := ask(t, h, m, "hello")
		fmt.Fprintf(&shown, "%s: %s %+v %v\n", m, text, turn, h.Config())
	}
	if err := h.Shutdown(); err != nil {
		t.Fatal(err)
	}
	for i, r := range requests {
		if got := r.Header.Get("Authorization"); got != "Bearer "+key {
			t.Errorf("request %d has key %q", i, got)
		}
		if strings.Contains(bodies[i], "FOUND") {
			t.Error("the plugin found the key in its memory")
		}
	}
	if len(requests) < len(models) || strings.Contains(shown.String(), "FOUND") || !strings.Contains(shown.String(), "clean") {
		t.Errorf("%d requests; the plugin says:\n%s", len(requests), shown.String())
	}
	nowhere(t, "what is shown", shown.Bytes(), key)
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		nowhere(t, path, data, key)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A key that a server spells with JSON's escapes comes out only when the plugin
// has decoded it; it is not shown or stored either.
func TestKeyInEscapes(t *testing.T) {
	t.Parallel()
	const key = "sk-escaped-0123456789"
	spelled := `{"content":"your key is ` + escaped(key) + `"}`
	v := startVendor(t, map[string][]script{
		"stream": {stream(chunk(spelled, "null") + fin("stop") + doneSignal)},
		"refuse": {jsonAnswer(400, `{"error":{"message":"bad key `+escaped(key)+`"}}`)},
	})
	config := fmt.Sprintf("[providers.p]\nplugin = \"openai-chat\"\nbase_url = \"%s/v1\"\napi_keys = [\"env:TEST_KEY\"]\n", v.URL)
	for _, m := range []string{"stream", "refuse"} {
		config += fmt.Sprintf("[models.%s]\nprovider = \"p\"\nmodel = %q\n[agents.%s]\nmodel = %q\n", m, m, m, m)
	}
	h := startHost(t, config, "TEST_KEY="+key)
	got, text := ask(t, h, "stream", "hello")
	refused, _ := ask(t, h, "refuse", "hello")
	if text != "your key is [redacted]" || !strings.Contains(refused.Error.Message, "[redacted]") {
		t.Errorf("text %q, error %q", text, refused.Error.Message)
	}
	messages, err := h.Journal().Messages(t.Context(), got.SessionID, 0)
	if err != nil {
		t.Fatal(err)
	}
	nowhere(t, "what is stored", fmt.Append(nil, messages, refused), key)
}

// escaped spells a text with JSON's escapes alone.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// nowhere looks for the key in all its forms.
func nowhere(t *testing.T, where string, data []byte, key string) {
	t.Helper()
	for _, form := range []string{key, url.QueryEscape(key), url.PathEscape(key)} {
		if at := bytes.Index(data, []byte(form)); at >= 0 {
			t.Errorf("the key is in %s: %q", where, data[max(0, at-40):min(len(data), at+60)])
		}
	}
}

// flushed writes pieces, each by itself.
func flushed(t *testing.T, w http.ResponseWriter, pieces ...string) {
	t.Helper()
	for _, p := range pieces {
		_, err := io.WriteString(w, p)
		if err == nil {
			err = http.NewResponseController(w).Flush()
		}
		if err != nil {
			t.Error(err)
		}
	}
}
