//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// everything returns the command of the protocol's own reference server, which
// has a tool for everything that a tool can do.
func everything(t *testing.T, transport string) []string {
	t.Helper()
	script, err := filepath.Abs("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"node", script, transport}
}

// everythingHTTP starts it as an HTTP server and returns its address.
func everythingHTTP(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // for the server, which cannot be told to look for one itself
	words := everything(t, "streamableHttp")
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "PORT="+port)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	up := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			if strings.Contains(lines.Text(), "listening on port") {
				close(up)
				break
			}
		}
		_, _ = io.Copy(io.Discard, said)
	}()
	select {
	case <-up:
	case <-time.After(30 * time.Second):
		t.Fatal("the server does not listen")
	}
	return "http://127.0.0.1:" + port + "/mcp"
}

// A model calls tools of a server that nobody here wrote, over both transports:
// text, structured content, an image, and a call that the server refuses.
func TestMCP(t *testing.T) {
	t.Parallel()
	for name, table := range map[string]func(*testing.T) string{
		"stdio": func(t *testing.T) string { return "command = " + list(everything(t, "stdio")) },
		"http":  func(t *testing.T) string { return fmt.Sprintf("url = %q", everythingHTTP(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := "mcp-" + name
			mock.on(t,
				`{"match":{"model":"`+model+`","hasToolResult":false},"response":{"toolCalls":[
					{"name":"all__echo","arguments":{"message":"bicycle"}},
					{"name":"all__get-sum","arguments":{"a":19,"b":23}},
					{"name":"all__get-structured-content","arguments":{"location":"Chicago"}},
					{"name":"all__get-tiny-image","arguments":{}},
					{"name":"all__get-sum","arguments":{"a":"x","b":1}}]}}`,
				`{"match":{"model":"`+model+`","hasToolResult":true},"response":{"content":"Done."}}`)
			h := aimock(t, []string{model})
			h.agent(t, `tools = ["mcp:all"]`, `approve = "never"`)
			h.table(t, "[mcp.all]\n"+table(t))
			a := h.send(t, "do it all")
			a.want(t, 0, "complete", "Done.", "")
			requests := mock.requests(t, model)
			if len(requests) != 2 {
				t.Fatalf("%d requests, want 2: %s", len(requests), a.stdout)
			}
			var results []string
			for _, m := range requests[1].Body.Messages {
				if m.Role == "tool" {
					results = append(results, fmt.Sprint(m.Content))
				}
			}
			for i, want := range []string{"Echo: bicycle", "The sum of 19 and 23 is 42.", `"temperature":`, "image/png", "was not run"} {
				if i >= len(results) || !strings.Contains(results[i], want) {
					t.Errorf("result %d of %q lacks %q", i+1, results, want)
				}
			}
		})
	}
}

// A server that is not there does not keep the turn from going on, and the
// person is told what is missing.
func TestMCPServerDown(t *testing.T) {
	t.Parallel()
	mock.on(t, `{"match":{"model":"mcp-down"},"response":{"content":"Without tools, then."}}`)
	h := aimock(t, []string{"mcp-down"})
	h.agent(t, `tools = ["mcp:gone", "read_file"]`)
	h.table(t, "[mcp.gone]\ncommand = [\"/no/such/server\"]")
	began := time.Now()
	a := h.send(t, "hi")
	a.want(t, 0, "complete", "Without tools, then.", "")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %s", took)
	}
	if !strings.Contains(a.stdout+a.stderr, "the tools of mcp:gone are missing") {
		t.Errorf("nothing is said of the server: %s%s", a.stdout, a.stderr)
	}
}

// table adds a table to the config.
func (h *host) table(t *testing.T, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(h.home, "config.toml"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "\n%s\n", text)
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
