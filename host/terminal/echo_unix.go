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

// canReadKey says that readKey works here.
const canReadKey = true

// maxQuickReads is how often a terminal may give nothing at once, which one
// that is gone does.
const maxQuickReads = 100

// readKey waits for a single byte from a terminal. What was typed before is
// dropped. Ctrl-C goes on to be a signal.
func readKey(ctx context.Context, fd int) (key byte, err error) {
	state, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return 0, fmt.Errorf("read key: %w", err)
	}
	raw := *state
	raw.Lflag &^= unix.ECHO | unix.ICANON
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 0, 1 // a read lasts 0.1 s at most
	if err := unix.IoctlSetTermios(fd, flushTermios, &raw); err != nil {
		return 0, fmt.Errorf("read key: %w", err)
	}
	defer func() { err = errors.Join(err, unix.IoctlSetTermios(fd, setTermios, state)) }()
	var buf [64]byte
	for quick := 0; quick < maxQuickReads; {
		began := time.Now()
		n, err := unix.Read(fd, buf[:])
		switch {
		case ctx.Err() != nil:
			return 0, fmt.Errorf("read key: %w", context.Cause(ctx))
		case n == 1:
			return buf[0], nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return 0, fmt.Errorf("read key: %w", err)
		case n <= 0 && time.Since(began) < 10*time.Millisecond:
			quick++
		}
	}
	return 0, io.EOF
}
