//go:build !wasm

package jsonscan

import "encoding/binary"

// load returns the eight bytes from i on, the first lowest.
func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
