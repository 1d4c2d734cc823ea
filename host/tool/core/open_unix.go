//go:build unix

package core

import "syscall"

// openNonblock makes that opening a pipe does not wait for its other end.
const openNonblock = syscall.O_NONBLOCK
