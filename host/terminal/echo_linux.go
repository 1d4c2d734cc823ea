package terminal

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
	// flushTermios drops unread input as well.
	flushTermios = unix.TCSETSF
)
