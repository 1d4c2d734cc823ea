package mcp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// modern is a server that speaks the protocol of 2026-07-28 alone: it has no
// initialize.
func modern(in io.Reader, out io.WriteCloser) {
	defer out.Close()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"method not found"}`
		switch r.Method {
		case "server/discover":
			answer = `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"greet","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
		case "tools/call":
			answer = `"result":{"content":[{"type":"text","text":"hello"}],"resultType":"complete"}`
		}
		if _, err := fmt.Fprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", r.ID, answer); err != nil {
			return
		}
	}
}
