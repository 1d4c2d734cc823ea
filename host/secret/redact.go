package secret

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// MinRedacted is the length in bytes from which a secret is removed by value.
// A shorter one would be found in innocent text.
const MinRedacted = 8

// Redactor removes secrets by value, in the forms in which they turn up in
// answers and errors: as they are, URL-escaped, JSON-escaped, HTML-escaped and
// within base64. It may be used by several goroutines at once; a nil *Redactor
// removes nothing.
//
// A text without secrets takes about half a nanosecond a byte, however many
// secrets there are: see mayHold.
type Redactor struct {
	mu      sync.Mutex // held by Add
	known   map[string]bool
	current atomic.Pointer[needles]
}

// NewRedactor returns a Redactor that knows no secret yet.
func NewRedactor() *Redactor { return &Redactor{known: map[string]bool{}} }

// Add makes secrets known. They stay known: a key that was replaced can still
// turn up in a log. Those shorter than MinRedacted are left out.
func (r *Redactor) Add(values ...Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	grown := false
	for _, v := range values {
		if text := v.Reveal(); len(text) >= MinRedacted && !r.known[text] {
			r.known[text] = true
			grown = true
		}
	}
	if grown {
		r.current.Store(newNeedles(r.known))
	}
}

// Bytes returns b with Mask in place of every secret: b itself if there is
// none, else a new slice.
func (r *Redactor) Bytes(b []byte) []byte {
	n := r.needles()
	if n == nil || !mayHold(n, b) {
		return b
	}
	return n.mask(b)
}

// String returns s with Mask in place of every secret.
func (r *Redactor) String(s string) string {
	n := r.needles()
	if n == nil || !mayHold(n, s) {
		return s
	}
	return string(n.mask([]byte(s)))
}

// Cut is Bytes for text that ends where it was cut off: at its end, the first
// MinRedacted or more bytes of a secret are removed too.
func (r *Redactor) Cut(b []byte) []byte {
	n := r.needles()
	if n == nil {
		return b
	}
	b = r.Bytes(b)
	for size := min(len(b), n.longest-1); size >= MinRedacted; size-- {
		tail := b[len(b)-size:]
		for _, needle := range n.list {
			if len(needle) > size && bytes.HasPrefix(needle, tail) {
				return append(bytes.Clone(b[:len(b)-size]), Mask...)
			}
		}
	}
	return b
}

// Longest returns the length in bytes of the longest form of any secret, so
// that a text can be cut without cutting one in two; 0 if none is known.
func (r *Redactor) Longest() int {
	if n := r.needles(); n != nil {
		return n.longest
	}
	return 0
}

func (r *Redactor) needles() *needles {
	if r == nil {
		return nil
	}
	return r.current.Load()
}

// needles are all forms of all secrets; never changed once made.
type needles struct {
	list    [][]byte
	longest int
	grams   [1 << 16 / 64]uint64 // a set of hashes, of the grams that mayHold meets
}

// gram is the number of bytes that mayHold looks at together, and stride how
// far apart. A needle is at least MinRedacted bytes long, so wherever it lies,
// a look falls wholly into its first MinRedacted bytes.
const (
	gram   = 4
	stride = MinRedacted - gram + 1
)

func newNeedles(secrets map[string]bool) *needles {
	n := &needles{}
	for text := range secrets {
		for _, form := range forms(text) {
			n.list = append(n.list, []byte(form))
		}
	}
	// The order shows nowhere, but a map's should not decide anything.
	slices.SortFunc(n.list, bytes.Compare)
	n.list = slices.CompactFunc(n.list, bytes.Equal)
	for _, needle := range n.list {
		n.longest = max(n.longest, len(needle))
		for i := range stride {
			h := hash(needle[i : i+gram])
			n.grams[h/64] |= 1 << (h % 64)
		}
	}
	return n
}

// mayHold tells, fast and without a miss, whether a needle may be in b. It
// hashes four bytes in every five; the answer is seldom wrongly yes.
func mayHold[T string | []byte](n *needles, text T) bool {
	for i := 0; i+gram <= len(text); i += stride {
		h := hash(text[i : i+gram])
		if n.grams[h/64]&(1<<(h%64)) != 0 {
			return true
		}
	}
	return false
}

func hash[T string | []byte](b T) uint32 {
	return (uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24) * 0x9E3779B1 >> 16
}

type span struct{ start, end int }

// spans returns where needles lie in b, in order; they may overlap.
func (n *needles) spans(b []byte) []span {
	var found []span
	for _, needle := range n.list {
		for at := 0; ; at++ {
			i := bytes.Index(b[at:], needle)
			if i < 0 {
				break
			}
			at += i
			found = append(found, span{at, at + len(needle)})
		}
	}
	slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return found
}

// mask puts one Mask in the place of each run of overlapping spans.
func (n *needles) mask(b []byte) []byte {
	found := n.spans(b)
	if len(found) == 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	done := 0
	for i := 0; i < len(found); {
		run := found[i]
		for i++; i < len(found) && found[i].start < run.end; i++ {
			run.end = max(run.end, found[i].end)
		}
		out = append(out, b[done:run.start]...)
		out = append(out, Mask...)
		done = run.end
	}
	return append(out, b[done:]...)
}
