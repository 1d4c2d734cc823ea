//go:build wasip1

package main

import (
	"syscall"
	"unsafe"
)

//go:wasmimport wasi_snapshot_preview1 random_get
func wasiRandomGet(buf unsafe.Pointer, n uint32) syscall.Errno

func getRandom(b []byte) error {
	if errno := wasiRandomGet(unsafe.Pointer(&b[0]), uint32(len(b))); errno != 0 {
		return errno
	}
	return nil
}
