package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// forms returns the ways in which a secret may be written, without doubles.
// Each is at least MinRedacted bytes long if the secret is. A usual key, all
// letters, digits, '-' and '_', is the same in all but base64.
func forms(secret string) []string {
	list := []string{
		secret,
		url.QueryEscape(secret),
		url.PathEscape(secret),
		escapeComponent(secret),
		html.EscapeString(secret),
	}
	for _, form := range slices.Clone(list[1:4]) {
		list = append(list, lowerHex(form))
	}
	list = append(list, jsonForms(secret)...)
	list = append(list, base64Forms(secret)...)
	slices.Sort(list)
	return slices.Compact(list)
}

// escapeComponent escapes as JavaScript's encodeURIComponent does, and does
// not leave a space as '+'.
func escapeComponent(s string) string {
	s = strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
	return strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(s)
}

// lowerHex turns %2F into %2f.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// jsonForms returns what stands between the quotes of a JSON string: as
// written by Go, by others, by those that escape all but ASCII, by those that
// escape the slash; and of each what it becomes when it is written into a
// string once more.
func jsonForms(s string) []string {
	once := []string{inString(s, true), inString(s, false), asciiOnly(inString(s, false), "%04x"), asciiOnly(inString(s, false), "%04X")}
	for _, form := range slices.Clone(once) {
		once = append(once, strings.ReplaceAll(form, "/", `\/`))
	}
	forms := once
	for _, form := range once {
		forms = append(forms, inString(form, false))
	}
	return forms
}

func inString(s string, escapeHTML bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return s
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

func asciiOnly(s, hex string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < utf8.RuneSelf:
			b.WriteRune(c)
		case c > 0xFFFF:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u`+hex+`\u`+hex, high, low)
		default:
			fmt.Fprintf(&b, `\u`+hex, c)
		}
	}
	return b.String()
}

// base64Forms returns the secret in base64 by itself, and the characters that
// stand for it alone when it is somewhere within a longer text, such as the
// user:secret of basic authentication: three ways, for it begins at any of the
// three bytes of a group.
func base64Forms(s string) []string {
	var forms []string
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, enc.EncodeToString([]byte(s)))
		raw := enc.WithPadding(base64.NoPadding)
		for before := range 3 {
			code := raw.EncodeToString(append(make([]byte, before), s...))
			// Characters that hold bits of what stands before or after are
			// not the secret's alone.
			first := (before*8 + 5) / 6
			last := (before + len(s)) * 8 / 6
			forms = append(forms, code[first:last])
		}
	}
	return forms
}
