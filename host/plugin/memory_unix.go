//go:build unix

package plugin

import "golang.org/x/sys/unix"

// pages is address space for a memory at its largest, of which only the part in
// use can be touched.
type pages struct{ space []byte }

func newPages(most uint64) pages {
	space, err := unix.Mmap(-1, 0, int(most), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON) //nolint:gosec // at most 4 GiB
	if err != nil {
		return pages{} // resize says no
	}
	return pages{space}
}

// resize makes size bytes usable and returns them, or nil.
func (p *pages) resize(size uint64) []byte {
	if size > uint64(len(p.space)) {
		return nil
	}
	if size > 0 && unix.Mprotect(p.space[:size], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return nil
	}
	return p.space[:size:size]
}

func (p *pages) free() {
	if p.space != nil {
		_ = unix.Munmap(p.space) // fails only for addresses that are not ours
		p.space = nil
	}
}
