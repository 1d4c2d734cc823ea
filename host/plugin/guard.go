package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
)

// errEmpty is the cause of a failure for an export that returned nothing.
var errEmpty = errors.New("it returned nothing")

// guard runs f and turns a panic of the sandbox into an error, so that it costs
// this call only.
func guard(f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			err = fail(ReasonPanic, fmt.Errorf("the sandbox panicked: %w", r))
		default:
			err = fail(ReasonPanic, fmt.Errorf("the sandbox panicked: %v", r))
		}
	}()
	return f()
}

// reported is the error that a guest has returned: a number, and in its output
// {"error": "…"}.
func reported(code uint32, out []byte) error {
	var said struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(out, &said) != nil || said.Error == "" {
		return fmt.Errorf("it returned %d and no error message", code)
	}
	return errors.New(printable(said.Error))
}
