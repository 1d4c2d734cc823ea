package jsonscan

import "unsafe"

// load returns the eight bytes from i on, the first lowest. WebAssembly is
// little-endian and loads from any address, but the compiler for it inlines
// nothing that is made of eight loads.
func load(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Pointer(&b[i : i+8][0])) //nolint:gosec // the slice has all eight bytes
}
