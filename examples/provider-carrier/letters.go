package main

import (
	"strconv"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// letters gives the letters of a message, with commas between them: texts that
// follow each other are the lines of one, and everything else has its own.
func letters(m abi.Message) string {
	w := writer{by: "human"}
	if m.Role == abi.RoleAssistant {
		w.by = "bird"
	}
	for _, p := range m.Parts {
		switch p.Type {
		case abi.PartText, abi.PartProviderTool:
			w.line(p.Text)
		case abi.PartFile:
			w.line("(a file that cannot be carried: " + p.Name + ")")
		case abi.PartToolCall, abi.PartToolResult, abi.PartImage:
			w.letter(p)
		case abi.PartReasoning: // a bird does not hear what it thought
		}
	}
	if len(w.b) == 0 {
		w.lines() // no fragment is empty
	}
	w.close()
	return string(w.b)
}

// writer writes letters.
type writer struct {
	b    []byte
	by   string
	open bool // the last letter takes more lines
}

func (w *writer) line(text string) {
	if w.open {
		w.b = append(w.b, ',')
	} else {
		w.lines()
	}
	w.b = jsonscan.AppendString(w.b, text)
}

// lines begins a letter with lines.
func (w *writer) lines() {
	w.comma()
	w.b = jsonscan.AppendString(append(w.b, `{"by":`...), w.by)
	w.b = append(w.b, `,"lines":[`...)
	w.open = true
}

func (w *writer) close() {
	if w.open {
		w.b = append(w.b, `]}`...)
	}
	w.open = false
}

func (w *writer) comma() {
	if len(w.b) > 0 {
		w.b = append(w.b, ',')
	}
}

// letter writes a letter of its own.
func (w *writer) letter(p abi.Part) {
	w.close()
	w.comma()
	b := w.b
	switch p.Type {
	case abi.PartToolCall:
		b = jsonscan.AppendString(append(b, `{"by":"bird","errand":{"no":`...), p.CallID)
		b = jsonscan.AppendString(append(b, `,"title":`...), p.Name)
		b = append(append(append(b, `,"form":`...), p.Arguments...), `}}`...)
	case abi.PartToolResult:
		b = jsonscan.AppendString(append(b, `{"by":"errand","no":`...), p.CallID)
		b = jsonscan.AppendString(append(b, `,"report":`...), p.Text)
		b = append(strconv.AppendBool(append(b, `,"bad":`...), p.IsError), '}')
	case abi.PartImage:
		b = append(b, `{"by":"human","lines":[],"picture":"{{blob:`+p.Blob+`}}","of":`...)
		b = append(jsonscan.AppendString(b, p.MediaType), '}')
	case abi.PartText, abi.PartReasoning, abi.PartProviderTool, abi.PartFile:
	}
	w.b = b
}
