// Package secret holds credentials: it parses references to them, resolves
// them, keeps them from being printed, and removes them by value from whatever
// is about to be written down.
//
// A secret is never written in the config, only where to find it (Ref). What
// is found is a Value, which shows itself as "[redacted]" however it is
// formatted; host/egress alone looks inside, when it puts it into a request.
package secret

import (
	"crypto/subtle"
	"fmt"
	"log/slog"
)

// Mask stands in the place of a secret.
const Mask = "[redacted]"

// Value is a secret. It can be passed around, put into structs, and logged:
// what appears is Mask. The zero Value is empty.
type Value struct {
	// A pointer, because package fmt looks through the unexported fields of
	// other structs without asking their String methods. It prints a pointer's
	// address.
	text *string
}

// New returns text as a secret.
func New(text string) Value { return Value{text: &text} }

// Reveal returns the secret itself. Only host/egress and this package's own
// Redactor call it.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// Empty tells whether there is nothing in it.
func (v Value) Empty() bool { return v.text == nil || *v.text == "" }

// Short tells whether the secret is too short to be removed by value: a
// Redactor leaves it alone. The config check warns of it.
func (v Value) Short() bool { return !v.Empty() && len(*v.text) < MinRedacted }

// Equal compares two secrets in constant time.
func (v Value) Equal(o Value) bool {
	return subtle.ConstantTimeCompare([]byte(v.Reveal()), []byte(o.Reveal())) == 1
}

// String returns Mask.
func (Value) String() string { return Mask }

// GoString returns Mask.
func (Value) GoString() string { return Mask }

// Format writes Mask, whatever the verb.
func (Value) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(Mask)) }

// MarshalText returns Mask.
func (Value) MarshalText() ([]byte, error) { return []byte(Mask), nil }

// MarshalJSON returns Mask as a JSON string.
func (Value) MarshalJSON() ([]byte, error) { return []byte(`"` + Mask + `"`), nil }

// LogValue returns Mask.
func (Value) LogValue() slog.Value { return slog.StringValue(Mask) }
