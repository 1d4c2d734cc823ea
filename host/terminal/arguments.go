package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Bounds of how arguments are shown.
const (
	maxValueColumns = 60 // of one value in a tool line
	maxLineColumns  = 100
	// Of one value in a question, unless all is asked for.
	maxValueLines = 12
	maxValueWidth = 500
)

// argument is one field of a call's arguments, ready to be shown.
type argument struct{ name, value string }

// arguments reads the JSON object that a model gave, in its own order. What is
// no object is one argument without a name.
func arguments(text string) []argument {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return []argument{{value: Unhide(text)}}
	}
	var list []argument
	for d.More() {
		name, err := d.Token()
		var raw json.RawMessage
		if err == nil {
			err = d.Decode(&raw)
		}
		if err != nil {
			return []argument{{value: Unhide(text)}}
		}
		list = append(list, argument{Unhide(fmt.Sprint(name)), value(raw)})
	}
	if _, err := d.Token(); err != nil {
		return []argument{{value: Unhide(text)}}
	}
	return list
}

// cutMark ends arguments of which an event has only the beginning (host/turn).
const cutMark = "…"

// begun reads the beginning of a JSON object, as far as it goes.
func begun(text string) []argument {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return []argument{{value: Unhide(text)}}
	}
	var list []argument
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		var raw json.RawMessage
		if d.Decode(&raw) != nil {
			return append(list, argument{Unhide(fmt.Sprint(name)), cutMark})
		}
		list = append(list, argument{Unhide(fmt.Sprint(name)), value(raw)})
	}
	return append(list, argument{value: cutMark})
}

// value is a string as it is, and anything else as JSON.
func value(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && raw[0] == '"' {
		return Unhide(s)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return Unhide(string(raw))
	}
	return Unhide(compact.String())
}

// ArgumentLine shows the arguments of a call on one line, cut to what fits
// there: a single one by its value alone.
func ArgumentLine(text string) string {
	list := arguments(text)
	if strings.HasSuffix(text, cutMark) {
		list = begun(text)
	}
	if len(list) == 1 {
		return Shorten(list[0].value, maxLineColumns)
	}
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = Shorten(a.value, maxValueColumns)
		if a.name != "" {
			parts[i] = a.name + ": " + parts[i]
		}
	}
	return Shorten(strings.Join(parts, ", "), maxLineColumns)
}

// argumentBlock shows the arguments of a call on lines of their own. With all,
// nothing is left out; cut says that something was.
func argumentBlock(text string, all bool) (block string, cut bool) {
	var b strings.Builder
	for _, a := range arguments(text) {
		lines := strings.Split(strings.TrimSuffix(a.value, "\n"), "\n")
		hidden := 0
		if !all && len(lines) > maxValueLines {
			lines, hidden = lines[:maxValueLines], len(lines)-maxValueLines
		}
		for i, l := range lines {
			if !all && Width(l) > maxValueWidth {
				lines[i], cut = Shorten(l, maxValueWidth), true
			}
		}
		name := a.name
		if name != "" {
			name += ":"
		}
		if len(lines) == 1 {
			b.WriteString("  " + strings.TrimSpace(name+" "+lines[0]) + "\n")
			continue
		}
		b.WriteString("  " + name + "\n")
		for _, l := range lines {
			b.WriteString("  | " + l + "\n")
		}
		if hidden > 0 {
			fmt.Fprintf(&b, "  … %d more lines\n", hidden)
			cut = true
		}
	}
	return b.String(), cut
}

// Unhide makes visible what a person could not see, or what a terminal would
// act on: control characters, invisible and reordering ones become escapes, as
// in \u202e. Someone who is asked whether a call may run has to see all of it.
func Unhide(s string) string {
	if !strings.ContainsFunc(s, hides) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if !hides(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

func hides(r rune) bool {
	return r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}
