package core

import (
	"fmt"
	"strings"
)

// headTail keeps the beginning and the end of what is written to it, half and
// half, and says how much is missing in between.
type headTail struct {
	keep int // bytes
	head []byte
	tail []byte // a ring once it is full
	at   int    // where the ring begins
	size int64
}

// Write implements io.Writer; it never fails.
func (h *headTail) Write(p []byte) (int, error) {
	n := len(p)
	h.size += int64(n)
	half := max(1, h.keep/2)
	take := min(len(p), half-len(h.head))
	h.head = append(h.head, p[:take]...)
	p = p[take:]
	if len(p) > half {
		p = p[len(p)-half:]
	}
	take = min(len(p), half-len(h.tail))
	h.tail = append(h.tail, p[:take]...)
	for _, c := range p[take:] {
		h.tail[h.at] = c
		h.at = (h.at + 1) % half
	}
	return n, nil
}

// String returns what was kept as valid UTF-8.
func (h *headTail) String() string {
	tail := string(h.tail[h.at:]) + string(h.tail[:h.at])
	missing := h.size - int64(len(h.head)) - int64(len(tail))
	if missing == 0 {
		return strings.ToValidUTF8(string(h.head)+tail, "\uFFFD")
	}
	head := string(h.head)
	if i := strings.LastIndexByte(head, '\n'); i >= len(head)/2 {
		missing += int64(len(head) - i - 1)
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		missing += int64(i + 1)
		tail = tail[i+1:]
	}
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", strings.TrimSuffix(head, "\n"), missing, tail), "\uFFFD")
}
