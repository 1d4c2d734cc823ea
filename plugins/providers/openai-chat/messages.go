package main

import (
	"errors"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/compose"
)

// Messages renders each message as its wire JSON.
func (chat) Messages(in abi.ChatMessages) ([]string, error) {
	fragments := make([]string, len(in.Messages))
	for i, m := range in.Messages {
		f, err := fragment(m)
		if err != nil {
			return nil, err
		}
		fragments[i] = string(f)
	}
	return fragments, nil
}

func fragment(m abi.Message) ([]byte, error) {
	switch m.Role {
	case abi.RoleUser:
		dst := []byte(`{"role":"user","content":`)
		if hasFile(m.Parts) {
			dst = appendParts(dst, m.Parts)
		} else {
			dst = contentOf(dst, m.Parts, false)
		}
		return append(dst, '}'), nil
	case abi.RoleAssistant:
		return assistant(m.Parts), nil
	case abi.RoleTool:
		return results(m.Parts)
	}
	return nil, errors.New("unknown role " + string(m.Role))
}

// contentOf appends the texts as one string: not every server takes an array.
// Parts were messages of their own before the host merged them, so there is a
// blank line between them.
func contentOf(dst []byte, parts []abi.Part, nullIfNone bool) []byte {
	texts := 0
	joined := ""
	for _, p := range parts {
		if p.Type != abi.PartText || p.Text == "" {
			continue
		}
		if texts++; texts > 1 {
			joined += "\n\n"
		}
		joined += p.Text
	}
	if texts == 0 && nullIfNone {
		return append(dst, "null"...)
	}
	return compose.AppendText(dst, joined)
}

// assistant renders an answer. The content is null only beside tool calls.
func assistant(parts []abi.Part) []byte {
	calls := false
	for _, p := range parts {
		calls = calls || p.Type == abi.PartToolCall
	}
	dst := contentOf([]byte(`{"role":"assistant","content":`), parts, calls)
	dst = appendDetails(dst, parts)
	if calls {
		dst = appendCalls(append(dst, `,"tool_calls":[`...), parts)
	}
	return append(dst, '}')
}

func appendCalls(dst []byte, parts []abi.Part) []byte {
	first := true
	for _, p := range parts {
		if p.Type != abi.PartToolCall {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, `{"id":`...)
		dst = compose.AppendText(dst, callID(p.CallID))
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = compose.AppendText(dst, p.Name)
		dst = append(dst, `,"arguments":`...)
		dst = compose.AppendText(dst, argumentsObject(p.Arguments))
		dst = append(dst, '}', '}')
	}
	return append(dst, ']')
}

// argumentsObject returns the arguments, or an empty object in place of what is
// no JSON object: servers refuse the whole history for it (C028, C030). The call
// itself was never run with such arguments.
func argumentsObject(arguments string) string {
	s := jsonscan.New([]byte(arguments))
	if s.Kind() != jsonscan.Object || s.End() != nil {
		return "{}"
	}
	return arguments
}

// results renders each result as a message of its own.
func results(parts []abi.Part) ([]byte, error) {
	var dst []byte
	for _, p := range parts {
		if p.Type != abi.PartToolResult {
			continue
		}
		if len(dst) > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"role":"tool","tool_call_id":`...)
		dst = compose.AppendText(dst, callID(p.CallID))
		dst = append(dst, `,"content":`...)
		dst = compose.AppendText(dst, p.Text)
		dst = append(dst, '}')
	}
	if len(dst) == 0 {
		return nil, errors.New("a tool message holds no tool_result")
	}
	return dst, nil
}
