//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sys/unix"
)

// echoOff stops the terminal from showing what is typed, and returns what turns
// it on again. Ctrl-C goes on to be a signal.
func echoOff(fd int) (on func()) {
	state, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return func() {}
	}
	quiet := *state
	quiet.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(fd, setTermios, &quiet); err != nil {
		return func() {}
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, state) }
}

// canReadKeys says that the two functions below work here.
const canReadKeys = true

// maxQuickReads is how often a terminal may give nothing at once, which one
// that is gone does.
const maxQuickReads = 100

// takeKeys makes a terminal give keys at once and not show them, and drops what
// was typed before; back gives it back. Ctrl-C goes on to be a signal.
func takeKeys(fd int) (back func(), err error) {
	state, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	raw := *state
	raw.Lflag &^= unix.ECHO | unix.ICANON
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 1 // a read lasts 0.1 s at most
	if err := unix.IoctlSetTermios(fd, flushTermios, &raw); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, state) }, nil
}

// readKeys waits until something is typed.
func readKeys(ctx context.Context, fd int) (string, error) {
	var buf [256]byte
	for quick := 0; quick < maxQuickReads; {
		began := time.Now()
		n, err := unix.Read(fd, buf[:])
		switch {
		case ctx.Err() != nil:
			return "", fmt.Errorf("read keys: %w", context.Cause(ctx))
		case n > 0:
			return string(buf[:n]), nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return "", fmt.Errorf("read keys: %w", err)
		case time.Since(began) < 10*time.Millisecond:
			quick++
		}
	}
	return "", io.EOF
}
