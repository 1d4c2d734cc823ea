package config

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
)

// appendJSON writes a tree as JSON. Keys are sorted, so that the order in the
// file changes nothing; dates and times become text.
func appendJSON(dst []byte, n *node) []byte {
	switch n.kind {
	case kindTable:
		items := slices.Clone(n.items)
		slices.SortFunc(items, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
		return appendItems(dst, items, true)
	case kindArray:
		return appendItems(dst, n.items, false)
	case kindInt:
		return strconv.AppendInt(dst, n.int, 10)
	case kindBool:
		return strconv.AppendBool(dst, n.bool)
	case kindFloat:
		if n.exact != "" {
			return append(dst, n.exact...)
		}
		return appendValue(dst, n.float)
	case kindString, kindTime:
		return appendValue(dst, n.text)
	}
	return append(dst, "null"...)
}

func appendItems(dst []byte, items []entry, object bool) []byte {
	open, end := byte('['), byte(']')
	if object {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	for i, e := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if object {
			dst = append(appendValue(dst, e.key), ':')
		}
		dst = appendJSON(dst, e.node)
	}
	return append(dst, end)
}

// appendValue writes a text or a finite number, which always have a JSON form.
func appendValue[T string | float64](dst []byte, v T) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}
