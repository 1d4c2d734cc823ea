//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package terminal

import (
	"context"
	"errors"
)

// echoOff does nothing here: what is typed meanwhile may show up in the answer.
func echoOff(int) (on func()) { return func() {} }

// canReadKeys says that single keys cannot be read here: calls that need an
// approval are refused.
const canReadKeys = false

func takeKeys(int) (func(), error) { return nil, errors.ErrUnsupported }

func readKeys(context.Context, int) (string, error) { return "", errors.ErrUnsupported }
