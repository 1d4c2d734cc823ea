package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/host/tool"
)

// maxResult is the longest result in bytes; more is cut here, and what the
// agent's own limit leaves of it by tool.Run.
const maxResult = 1 << 20

// render makes the text of a result, which is all that a model gets: texts as
// they are, a note for what is none, and structured content if there is no
// text that says the same.
func (s *Server) render(res *sdk.CallToolResult) tool.Result {
	var parts []string
	text := false
	for _, c := range res.Content {
		part, isText := show(c)
		text = text || isText
		parts = append(parts, part)
	}
	if !text && res.StructuredContent != nil {
		if data, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(data))
		}
	}
	out := strings.Join(parts, "\n")
	if strings.TrimSpace(out) == "" {
		out = "[no output]"
	}
	out = s.cfg.Redactor.String(out)
	if len(out) > maxResult {
		out = fmt.Sprintf("%s\n[cut: %d of %d bytes are shown]", clip(out, maxResult), maxResult, len(out))
	}
	return tool.Result{Content: out, IsError: res.IsError}
}

// show returns a piece of a result as text, and whether it is a text itself.
func show(c sdk.Content) (string, bool) {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text, true
	case *sdk.ImageContent:
		return binary("image", c.MIMEType, len(c.Data)), false
	case *sdk.AudioContent:
		return binary("audio", c.MIMEType, len(c.Data)), false
	case *sdk.ResourceLink:
		note := "[resource " + label(c.URI)
		for _, more := range []string{c.Name, c.MIMEType, c.Description} {
			if more != "" {
				note += ", " + label(more)
			}
		}
		return note + "; it is not shown]", false
	case *sdk.EmbeddedResource:
		if c.Resource == nil {
			return "[a resource that is empty]", false
		}
		if r := c.Resource; r.Text != "" {
			return "[resource " + label(r.URI) + "]\n" + r.Text, true
		}
		return binary("resource "+label(c.Resource.URI), c.Resource.MIMEType, len(c.Resource.Blob)), false
	}
	return "[something that cannot be shown]", false
}

func binary(what, mediaType string, size int) string {
	if mediaType != "" {
		what += ", " + label(mediaType)
	}
	return fmt.Sprintf("[%s, %d bytes; it is not shown]", what, size)
}

// label makes a short piece of a server's text fit for a note.
func label(s string) string { return clip(oneLine(s), maxReason) }
