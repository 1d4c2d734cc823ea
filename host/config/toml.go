package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// appendTOML writes a value as TOML on one line.
func appendTOML(dst []byte, n *node) []byte {
	switch n.kind {
	case kindString:
		return append(dst, quote(n.text)...)
	case kindInt:
		return strconv.AppendInt(dst, n.int, 10)
	case kindBool:
		return strconv.AppendBool(dst, n.bool)
	case kindFloat:
		if n.exact != "" {
			return append(dst, n.exact...)
		}
		s := strconv.FormatFloat(n.float, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return append(dst, s...)
	case kindArray:
		return append(appendTOMLItems(append(dst, '['), n), ']')
	case kindTable:
		return append(appendTOMLItems(append(dst, "{ "...), n), " }"...)
	case kindTime:
		return append(dst, n.text...)
	}
	return append(dst, `""`...)
}

func appendTOMLItems(dst []byte, n *node) []byte {
	for i, e := range n.items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if n.kind == kindTable {
			dst = append(append(dst, quoteKey(e.key)...), " = "...)
		}
		dst = appendTOML(dst, e.node)
	}
	return dst
}

// sortedKeys returns the keys of a map from text.
func sortedKeys(m reflect.Value) []string {
	keys := make([]string, 0, m.Len())
	for _, k := range m.MapKeys() {
		keys = append(keys, k.String())
	}
	slices.Sort(keys)
	return keys
}
