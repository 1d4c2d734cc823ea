//go:build wasip1

// Command guest is a tool plugin that does what its tools are named after. The
// tests of plugintool build and run it.
package main

import (
	"errors"
	"strconv"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/tool"
)

func init() { tool.Register(plugin{}) }

func main() {}

type plugin struct{}

// count lives as long as the instance.
var count int

func (plugin) Tools(options abi.Raw) ([]abi.ToolSpec, error) {
	object := abi.Raw(`{"type":"object"}`)
	switch string(options) {
	case `{"list":"none"}`:
		return nil, nil
	case `{"list":"bad effect"}`:
		return []abi.ToolSpec{{Name: "a", InputSchema: object, Effect: "delete"}}, nil
	case `{"list":"bad name"}`:
		return []abi.ToolSpec{{Name: "a b", InputSchema: object, Effect: abi.EffectNone}}, nil
	case `{"list":"bad schema"}`:
		return []abi.ToolSpec{{Name: "a", InputSchema: abi.Raw(`{"type":"array"}`), Effect: abi.EffectNone}}, nil
	case `{"list":"twice"}`:
		return []abi.ToolSpec{{Name: "a", InputSchema: object, Effect: abi.EffectNone}, {Name: "a", InputSchema: object, Effect: abi.EffectNone}}, nil
	case `{"list":"fails"}`:
		return nil, errors.New("no list today")
	}
	var specs []abi.ToolSpec
	for _, name := range []string{"send", "loop", "panic", "fail", "echo", "many"} {
		specs = append(specs, abi.ToolSpec{Name: name, Description: name, InputSchema: object, Effect: abi.EffectNone})
	}
	specs[0].Effect = abi.EffectWrite
	return specs, nil
}

func (plugin) Call(c *tool.Call) (abi.ToolResult, error) {
	switch c.Name {
	case "send":
		var r abi.HTTPRequest
		if err := r.DecodeJSON(c.Arguments); err != nil {
			return abi.ToolResult{}, err
		}
		resp, err := c.HTTP(r)
		var failed *tool.HTTPError
		if errors.As(err, &failed) {
			return tool.Failed(string(failed.Failure.Class) + ": " + failed.Failure.Message), nil
		}
		return tool.Text(strconv.FormatInt(resp.Status, 10) + " " + resp.Header("x-echo") + " " + resp.Body), err
	case "loop":
		for count >= 0 {
			count++
		}
	case "panic":
		panic("at the disco")
	case "fail":
		return abi.ToolResult{}, errors.New("it is broken")
	case "many":
		for range 40 {
			if _, err := c.HTTP(abi.HTTPRequest{Method: "GET", URL: "https://api.example.com/"}); err != nil {
				return tool.Failed(err.Error()), nil
			}
		}
	}
	b := append(append([]byte(c.ID+" "), c.Arguments...), ' ')
	return tool.Text(string(jsonscan.AppendString(append(b, c.Options...), c.Name))), nil
}
