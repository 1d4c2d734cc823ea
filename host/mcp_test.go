//go:build unix

package host_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/zchost/zchost/host"
)

// token is the secret of the servers. They give it away in their results.
const token = "tok-5d0c7a91e2b34f68"

// toolServer is an MCP server over HTTP with the tools whoami and other.
func toolServer(t *testing.T) (address string, greeted *atomic.Int32) {
	t.Helper()
	greeted = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ID     json.RawMessage
			Method string
		}
		if body, err := io.ReadAll(r.Body); err != nil || json.Unmarshal(body, &in) != nil || in.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := ""
		switch in.Method {
		case "initialize":
			greeted.Add(1)
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
		case "tools/list":
			result = `{"tools":[{"name":"whoami","inputSchema":{"type":"object"}},{"name":"other","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			result = `{"content":[{"type":"text","text":` + quote("you are "+r.Header.Get("Authorization")+" of "+r.Header.Get("X-Team")) + `}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, in.ID, result)
	}))
	t.Cleanup(s.Close)
	return s.URL, greeted
}

// toolCommand is an MCP server as a shell script: its tool tells its variables,
// its directory and its process.
const toolCommand = `while read -r line; do
id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
case "$line" in
*'"initialize"'*) r='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
*'"tools/list"'*) r='{"tools":[{"name":"tell","inputSchema":{"type":"object"}}]}' ;;
*'"tools/call"'*) echo $$ > pid; r='{"content":[{"type":"text","text":"token '$TOKEN' level '$LEVEL' key '$HOST_KEY' in '$(basename "$PWD")'"}]}' ;;
*) continue ;;
esac
printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$r"
done`

// withServer is a config whose agent has tools of the server s.
func withServer(v *vendor, ref, table string) string {
	return fmt.Sprintf(`
[providers.p]
plugin = "openai-chat"
base_url = "%s/v1"
[models.m]
provider = "p"
model = "m"
[agents.main]
model = "m"
approve = "never"
tools = [%q]
[mcp.s]
%s
`, v.URL, ref, table)
}

// calling is a model that calls a tool and then has done.
func calling(name string) map[string][]script {
	return map[string][]script{"m": {
		{pieces: []string{tc(`{"index":0,"id":"c1","function":{"name":` + quote(name) + `,"arguments":"{}"}}`), fin("tool_calls"), doneSignal}},
		{pieces: []string{txt("done"), fin("stop"), doneSignal}},
	}}
}

// told returns the results of tools in the vendor's last request.
func told(t *testing.T, v *vendor) string {
	t.Helper()
	requests := v.asked("m")
	if len(requests) != 2 {
		t.Fatalf("%d requests, want 2", len(requests))
	}
	var all strings.Builder
	for _, m := range requests[1].Messages {
		if m.Role == "tool" {
			all.Write(m.Content)
		}
	}
	return all.String()
}

// A server at an address gets its token and headers, is greeted when a turn
// needs it and not before, and what it says of its token reaches nobody.
func TestServerAtAddress(t *testing.T) {
	t.Parallel()
	address, greeted := toolServer(t)
	v := startVendor(t, calling("s__whoami"))
	h := startHost(t, withServer(v, "mcp:s/whoami", fmt.Sprintf(`url = %q
token = "env:TOKEN"
headers = { X-Team = "text:blue" }`, address)), "TOKEN="+token)
	if n := greeted.Load(); n != 0 {
		t.Errorf("the server was greeted %d times before the first turn", n)
	}
	_, shown := ask(t, h, "main", "who am I?")
	if got := told(t, v); shown != "done" || got != `"you are Bearer [redacted] of blue"` {
		t.Errorf("shown %q; the model reads %s", shown, got)
	}
	_, _ = ask(t, h, "main", "again")
	if n := greeted.Load(); n != 1 {
		t.Errorf("the server was greeted %d times", n)
	}
}

// An agent that names one tool of a server has not the others.
func TestOneToolOfAServer(t *testing.T) {
	t.Parallel()
	address, _ := toolServer(t)
	v := startVendor(t, calling("s__whoami"))
	h := startHost(t, withServer(v, "mcp:s/other", fmt.Sprintf("url = %q", address)))
	_, _ = ask(t, h, "main", "who am I?")
	if got := told(t, v); !strings.Contains(got, "there is no such tool; there are: s__other.") {
		t.Errorf("the model reads %s", got)
	}
}

// A command gets what its table says and nothing of the host's keys, and ends
// with the host.
func TestServerCommand(t *testing.T) {
	t.Parallel()
	v := startVendor(t, calling("s__tell"))
	home := newHome(t, withServer(v, "mcp:s", fmt.Sprintf(`command = ["sh", "-c", %s]
dir = "place"
env = { TOKEN = "env:THEIRS", LEVEL = "text:info" }`, quote(toolCommand))))
	place := filepath.Join(home, "place")
	if err := os.Mkdir(place, 0o700); err != nil {
		t.Fatal(err)
	}
	h, err := host.Start(t.Context(), host.Options{Home: home, Version: "test", Env: []string{"PATH=" + os.Getenv("PATH"), "THEIRS=" + token, "HOST_KEY=sk-own"}})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = ask(t, h, "main", "tell")
	if got := told(t, v); got != `"token [redacted] level info key  in place"` {
		t.Errorf("the model reads %s", got)
	}
	if err := h.Shutdown(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(filepath.Join(place, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d still runs", pid)
	}
}

// A secret that cannot be found is said when the host starts.
func TestServerSecretMissing(t *testing.T) {
	t.Parallel()
	v := startVendor(t, nil)
	home := newHome(t, withServer(v, "mcp:s", `command = ["true"]
env = { TOKEN = "env:NOT_THERE" }`))
	h, err := host.Start(t.Context(), host.Options{Home: home, Version: "test"})
	if err == nil {
		_ = h.Shutdown()
	}
	if err == nil || !strings.Contains(err.Error(), "mcp.s.env.TOKEN") || !strings.Contains(err.Error(), "NOT_THERE") {
		t.Errorf("got %v", err)
	}
}
