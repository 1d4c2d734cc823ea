package config

import (
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// keyValue adds key = value to a table. path and depth are those of the inline
// table that it stands in.
func (p *parser) keyValue(table *node, e *unstable.Node, path string, depth int) {
	it := e.Key()
	for n := table; it.Next(); {
		key, at := string(it.Node().Data), p.placeOf(it.Node())
		path = join(path, key)
		child := n.get(key)
		switch {
		case it.IsLast() && child == nil:
			p.add(n, key, p.value(e.Value(), at, path, depth))
			return
		case it.IsLast(), child != nil && (child.kind != kindTable || child.inline || child.named):
			p.twice(at, path, child)
			return
		case child == nil:
			child = &node{kind: kindTable, at: at, value: at, dotted: true}
			p.add(n, key, child)
		}
		n = child
	}
}

// value turns a value of the syntax tree into a node; at is where its key is.
func (p *parser) value(v *unstable.Node, at Origin, path string, depth int) *node {
	n := &node{at: at, value: at}
	if v.Raw.Length > 0 {
		n.value = p.placeOf(v)
	}
	if depth > maxNesting {
		p.report.add(n.value, path, "lists and tables lie too deep in each other", "")
		return n
	}
	switch v.Kind {
	case unstable.InlineTable:
		n.kind = kindTable
		for it := v.Children(); it.Next(); {
			p.keyValue(n, it.Node(), path, depth+1)
		}
		n.inline = true
	case unstable.Array:
		n.kind = kindArray
		for it := v.Children(); it.Next(); {
			item := p.value(it.Node(), at, path, depth+1)
			item.at = item.value
			n.items = append(n.items, entry{"", item})
		}
	default:
		if !n.scalar(v.Kind, string(v.Data)) {
			p.report.add(n.value, path, "this number is too large", "")
			n.kind = ""
		}
	}
	return n
}

// scalar sets a single value, and reports whether it fits.
func (n *node) scalar(k unstable.Kind, text string) (ok bool) {
	n.text = text
	var err error
	switch k {
	case unstable.String:
		n.kind = kindString
	case unstable.Bool:
		n.kind, n.bool = kindBool, text == "true"
	case unstable.Integer:
		n.kind = kindInt
		n.int, err = strconv.ParseInt(strings.ReplaceAll(text, "_", ""), base(text), 64)
	case unstable.Float:
		n.kind = kindFloat
		n.float, err = strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	default:
		n.kind = kindTime
	}
	return err == nil && !math.IsInf(n.float, 0) && !math.IsNaN(n.float)
}

// base returns 0, so that a prefix like 0x decides, unless the number has
// none: +7 is decimal.
func base(text string) int {
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0o") || strings.HasPrefix(text, "0b") {
		return 0
	}
	return 10
}
