package terminal

import (
	"errors"
	"syscall"
)

// errNoData is ERROR_NO_DATA: the pipe is being closed.
const errNoData = syscall.Errno(232)

// isGone reports whether a write failed because its reader went away.
func isGone(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errNoData)
}
