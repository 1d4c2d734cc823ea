//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package terminal

import (
	"context"
	"errors"
)

// echoOff does nothing here: what is typed meanwhile may show up in the answer.
func echoOff(int) (on func()) { return func() {} }

// canReadKey says that single keys cannot be read here: calls that need an
// approval are refused.
const canReadKey = false

func readKey(context.Context, int) (byte, error) { return 0, errors.ErrUnsupported }
