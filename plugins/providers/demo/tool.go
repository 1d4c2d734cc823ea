package main

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// maxShown is how much of a tool's result is said, in bytes.
const maxShown = 1500

// useTool calls a tool: the one that is named with its arguments, else one that
// does no harm and needs none.
func useTool(said string, tools []abi.Tool) scene {
	name, arguments := wanted(said)
	if name == "" {
		name = harmless(tools)
	}
	if name == "" {
		return answer("I have no tool that I could call just so. An agent has the tools that its config lists: " +
			"tools = [\"list_dir\", \"read_file\"]")
	}
	if arguments == "" {
		arguments = "{}"
	}
	s := answer("Let me look with " + bounded(name) + ".\n")
	s.finish = abi.FinishToolCalls
	first := int64(0)
	s.call = &abi.Event{Type: abi.EventToolCall, Index: &first, ID: "call_demo", Name: name, Arguments: arguments}
	return s
}

// wanted reads "/demo tool NAME ARGUMENTS".
func wanted(said string) (name, arguments string) {
	said = strings.TrimSpace(said)
	for range 2 {
		_, said, _ = strings.Cut(said, " ")
		said = strings.TrimLeft(said, " ")
	}
	name, arguments, _ = strings.Cut(said, " ")
	return name, strings.TrimSpace(arguments)
}

// harmless is the name of a tool that only lists, or of the first that can be
// called without arguments; empty if there is none.
func harmless(tools []abi.Tool) string {
	name := ""
	for _, t := range tools {
		if t.Name == "list_dir" {
			return t.Name
		}
		if name == "" && !requires(t.InputSchema) {
			name = t.Name
		}
	}
	return name
}

// requires reports whether a schema asks for any argument. One that cannot be
// read might.
func requires(schema abi.Raw) bool {
	s := jsonscan.New(schema)
	s.Object()
	required := false
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) != "required" {
			s.Skip()
			continue
		}
		for s.Array(); s.Elem(); s.Skip() {
			required = true
		}
	}
	return required || s.End() != nil
}

// result tells what the tools gave.
func result(parts []abi.Part) scene {
	var b strings.Builder
	for _, p := range parts {
		if p.Type != abi.PartToolResult {
			continue
		}
		how := " answered:"
		if p.IsError {
			how = " gave no result:"
		}
		name := p.Name
		if name == "" {
			name = "The tool"
		}
		b.WriteString(name + how + "\n\n" + clipped(p.Text) + "\n\n")
	}
	b.WriteString("Ask /why what happened: the call, its effect, and who allowed it.")
	return answer(b.String())
}

func clipped(text string) string {
	if text == "" {
		return "(nothing)"
	}
	if len(text) > maxShown {
		return strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}
