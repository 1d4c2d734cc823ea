//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// replies is where the fake vendors of host/protocols keep what they say.
const replies = "../host/protocols/testdata"

// The vendors' own SDKs read the replies that host/protocols tests with, and
// find in them what the plugins have to find.
func TestSDKsReadOurReplies(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "node", "judge/replies.mjs", replies).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// recorder answers with the replies of testdata, one after the other, the last
// one again and again, and keeps the requests.
type recorder struct {
	replies []map[string]any
	mu      sync.Mutex
	bodies  []string
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	reply := r.replies[min(len(r.bodies), len(r.replies)-1)]
	r.bodies = append(r.bodies, string(body))
	r.mu.Unlock()
	var asked struct{ Stream bool }
	_ = json.Unmarshal(body, &asked)
	form, contentType := "whole", "application/json"
	if asked.Stream || strings.Contains(q.URL.Path, ":streamGenerateContent") {
		form, contentType = "stream", "text/event-stream"
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = io.WriteString(w, fmt.Sprint(reply[form]))
}

// session has a host talk to the recorder for some turns, and returns the
// requests: an image and a file, reasoning or opaque parts, and calls with their
// results are in the history of the later ones.
func session(t *testing.T, p peer, flags []string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(replies, p.plugin+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	kept := all["opaque"]
	if kept == nil {
		kept = all["thinking"]
	}
	r := &recorder{replies: []map[string]any{kept, all["calls"], all["text"], all["length"], all["text"]}}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	h := hostOf(t, p.plugin, s.URL+p.suffix, []string{"m-1"})
	for i := range 4 {
		args := append([]string{"--session", "s"}, flags...)
		if i == 0 {
			args = append(args, "--attach", "testdata/pixel.png")
			if p.plugin != "ollama" { // it takes no files
				args = append(args, "--attach", "testdata/page.pdf")
			}
		}
		a := h.send(t, fmt.Sprint("turn ", i+1), args...)
		if want := map[int]string{2: "incomplete"}[i]; a.summary.State != want && (want != "" || a.summary.State != "complete") {
			t.Errorf("turn %d: %s: %s", i+1, a.summary.State, a.stdout)
		}
	}
	if len(r.bodies) != 5 {
		t.Errorf("%d requests, want 5", len(r.bodies))
	}
	return r.bodies
}

// What the host sends is what the vendors' SDKs could have sent: each request
// has the type of the SDK's parameters, down to the last field.
func TestRequestsHaveTheSDKsTypes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("import type * as sdk from \"./types\";\n")
	for _, p := range peers() {
		for _, flags := range [][]string{nil, {"--no-stream"}} {
			for i, body := range session(t, p, flags) {
				fmt.Fprintf(&b, "export const %s_%d_%d: sdk.%s = %s;\n", ident(p), len(flags), i+1, ident(p), body)
			}
		}
	}
	// One that has a field too many in each protocol, to show that it is seen.
	for _, p := range peers() {
		fmt.Fprintf(&b, "// @ts-expect-error a field that there is not\nexport const wrong_%s: sdk.%s = {\"no_such_field\": 1};\n", ident(p), ident(p))
	}
	types, err := os.ReadFile("judge/types.ts")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"types.ts": string(types), "requests.ts": b.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(
		[]string{"--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022"},
		[]string{filepath.Join(dir, "requests.ts")},
	)
	cmd := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "tsc"), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, blamed(string(out), b.String()))
	}
}

// blamed returns what stands at the places that the compiler names.
func blamed(errors, source string) string {
	lines := strings.Split(source, "\n")
	var b strings.Builder
	for _, m := range regexp.MustCompile(`requests\.ts\((\d+),(\d+)\)`).FindAllStringSubmatch(errors, -1) {
		line, _ := strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		text := lines[line-1]
		column = min(column, len(text))
		fmt.Fprintf(&b, "%s:\n\t%s\n", text[:min(60, len(text))], text[max(0, column-80):min(len(text), column+200)])
	}
	return b.String()
}

// ident is the protocol's name in types.ts.
func ident(p peer) string { return strings.ReplaceAll(p.plugin, "-", "_") }
