// Package compose writes what the request of a provider is made of: the members of
// its JSON body, texts that leave the place of the messages alone, and a query; and
// it reads the options that go into them.
package compose

import (
	"errors"
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// MessagesPlace is where the host puts the fragments. It stands in the body once,
// as an element of an array.
const MessagesPlace = `"{{messages}}"`

// AppendText appends s as a JSON string that does not hold MessagesPlace, whatever
// s is. Only the end of a text can, because that alone has a bare quote behind it.
func AppendText(dst []byte, s string) []byte {
	before, ok := strings.CutSuffix(s, MessagesPlace[1:len(MessagesPlace)-1])
	if !ok {
		return jsonscan.AppendString(dst, s)
	}
	dst = jsonscan.AppendString(dst, before)
	return append(dst[:len(dst)-1], `\u007b{messages}}"`...)
}

// CheckSchemas refuses a schema that holds MessagesPlace: it would be ambiguous. The
// error names the tool.
func CheckSchemas(tools []abi.Tool) error {
	for _, t := range tools {
		if strings.Contains(string(t.InputSchema), MessagesPlace) {
			return errors.New("schema of tool " + t.Name + " must not hold " + MessagesPlace)
		}
	}
	return nil
}

// Query writes the pairs as "?name=value&name=value", and nothing if there are none.
// Braces and colons stay, so that a value may be a secret's placeholder.
func Query(pairs []abi.Header) string {
	const stays = "-_.~{}:"
	var b []byte
	for i, p := range pairs {
		b = append(b, "?&"[min(i, 1)])
		b = AppendEscaped(b, p.Name, stays)
		b = append(b, '=')
		b = AppendEscaped(b, p.Value, stays)
	}
	return string(b)
}

// AppendEscaped appends text with percent-encoding, except for letters and digits of
// ASCII and the bytes in except.
func AppendEscaped(dst []byte, text, except string) []byte {
	const digits = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
		if letter || strings.IndexByte(except, c) >= 0 {
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '%', digits[c>>4], digits[c&15])
	}
	return dst
}
