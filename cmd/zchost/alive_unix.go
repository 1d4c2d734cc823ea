//go:build unix

package main

import (
	"errors"
	"syscall"
)

// alive reports whether there is a process with that id.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
