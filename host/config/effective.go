package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/zchost/zchost/host/cost"
)

// Show returns the effective config as TOML, with the origin of each value
// beside it. Read again, it gives the same config. It holds no secret: only
// references.
func (c Config) Show() string {
	var b strings.Builder
	if c.file == "" {
		b.WriteString("# no config file; environment and defaults\n")
	} else {
		b.WriteString("# " + c.file + ", environment and defaults\n")
	}
	c.showTable(&b, c.tree(), "")
	return b.String()
}

// JSON returns the effective config as {"file", "config", "origins"}; origins
// gives each key's origin, as "config.toml:2:1", "env NAME" or "default".
func (c Config) JSON() []byte {
	tree := c.tree()
	dst := append(appendValue([]byte(`{"file":`), c.file), `,"config":`...)
	dst = append(appendJSON(dst, tree), `,"origins":`...)
	origins := &node{kind: kindTable}
	flatten(origins, tree, "")
	return append(appendJSON(dst, origins), '}')
}

// flatten adds the origin of each value in a tree.
func flatten(to, n *node, path string) {
	for _, e := range n.items {
		key := join(path, e.key)
		if e.kind == kindTable && len(e.items) > 0 {
			flatten(to, e.node, key)
			continue
		}
		to.set(key, &node{kind: kindString, text: e.value.String()})
	}
}

// showTable writes the values of a table, then the tables in it.
func (c Config) showTable(b *strings.Builder, n *node, path string) {
	type line struct{ text, origin string }
	var lines []line
	width := 0
	for _, e := range n.items {
		if e.kind == kindTable && !e.inline {
			continue
		}
		l := line{quoteKey(e.key) + " = " + string(appendTOML(nil, e.node)), c.place(e.value)}
		lines = append(lines, l)
		if len(l.text) <= maxAligned {
			width = max(width, len(l.text))
		}
	}
	if len(lines) > 0 || path != "" && len(n.items) == 0 {
		fmt.Fprintf(b, "\n[%s]\n", path)
	}
	for _, l := range lines {
		fmt.Fprintf(b, "%-*s  # %s\n", width, l.text, l.origin)
	}
	for _, e := range n.items {
		if e.kind == kindTable && !e.inline {
			c.showTable(b, e.node, join(path, e.key))
		}
	}
}

// maxAligned is the longest line whose origin stands in the column.
const maxAligned = 72

// place is an origin in few words: the file is named at the top.
func (c Config) place(o Origin) string {
	if o.Env == "" && o.Line > 0 {
		return "line " + strconv.Itoa(o.Line)
	}
	return o.String()
}

// tree returns what is in force as a tree, with the defaults written out of
// what applies: those of an agent's tools if it has some, and none of
// [providers.NAME] and [models.NAME], which have them from [reliability]. What
// is left to the provider or the plugin is not in it.
func (c Config) tree() *node {
	root := &node{kind: kindTable}
	c.structure(root, reflect.ValueOf(c), "")
	return root
}

func (c Config) structure(to *node, v reflect.Value, path string) {
	defaults := writesDefaults(v)
	for _, f := range fieldsOf(v.Type()) {
		value, key := v.FieldByIndex(f.index), join(path, f.key)
		if f.key == "system" && v.FieldByName("SystemFile").String() != "" {
			continue // it was read from the file
		}
		switch {
		case !value.IsZero():
			to.set(f.key, c.value(value, f, key))
		case f.typ.Kind() == reflect.Struct:
			child := &node{kind: kindTable}
			c.structure(child, value, key)
			to.set(f.key, child)
		case defaults && f.def != "" && f.def != "0":
			to.set(f.key, defaultOf(f))
		}
	}
}

// writesDefaults reports whether the defaults of a table belong into what is in
// force.
func writesDefaults(v reflect.Value) bool {
	switch t := v.Interface().(type) {
	case Agent:
		return len(t.Tools) > 0
	case Allow, MCP, Shell, Fetch, Cost, Reliability, Log:
		return true
	}
	return false
}

// value returns a value that is set.
func (c Config) value(v reflect.Value, f field, path string) *node {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	n := &node{value: c.origins[path]}
	n.at = n.value
	switch raw, isJSON := v.Interface().(json.RawMessage); {
	case isJSON:
		if m := treeOfJSON(raw); m != nil {
			c.locate(m, path, n.value)
			return m
		}
	case f.isDuration():
		n.kind, n.text = kindString, shortDuration(time.Duration(v.Int()))
	case f.isAmount():
		n.kind, n.exact = kindFloat, cost.Amount(v.Int()).String()
	case v.Kind() == reflect.Struct:
		n.kind = kindTable
		c.structure(n, v, path)
	case v.Kind() == reflect.Map:
		n.kind = kindTable
		for _, k := range sortedKeys(v) {
			n.set(k, c.value(v.MapIndex(reflect.ValueOf(k)), field{typ: f.typ.Elem()}, join(path, k)))
		}
	case v.Kind() == reflect.Slice:
		n.kind = kindArray
		for i := range v.Len() {
			n.items = append(n.items, entry{"", &node{kind: kindString, text: v.Index(i).String()}})
		}
	case v.Kind() == reflect.String:
		n.kind, n.text = kindString, v.String()
	case v.Kind() == reflect.Float64:
		n.kind, n.float = kindFloat, v.Float()
	case v.Kind() == reflect.Bool:
		n.kind, n.bool = kindBool, v.Bool()
	default:
		n.kind, n.int = kindInt, v.Int()
	}
	return n
}

// locate gives each value of an open table its origin.
func (c Config) locate(n *node, path string, around Origin) {
	n.value = around
	if o, ok := c.origins[path]; ok {
		n.value = o
	}
	for _, e := range n.items {
		if n.kind == kindTable {
			c.locate(e.node, join(path, e.key), n.value)
		}
	}
}

// defaultOf returns the value of a default tag.
func defaultOf(f field) *node {
	if f.typ.Kind() == reflect.Bool {
		return &node{kind: kindBool, bool: f.def == "true"}
	}
	if f.typ.Kind() == reflect.Slice {
		n := &node{kind: kindArray}
		for item := range strings.SplitSeq(f.def, "|") {
			n.items = append(n.items, entry{"", &node{kind: kindString, text: item}})
		}
		return n
	}
	if i, err := strconv.ParseInt(f.def, 10, 64); err == nil {
		return &node{kind: kindInt, int: i}
	}
	return &node{kind: kindString, text: f.def}
}

// shortDuration writes a duration without parts that are zero: 1m, not 1m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// treeOfJSON reads the JSON of an options table; nil if it is none.
func treeOfJSON(raw []byte) *node {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	n, err := readJSON(d, 0)
	if err != nil || n.kind != kindTable {
		return nil
	}
	n.inline = false
	return n
}

func readJSON(d *json.Decoder, depth int) (*node, error) {
	t, err := d.Token()
	if err != nil || depth > 2*maxNesting {
		return nil, fmt.Errorf("read options: %w", err)
	}
	switch v := t.(type) {
	case string:
		return &node{kind: kindString, text: v}, nil
	case bool:
		return &node{kind: kindBool, bool: v}, nil
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return &node{kind: kindInt, int: i}, nil
		}
		f, err := v.Float64()
		return &node{kind: kindFloat, float: f}, err
	case json.Delim:
		return readItems(d, v, depth)
	}
	return &node{}, nil
}

func readItems(d *json.Decoder, open json.Delim, depth int) (*node, error) {
	n := &node{kind: kindArray}
	if open == '{' {
		n.kind, n.inline = kindTable, true
	}
	for d.More() {
		key := ""
		if open == '{' {
			k, err := readJSON(d, depth+1)
			if err != nil {
				return nil, err
			}
			key = k.text
		}
		item, err := readJSON(d, depth+1)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, entry{key, item})
	}
	_, err := d.Token()
	return n, err
}
