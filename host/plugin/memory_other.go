//go:build !unix

package plugin

// pages is a memory on the Go heap, where there is no mmap.
type pages struct{ space []byte }

func newPages(uint64) pages { return pages{} }

// resize makes size bytes usable and returns them.
func (p *pages) resize(size uint64) []byte {
	if size > uint64(len(p.space)) {
		space := make([]byte, size)
		copy(space, p.space)
		p.space = space
	}
	return p.space
}

func (p *pages) free() { p.space = nil }
