//go:build !unix

package mcp_test

const childVariable = "ZCHOST_TEST_MCP"

// serve is nothing here: the tests of commands need signals.
func serve(string) int { return 1 }
