package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// probe is a plugin whose tools do what they are named after.
type probe struct{}

func (probe) Tools(options abi.Raw) ([]abi.ToolSpec, error) {
	if string(options) == `"fail"` {
		return nil, errors.New("no tools today")
	}
	return []abi.ToolSpec{{Name: "get", Description: string(options), InputSchema: abi.Raw(`{"type":"object"}`), Effect: abi.EffectRead}}, nil
}

func (probe) Call(c *tool.Call) (abi.ToolResult, error) {
	switch c.Name {
	case "get":
		resp, err := c.HTTP(abi.HTTPRequest{Method: "GET", URL: "https://example.com/?" + c.ID})
		var failed *tool.HTTPError
		if errors.As(err, &failed) {
			return tool.Failed(string(failed.Failure.Class) + ": " + err.Error()), nil
		}
		return tool.Text(resp.Body), err
	case "echo":
		return tool.Text(string(c.Arguments) + string(c.Options)), nil
	}
	return abi.ToolResult{}, errors.New("there is no tool " + c.Name)
}

// Documents go in and come out as the host has them.
func TestNative(t *testing.T) {
	t.Parallel()
	m := tool.Native(probe{}, func(r abi.HTTPRequest) abi.HTTPResponse {
		if strings.HasSuffix(r.URL, "?bad") {
			return abi.HTTPResponse{Failure: &abi.Failure{Class: abi.FailureNetwork, Message: "no route"}}
		}
		return abi.HTTPResponse{Status: 200, Body: r.Method + " " + r.URL}
	})
	for _, c := range []struct{ export, in, want string }{
		{"tools", `{}`, `{"tools":[{"name":"get","input_schema":{"type":"object"},"effect":"read"}]}`},
		{"tools", `{"options":{"a":1},"later":2}`, `{"tools":[{"name":"get","description":"{\"a\":1}","input_schema":{"type":"object"},"effect":"read"}]}`},
		{"tools", `{"options":"fail"}`, `!no tools today`},
		{"tools", `[`, `!decode ToolsQuery`},
		{"call", `{"id":"good","name":"get","arguments":{}}`, `{"content":"GET https://example.com/?good"}`},
		{"call", `{"id":"bad","name":"get","arguments":{}}`, `{"content":"network: no route","is_error":true}`},
		{"call", `{"id":"1","name":"echo","arguments":{"x":[1]},"options":{"a":1}}`, `{"content":"{\"x\":[1]}{\"a\":1}"}`},
		{"call", `{"id":"1","name":"other","arguments":{}}`, `!there is no tool other`},
		{"call", `{"id":1}`, `!decode ToolCall`},
		{"chat_request", `{}`, `!there is no export chat_request`},
	} {
		out, err := m.Call(t.Context(), c.export, []byte(c.in))
		got := string(out)
		if err != nil {
			got = "!" + err.Error()
		}
		if got != c.want && (c.want[0] != '!' || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s of %s gave %s, want %s", c.export, c.in, got, c.want)
		}
	}
}

// A plugin that was given no way out gets no response, and a call whose context
// has ended does not begin.
func TestNativeWithoutHTTP(t *testing.T) {
	t.Parallel()
	m := tool.Native(probe{}, nil)
	out, err := m.Call(t.Context(), "call", []byte(`{"id":"1","name":"get","arguments":{}}`))
	if want := `{"content":"plugin: this plugin was started without http","is_error":true}`; string(out) != want || err != nil {
		t.Errorf("got %s, %v", out, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Call(ctx, "tools", []byte(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
