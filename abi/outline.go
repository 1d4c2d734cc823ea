package abi

import "strings"

// Outline tells the roles and part types of messages in little space, so that
// a long history costs the sandbox almost nothing: one word for each message,
// with a space between them. A word is a letter for the role, u (user), a
// (assistant) or t (tool), followed by a letter for each part: T (text), R
// (reasoning), C (tool_call), E (tool_result), P (provider_tool), I (image) or
// F (file). "uT aTC tEE aT" is a question,
// an answer that calls a tool, two results, and a final answer.
type Outline string

// OutlineOf returns the outline of messages.
func OutlineOf(messages []Message) Outline {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(roleLetter(m.Role))
		for _, p := range m.Parts {
			b.WriteByte(partLetter(p.Type))
		}
	}
	return Outline(b.String())
}

// Len counts the messages.
func (o Outline) Len() int {
	if o == "" {
		return 0
	}
	return strings.Count(string(o), " ") + 1
}

func roleLetter(r Role) byte {
	switch r {
	case RoleAssistant:
		return 'a'
	case RoleTool:
		return 't'
	case RoleUser:
		return 'u'
	}
	return '?'
}

func partLetter(t PartType) byte {
	switch t {
	case PartReasoning:
		return 'R'
	case PartToolCall:
		return 'C'
	case PartToolResult:
		return 'E'
	case PartText:
		return 'T'
	case PartProviderTool:
		return 'P'
	case PartImage:
		return 'I'
	case PartFile:
		return 'F'
	}
	return '?'
}
