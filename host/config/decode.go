package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// maxItems bounds every list and every table of names.
const (
	maxItems = 32
	maxNames = 256
)

// decoder puts a tree into the config structs, strictly: a key that no struct
// has and a value of another type are problems.
type decoder struct {
	report  *report
	origins map[string]Origin
	// names are the references from one table to another, checked when all
	// tables are there.
	names []reference
}

// reference is a name that must be in another table.
type reference struct {
	path, table, name string
	at                Origin
}

// table decodes a table into a struct.
func (d *decoder) table(n *node, v reflect.Value, path string) {
	if !d.expect(n, path, kindTable, "write ["+path+"]") {
		return
	}
	fields := fieldsOf(v.Type())
	for _, e := range n.items {
		key := join(path, e.key)
		f, ok := findField(fields, e.key)
		if !ok {
			d.unknown(e, path, fields)
			continue
		}
		d.origins[key] = e.value
		d.field(e.node, v.FieldByIndex(f.index), f, key)
	}
}

func (d *decoder) unknown(e entry, path string, fields []field) {
	hint := suggest(e.key, keysOf(fields))
	if path == "" && isLater(e.key) {
		hint = "this version of zchost has no " + e.key + " yet"
	}
	d.report.add(e.at, join(path, e.key), "there is no such key", hint)
}

// field decodes one value.
func (d *decoder) field(n *node, v reflect.Value, f field, path string) {
	if v.Kind() == reflect.Pointer {
		p := reflect.New(f.typ)
		d.field(n, p.Elem(), f, path)
		v.Set(p)
		return
	}
	switch {
	case f.isDuration():
		d.duration(n, v, f, path)
	case f.isAmount():
		d.amount(n, v, path)
	case f.typ == reflect.TypeFor[json.RawMessage]():
		if d.expect(n, path, kindTable, "write "+f.key+" = { … }") {
			v.SetBytes(appendJSON(nil, n))
			d.open(n, path)
		}
	case f.typ.Kind() == reflect.Struct:
		d.table(n, v, path)
	case f.typ.Kind() == reflect.Map:
		d.named(n, v, f, path)
	case f.typ.Kind() == reflect.Slice:
		d.list(n, v, f, path)
	case f.typ.Kind() == reflect.String:
		d.text(n, v, f, path)
	default:
		d.number(n, v, f, path)
	}
}

// open notes where the values of an open table come from, and refuses secrets
// in it: the plugin gets the table as it is.
func (d *decoder) open(n *node, path string) {
	for _, e := range n.items {
		key := path
		if n.kind == kindTable {
			key = join(path, e.key)
			d.origins[key] = e.value
		}
		if e.kind == kindString && isSecret(e.key, e.text) {
			d.report.add(e.value, key, "a secret is written here, where the plugin would see it",
				"write a reference to it into "+secretsOf(path)+", as env:NAME, and change the secret")
		}
		d.open(e.node, key)
	}
}

// named decodes a table whose keys are the operator's own names, and whose
// values are tables or texts.
func (d *decoder) named(n *node, v reflect.Value, f field, path string) {
	texts := v.Type().Elem().Kind() == reflect.String
	hint := "write [" + path + ".NAME]"
	if texts {
		hint = "write " + f.key + " = { NAME = \"…\" }"
	}
	if !d.expect(n, path, kindTable, hint) {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for i, e := range n.items {
		key := join(path, e.key)
		if i == maxNames {
			d.report.add(e.at, path, fmt.Sprintf("more than %d names", maxNames), "")
			return
		}
		d.origins[key] = e.at
		if hint := f.names.wrong(e.key); hint != "" {
			d.report.add(e.at, key, "this is no name", hint)
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		if texts {
			d.origins[key] = e.value
			d.entry(e, item, f, key)
		} else {
			d.table(e.node, item, key)
		}
		v.SetMapIndex(reflect.ValueOf(e.key), item)
	}
}

// entry decodes one text of a table of texts.
func (d *decoder) entry(e entry, v reflect.Value, f field, path string) {
	d.text(e.node, v, f, path)
	if f.value && e.kind == kindString && !isVariable(e.text) {
		d.envValue(e.node, e.key, path)
	}
}

func (d *decoder) list(n *node, v reflect.Value, f field, path string) {
	if !d.expect(n, path, kindArray, "write "+f.key+" = [\"…\"]") {
		return
	}
	if len(n.items) > maxItems {
		d.report.add(n.value, path, fmt.Sprintf("more than %d entries", maxItems), "")
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, e := range n.items {
		key := path + "[" + strconv.Itoa(i) + "]"
		d.origins[key] = e.at
		d.text(e.node, list.Index(i), f, key)
	}
	v.Set(list)
}

func (d *decoder) text(n *node, v reflect.Value, f field, path string) {
	if !d.expect(n, path, kindString, "") {
		return
	}
	v.SetString(n.text)
	switch {
	case isVariable(n.text):
		hint := "set " + envName(path) + " to take the value from the environment"
		if f.secret || f.value {
			hint = "write env:NAME for the variable NAME"
		}
		d.report.add(n.value, path, "variables are not put into values", hint)
	case f.secret:
		d.secret(n, path)
	case f.value:
		// entry looks at it, which knows its name
	case len(f.enum) > 0:
		d.enum(n, f, path)
	case hasControl(n.text):
		d.report.add(n.value, path, "there are control characters in it", "take them out")
	case n.text == "" && f.min > 0:
		d.report.add(n.value, path, "it is empty", "fill it in, or take the key out")
	case float64(len(n.text)) < f.min:
		d.report.add(n.value, path, fmt.Sprintf("it is shorter than %.0f bytes", f.min), "")
	case float64(len(n.text)) > f.max:
		d.report.add(n.value, path, fmt.Sprintf("it is longer than %.0f bytes", f.max), "")
	case f.hosts != "":
		d.host(n, f, path)
	case f.names != "" && f.names.wrong(n.text) != "":
		d.report.add(n.value, path, quote(cut(n.text))+" is no name", f.names.wrong(n.text))
	case f.ref != "":
		d.names = append(d.names, reference{path, f.ref, n.text, n.value})
	}
}

// isVariable reports whether a text is nothing but ${NAME} or $NAME.
func isVariable(s string) bool {
	name, ok := strings.CutPrefix(strings.TrimSpace(s), "$")
	if inner, braces := strings.CutPrefix(name, "{"); braces {
		name = strings.TrimSuffix(inner, "}")
	}
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

func hasControl(s string) bool {
	for _, r := range s {
		if r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			return true
		}
	}
	return false
}

func (d *decoder) enum(n *node, f field, path string) {
	for _, e := range f.enum {
		if e == n.text {
			return
		}
	}
	d.report.add(n.value, path, quote(cut(n.text))+" is none of its values", suggest(n.text, f.enum))
}

func (d *decoder) duration(n *node, v reflect.Value, f field, path string) {
	const hint = `write it with its unit, as "5s" or "2m30s"`
	t, err := time.ParseDuration(n.text)
	switch {
	case n.kind == "":
		return // reported while parsing
	case n.kind != kindString:
		d.report.add(n.value, path, fmt.Sprintf("this is %s, not a duration", n.kind), hint)
	case err != nil:
		d.report.add(n.value, path, quote(cut(n.text))+" is not a duration", hint)
	default:
		d.inRange(n, f, path, float64(t))
		v.SetInt(int64(t))
	}
}

func (d *decoder) number(n *node, v reflect.Value, f field, path string) {
	switch f.typ.Kind() {
	case reflect.Bool:
		if d.expect(n, path, kindBool, "write true or false") {
			v.SetBool(n.bool)
		}
	case reflect.Float64:
		number := n.float
		if n.kind == kindInt {
			number = float64(n.int)
		} else if !d.expect(n, path, kindFloat, "") {
			return
		}
		d.inRange(n, f, path, number)
		v.SetFloat(number)
	default:
		if d.expect(n, path, kindInt, "") {
			d.inRange(n, f, path, float64(n.int))
			v.SetInt(n.int)
		}
	}
}

func (d *decoder) inRange(n *node, f field, path string, value float64) {
	if value < f.min || value > f.max {
		d.report.add(n.value, path, cut(n.text)+" is out of range", "it goes from "+strings.Replace(f.limits, "..", " to ", 1))
	}
}

// expect reports a value of another kind than wanted. The value itself is not
// in the message: it may be a secret in the wrong place.
func (d *decoder) expect(n *node, path string, want kind, hint string) bool {
	if n.kind == want {
		return true
	}
	if n.kind == "" {
		return false // reported while parsing
	}
	if hint == "" {
		switch {
		case want == kindString:
			hint = "put it in quotes"
		case n.kind == kindString:
			hint = "take the quotes away"
		}
	}
	d.report.add(n.value, path, fmt.Sprintf("this is %s, not %s", n.kind, want), hint)
	return false
}

// cut bounds a value that goes into a message.
func cut(s string) string {
	r := []rune(s)
	if len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
