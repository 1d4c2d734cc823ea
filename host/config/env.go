package config

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// prefix starts the names of all variables that set a key. Two underscores
// stand between the parts: ZCHOST_AGENTS__MAIN__MODEL is agents.main.model.
// A variable that is empty sets nothing.
const prefix = "ZCHOST_"

// environment puts the variables into the tree, over what the file says.
type environment struct {
	root   *node
	report *report
}

func (e *environment) apply(env []string) {
	tables := fieldsOf(reflect.TypeFor[Config]())
	for _, v := range slices.Sorted(slices.Values(env)) {
		name, value, _ := strings.Cut(v, "=")
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || value == "" {
			continue
		}
		parts := strings.Split(rest, "__")
		if len(parts) == 1 {
			e.single(name, rest, tables)
			continue
		}
		e.set(name, value, parts)
	}
}

// single reports a variable that means a key but has single underscores.
// Others, as ZCHOST_HOME, are not the config's.
func (e *environment) single(name, rest string, tables []field) {
	for _, f := range tables {
		if strings.HasPrefix(rest, strings.ToUpper(f.key)+"_") {
			e.report.add(Origin{Env: name}, "", "this sets no key",
				"write two underscores between the parts, as "+prefix+strings.ToUpper(f.key)+"__…")
		}
	}
}

// set walks along the structs and the tree, and puts the value at the end.
func (e *environment) set(name, value string, parts []string) {
	at := Origin{Env: name}
	n, f, path := e.root, field{typ: reflect.TypeFor[Config]()}, ""
	for i, part := range parts {
		key, next, ok := e.step(n, f, part, path, at)
		if !ok {
			return
		}
		path, f = join(path, key), next
		if i == len(parts)-1 {
			n.set(key, e.value(value, f, path, at))
			return
		}
		if f.isLeaf() {
			e.report.add(at, path, "this key is no table", "end the variable's name here")
			return
		}
		child := n.get(key)
		if child == nil || child.kind != kindTable {
			child = &node{kind: kindTable, at: at, value: at}
			n.set(key, child)
		}
		n = child
	}
}

// step finds the key that a part of a variable's name means, in the table of a
// field.
func (e *environment) step(n *node, table field, part, path string, at Origin) (string, field, bool) {
	if table.typ.Kind() == reflect.Struct {
		fields := fieldsOf(table.typ)
		key := strings.ToLower(part)
		f, ok := findField(fields, key)
		if !ok {
			hint := suggest(key, keysOf(fields))
			if path == "" && isLater(key) {
				hint = "this version of zchost has no " + key + " yet"
			}
			e.report.add(at, join(path, key), "there is no such key", hint)
		}
		return key, f, ok
	}
	f := field{typ: table.typ}
	if f.typ.Kind() == reflect.Map {
		f.typ = f.typ.Elem()
	}
	var names []string
	for _, item := range n.items {
		if sameName(item.key, part) {
			names = append(names, item.key)
		}
	}
	switch len(names) {
	case 0:
		return table.names.fromVariable(part), f, true
	case 1:
		return names[0], f, true
	}
	e.report.add(at, path, "this means more than one: "+strings.Join(names, ", "), "set it in the file")
	return "", f, false
}

// sameName compares a name with a part of a variable's name, which has no
// other signs than the underscore.
func sameName(name, part string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return '_'
	}, name)
	return plain == strings.ToLower(part)
}

// value is the value of a variable: as it is where the key takes text, else
// in TOML. A list of texts with one entry needs no brackets.
func (e *environment) value(value string, f field, path string, at Origin) *node {
	text := &node{kind: kindString, text: value, at: at, value: at}
	open := f.typ == reflect.TypeFor[json.RawMessage]()
	switch {
	case f.typ.Kind() == reflect.String || f.isDuration():
		return text
	case f.typ.Kind() == reflect.Slice && !open && !strings.HasPrefix(strings.TrimSpace(value), "["):
		return &node{kind: kindArray, at: at, value: at, items: []entry{{"", text}}}
	}
	var quiet report
	root, _ := parse("", []byte("v = "+value), &quiet)
	if v := root.get("v"); v != nil && len(quiet.list) == 0 && len(root.items) == 1 {
		v.from(at)
		return v
	}
	if !open {
		e.report.add(at, path, "the value is not TOML", "write it as it would stand in the file")
		return &node{}
	}
	return text
}

// from sets the origin of a tree.
func (n *node) from(at Origin) {
	n.at, n.value = at, at
	for _, e := range n.items {
		e.from(at)
	}
}

// isLeaf reports whether a key holds a value rather than a table.
func (f *field) isLeaf() bool {
	if f.typ == reflect.TypeFor[json.RawMessage]() {
		return false
	}
	return f.typ.Kind() != reflect.Struct && f.typ.Kind() != reflect.Map
}

// envName is the variable that sets a key.
func envName(path string) string {
	if i := strings.IndexByte(path, '['); i >= 0 {
		path = path[:i]
	}
	quoted := false
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			quoted = !quoted
			return -1
		case r == '.' && !quoted || unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		}
		return '_'
	}, path)
	return prefix + strings.ToUpper(strings.ReplaceAll(plain, ".", "__"))
}
