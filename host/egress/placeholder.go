package egress

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/zchost/zchost/host/secret"
)

const (
	placeholderStart = "{{secret:"
	placeholderEnd   = "}}"
)

// HasPlaceholder tells whether text holds what looks like a placeholder.
func HasPlaceholder(text []byte) bool {
	return bytes.Contains(text, []byte(placeholderStart))
}

// granted are the secrets that a request may name.
type granted map[string]secret.Value

// fill returns text with the secrets in the place of their placeholders.
func (g granted) fill(text string) (string, *Error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, placeholderStart)
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, after, found := strings.Cut(rest, placeholderEnd)
		if !found {
			return "", refused("a secret's placeholder lacks its }}")
		}
		value, ok := g[name]
		if !ok {
			return "", refused("it names the secret %.40q, which it was not granted", name)
		}
		if value.Empty() {
			return "", refused("the secret %.40q is empty", name)
		}
		b.WriteString(value.Reveal())
		text = after
	}
}

// fillPath fills the segments of an escaped path. A secret stays within its
// segment, whatever it holds.
func (g granted) fillPath(path string) (string, *Error) {
	return g.fillEach(path, "/", url.PathUnescape, url.PathEscape)
}

// fillQuery fills the values of a raw query.
func (g granted) fillQuery(query string) (string, *Error) {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(key); err != nil || strings.Contains(name, placeholderStart) {
			return "", refused("a secret's placeholder, or a wrong escape, is in the name of a query parameter")
		}
		if !found {
			continue
		}
		value, err := g.fillEach(value, "", url.QueryUnescape, url.QueryEscape)
		if err != nil {
			return "", err
		}
		pairs[i] = key + "=" + value
	}
	return strings.Join(pairs, "&"), nil
}

// fillEach fills the parts of text between separators. A part without a
// placeholder stays byte for byte as it is.
func (g granted) fillEach(text, sep string, unescape func(string) (string, error), escape func(string) string) (string, *Error) {
	parts := []string{text}
	if sep != "" {
		parts = strings.Split(text, sep)
	}
	for i, part := range parts {
		plain, err := unescape(part)
		if err != nil {
			return "", refused("its URL has a wrong escape")
		}
		if !strings.Contains(plain, placeholderStart) {
			continue
		}
		filled, refusal := g.fill(plain)
		if refusal != nil {
			return "", refusal
		}
		parts[i] = escape(filled)
	}
	return strings.Join(parts, sep), nil
}
