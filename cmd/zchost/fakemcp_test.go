package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// fakeMCP is a server of the Model Context Protocol on stdio with one tool,
// which says back what it was given (specification of 2025-06-18, "Lifecycle"
// and "Tools"). It is written by hand: host/mcp alone knows the SDK, and tests
// itself with it.
func fakeMCP(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string          `json:"protocolVersion"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		result := "{}"
		switch {
		case asked.ID == nil: // a notification
			continue
		case asked.Method == "initialize":
			result = `{"protocolVersion":` + quoted(asked.Params.Version) + `,"capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`
		case asked.Method == "tools/list":
			result = `{"tools":[{"name":"say","description":"Say it back.","inputSchema":{"type":"object"}}]}`
		case asked.Method == "tools/call":
			result = `{"content":[{"type":"text","text":` + quoted("you said "+string(asked.Params.Arguments)) + `}]}`
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", asked.ID, result); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	return lines.Err()
}

// mcpServer runs the fake server in place of the tests.
func mcpServer() int {
	if err := fakeMCP(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
