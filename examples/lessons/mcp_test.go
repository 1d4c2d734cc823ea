package lessons_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// serverVariable makes the test program an MCP server.
const serverVariable = "ZCHOST_LESSON_MCP_SERVER"

// serveMCP is a small server of the Model Context Protocol on stdio. Its two
// tools are named and annotated like those of the reference server for files.
func serveMCP(in io.Reader, out io.Writer) {
	const tools = `{"tools":[
{"name":"list_directory","description":"Lists a directory.","inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"annotations":{"readOnlyHint":true}},
{"name":"write_file","description":"Writes a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]},"annotations":{"readOnlyHint":false}}]}`
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
			text := "[FILE] milk.txt"
			if request.Params.Name == "write_file" {
				text = "Successfully wrote to bread.txt"
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
