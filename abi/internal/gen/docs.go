package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Between <!-- gen:KIND NAME --> and <!-- /gen --> the page holds a table that
// the generator writes: KIND is fields (of a document) or words (of a string
// type).
var block = regexp.MustCompile(`(?s)<!-- gen:(\w+) (\w+) -->\n.*?<!-- /gen -->`)

// fillPage returns the page with its tables up to date. Every document and
// every string type has to be shown.
func fillPage(m *model, page []byte) ([]byte, error) {
	shown := map[string]bool{}
	var problem error
	page = block.ReplaceAllFunc(page, func(old []byte) []byte {
		part := block.FindSubmatch(old)
		kind, name := string(part[1]), string(part[2])
		table, err := m.table(kind, name)
		if err != nil {
			problem = err
			return old
		}
		shown[name] = true
		return []byte("<!-- gen:" + kind + " " + name + " -->\n" + table + "<!-- /gen -->")
	})
	for _, d := range m.documents {
		if !shown[d.name] && problem == nil {
			problem = fmt.Errorf("page does not show %s", d.name)
		}
	}
	for _, t := range m.words {
		if !shown[t.name] && problem == nil {
			problem = fmt.Errorf("page does not show %s", t.name)
		}
	}
	return page, problem
}

func (m *model) table(kind, name string) (string, error) {
	switch kind {
	case "fields":
		if d, ok := m.document(name); ok {
			return m.fieldTable(d), nil
		}
	case "words":
		if t, ok := m.wordsOf(name); ok {
			return m.wordTable(t), nil
		}
	}
	return "", fmt.Errorf("page asks for %s of %s, which is not there", kind, name)
}

func (m *model) fieldTable(d document) string {
	var b bytes.Buffer
	b.WriteString(m.prose(d.doc, d.name) + "\n\n| field | type | | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range d.fields {
		need := "always"
		if f.optional {
			need = "optional"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.json, m.jsonType(f.typ), need, m.prose(meaning(f.doc, f.name), d.name))
	}
	return b.String()
}

func (m *model) wordTable(t words) string {
	var b bytes.Buffer
	b.WriteString(m.prose(t.doc, "") + "\n")
	if len(t.values) == 0 {
		return b.String()
	}
	b.WriteByte('\n')
	described := false
	for _, c := range t.values {
		described = described || c.doc != ""
	}
	if !described {
		list := make([]string, len(t.values))
		for i, c := range t.values {
			list[i] = "`" + c.value + "`"
		}
		return b.String() + strings.Join(list, ", ") + "\n"
	}
	b.WriteString("| value | meaning |\n| --- | --- |\n")
	for _, c := range t.values {
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.value, m.prose(meaning(c.doc, c.name), ""))
	}
	return b.String()
}

// meaning turns "Name is the name." into "The name.".
func meaning(doc, name string) string {
	doc = strings.TrimPrefix(doc, name+" ")
	doc = strings.TrimPrefix(strings.TrimPrefix(doc, "is "), "are ")
	if doc == "" {
		return ""
	}
	return strings.ToUpper(doc[:1]) + doc[1:]
}

// jsonType names a type as JSON has it.
func (m *model) jsonType(t goType) string {
	var name string
	switch t.base {
	case "string":
		name = "string"
	case "int64":
		name = "integer"
	case "float64":
		name = "number"
	case "bool":
		name = "boolean"
	case "Raw":
		name = "any JSON"
	default:
		name = link(t.base)
	}
	if t.slice {
		return "array of " + name
	}
	return name
}

// goName finds what may be a name of Go in a comment.
var goName = regexp.MustCompile(`\b[A-Z]\w*(\.[A-Z]\w*)?\b`)

// prose turns a comment into text for readers of other languages: fields and
// constants become the words of the wire, documents become links.
func (m *model) prose(doc, owner string) string {
	return goName.ReplaceAllStringFunc(doc, func(name string) string {
		if w := m.wire(owner, name); w != "" {
			return w
		}
		if v, ok := m.consts[name]; ok {
			return v
		}
		if name == owner {
			return name
		}
		of, member, _ := strings.Cut(name, ".")
		if w := m.wire(of, member); w != "" {
			return w + " of " + link(of)
		}
		if _, ok := m.document(name); ok {
			return link(name)
		}
		return name
	})
}

// wire returns a field's name in JSON, or "".
func (m *model) wire(doc, name string) string {
	d, _ := m.document(doc)
	for _, f := range d.fields {
		if f.name == name {
			return "`" + f.json + "`"
		}
	}
	return ""
}

func link(name string) string { return "[" + name + "](#" + strings.ToLower(name) + ")" }
