package mcp

import (
	"bytes"
	"io"
	"net/http"
)

// forgotten makes the answer of a server that does not know the session the one
// that the protocol has for it: 404, which the SDK sees only if no JSON-RPC
// error is with it. Many servers send one, and some say 400: those are believed
// if they speak of the session. The body of resp was read already.
//
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
func forgotten(r *http.Request, resp *http.Response) {
	if r.Header.Get("Mcp-Session-Id") == "" || resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusBadRequest {
		return
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusBadRequest && !bytes.Contains(bytes.ToLower(text), []byte("session")) {
		resp.Body = io.NopCloser(bytes.NewReader(text))
		return
	}
	resp.StatusCode, resp.Status = http.StatusNotFound, "404 Not Found"
	resp.Body = http.NoBody
}
