package config

import "strings"

// kind is the type of a value in the file.
type kind string

// The kinds, in the words that a person reads.
const (
	kindTable  kind = "a table"
	kindArray  kind = "a list"
	kindString kind = "text"
	kindInt    kind = "a whole number"
	kindFloat  kind = "a number"
	kindBool   kind = "true or false"
	kindTime   kind = "a date or time"
)

// maxKeys bounds the keys of one table in the file.
const maxKeys = 1024

// maxNesting bounds how deep tables and lists may lie in each other.
const maxNesting = 16

// node is a value with its place. Children are in the order of the file.
type node struct {
	kind  kind
	at    Origin // of the key; of an element of a list, the element
	value Origin // of the value
	text  string // text, or what was written for a number, bool, time
	int   int64
	float float64
	bool  bool
	exact string  // the number as it is written out, where float is not exact enough
	items []entry // of a table: by key; of a list: keys are empty
	// closed tables take no more keys: inline tables, and those that a header
	// has named.
	inline, named bool
	// dotted tables came from a dotted key; a header may not reopen them.
	dotted bool
}

type entry struct {
	key string
	*node
}

// get returns the child of a table.
func (n *node) get(key string) *node {
	for _, e := range n.items {
		if e.key == key {
			return e.node
		}
	}
	return nil
}

// set adds or replaces a child of a table.
func (n *node) set(key string, child *node) {
	for i, e := range n.items {
		if e.key == key {
			n.items[i].node = child
			return
		}
	}
	n.items = append(n.items, entry{key, child})
}

// join appends a key to a dotted path, quoted where TOML wants it.
func join(path, key string) string {
	key = quoteKey(key)
	if path == "" {
		return key
	}
	return path + "." + key
}

func quoteKey(key string) string {
	bare := key != ""
	for _, r := range key {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' {
			bare = false
		}
	}
	if bare {
		return key
	}
	return quote(key)
}

// quote returns s as a TOML basic string.
func quote(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			b.WriteString(`\u00`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
