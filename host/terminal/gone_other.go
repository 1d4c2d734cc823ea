//go:build !windows

package terminal

import (
	"errors"
	"syscall"
)

// isGone reports whether a write failed because its reader went away.
func isGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
