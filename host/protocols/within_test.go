package protocols

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// node is a JSON value with the order of its fields.
type node struct {
	fields []field // of an object
	items  []node  // of an array
	value  any     // anything else
	object bool
	array  bool
}

type field struct {
	name string
	node node
}

// parse reads JSON.
func parse(text string) (node, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return parseValue(d)
}

func parseValue(d *json.Decoder) (n node, err error) {
	tok, err := d.Token()
	if err != nil {
		return n, err
	}
	switch tok {
	case json.Delim('{'):
		n.object = true
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return n, err
			}
			v, err := parseValue(d)
			if err != nil {
				return n, err
			}
			n.fields = append(n.fields, field{fmt.Sprint(name), v})
		}
		_, err = d.Token()
	case json.Delim('['):
		n.array = true
		for d.More() {
			v, err := parseValue(d)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, v)
		}
		_, err = d.Token()
	default:
		n.value = tok
	}
	return n, err
}

// get returns the field, or the zero node.
func (n node) get(path ...string) node {
	for _, name := range path {
		var next node
		for _, f := range n.fields {
			if f.name == name {
				next = f.node
			}
		}
		n = next
	}
	return n
}

// str is the value of a field that is a string, else "".
func (n node) str(path ...string) string {
	s, _ := n.get(path...).value.(string)
	return s
}

// has reports whether there is such a field.
func (n node) has(name string) bool {
	for _, f := range n.fields {
		if f.name == name {
			return true
		}
	}
	return false
}

// covers reports whether n has all that want has: the fields of an object, or
// the very value. A field whose name begins with ! must not be there.
func (n node) covers(want node) bool {
	if !want.object {
		return reflect.DeepEqual(n, want)
	}
	if !n.object {
		return false
	}
	for _, f := range want.fields {
		if name, ok := strings.CutPrefix(f.name, "!"); ok {
			if n.has(name) {
				return false
			}
			continue
		}
		if !n.has(f.name) || !n.get(f.name).covers(f.node) {
			return false
		}
	}
	return true
}

// walk visits n and all that is in it, in the order of the document.
func (n node) walk(visit func(node)) {
	visit(n)
	for _, f := range n.fields {
		f.node.walk(visit)
	}
	for _, v := range n.items {
		v.walk(visit)
	}
}

// wantWithin checks that the objects are in the document, in this order.
func wantWithin(t *testing.T, document string, objects []string) {
	t.Helper()
	n, err := parse(document)
	if err != nil {
		t.Fatalf("the request is no JSON: %v: %s", err, document)
	}
	next := 0
	n.walk(func(v node) {
		if next == len(objects) {
			return
		}
		want, err := parse(objects[next])
		if err != nil {
			t.Fatalf("%s: %v", objects[next], err)
		}
		if v.covers(want) {
			next++
		}
	})
	if next < len(objects) {
		t.Errorf("the request lacks, after %d others, %s\n%s", next, objects[next], indented(document))
	}
}

func indented(document string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(document), "", " ") != nil {
		return document
	}
	return b.String()
}
