package lessons_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// serverVariable makes the test program an MCP server.
const serverVariable = "ZCHOST_LESSON_MCP_SERVER"

// serveMCP is a small server of the Model Context Protocol on stdio: it has a
// tool that reads and a tool that writes.
func serveMCP(in io.Reader, out io.Writer) {
	const tools = `{"tools":[
{"name":"find_book","description":"Finds a book by its title.","inputSchema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]},"annotations":{"readOnlyHint":true}},
{"name":"lend_book","description":"Lends a book.","inputSchema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}]}`
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var request struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name            string
				ProtocolVersion string
			}
		}
		if json.Unmarshal(lines.Bytes(), &request) != nil || request.ID == nil {
			continue // a notification
		}
		result := "{}"
		switch request.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"library","version":"1.0.0"}}`, request.Params.ProtocolVersion)
		case "tools/list":
			result = tools
		case "tools/call":
			text := "Moby-Dick: shelf 7, not lent"
			if request.Params.Name == "lend_book" {
				text = "Moby-Dick: lent until Friday"
			}
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text)
		}
		var oneLine json.RawMessage = []byte(result)
		answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": oneLine})
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(out, "%s\n", answer); err != nil {
			return
		}
	}
}
