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
		return user(m.Parts), nil
	case abi.RoleAssistant:
		return assistant(m.Parts), nil
	case abi.RoleTool:
		return results(m.Parts)
	}
	return nil, errors.New("unknown role " + string(m.Role))
}

// textOf joins the texts of a type. Parts were messages of their own before the
// host merged them, so there is a blank line between them.
func textOf(parts []abi.Part, t abi.PartType) string {
	joined := ""
	for _, p := range parts {
		text := p.Text
		if p.Type == abi.PartFile && t == abi.PartText {
			text = noFile(p)
		} else if p.Type != t {
			continue
		}
		if joined != "" && text != "" {
			joined += "\n\n"
		}
		joined += text
	}
	return joined
}

// noFile stands for a file, for which the API has no place: so the model can say
// that it did not get it.
func noFile(p abi.Part) string {
	return "[A file was attached that cannot be passed on to you: " + p.Name + " (" + p.MediaType + ")]"
}

func user(parts []abi.Part) []byte {
	m := members{compose.Members{Dst: []byte(`{"role":"user","content":`)}}
	m.Text(textOf(parts, abi.PartText))
	first := true
	for _, p := range parts {
		if p.Type != abi.PartImage {
			continue
		}
		if first {
			m.Raw(`,"images":[`)
			first = false
		}
		m.Next()
		m.Text("{{blob:" + p.Blob + "}}")
	}
	if !first {
		m.Raw(`]`)
	}
	m.Raw(`}`)
	return m.Dst
}

// assistant renders an answer. What the model thought goes back only where it
// calls tools, to go on from it; the templates of models drop all other.
func assistant(parts []abi.Part) []byte {
	m := members{compose.Members{Dst: []byte(`{"role":"assistant","content":`)}}
	m.Text(textOf(parts, abi.PartText))
	first := true
	for _, p := range parts {
		if p.Type != abi.PartToolCall {
			continue
		}
		if first {
			first = false
			if thought := textOf(parts, abi.PartReasoning); thought != "" {
				m.Raw(`,"thinking":`)
				m.Text(thought)
			}
			m.Raw(`,"tool_calls":[`)
		}
		m.Next()
		m.Raw(`{"function":{"name":`)
		m.Text(p.Name)
		m.Raw(`,"arguments":` + argumentsObject(p.Arguments) + `}}`)
	}
	if !first {
		m.Raw(`]`)
	}
	m.Raw(`}`)
	return m.Dst
}

// argumentsObject returns the arguments, or an empty object in place of what is
// no JSON object: the server refuses the whole history for it (C028, C030). The
// call itself was never run with such arguments.
func argumentsObject(arguments string) string {
	s := jsonscan.New([]byte(arguments))
	if s.Kind() != jsonscan.Object || s.End() != nil {
		return "{}"
	}
	return arguments
}

// results renders each result as a message of its own. Calls have no ids: the
// order tells which is whose.
func results(parts []abi.Part) ([]byte, error) {
	m := members{}
	for _, p := range parts {
		if p.Type != abi.PartToolResult {
			continue
		}
		if len(m.Dst) > 0 {
			m.Raw(`,`)
		}
		m.Raw(`{"role":"tool","tool_name":`)
		m.Text(p.Name)
		m.Raw(`,"content":`)
		m.Text(p.Text)
		m.Raw(`}`)
	}
	if len(m.Dst) == 0 {
		return nil, errors.New("a tool message holds no tool_result")
	}
	return m.Dst, nil
}
