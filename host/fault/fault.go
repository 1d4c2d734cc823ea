// Package fault is the error that a person reads: what failed, a code that a
// program can decide by, and what to do about it.
//
// Errors that only code reads stay in the package that returns them. A fault
// is made where an error is about to reach a person: a bad config, a locked
// home, a full disk.
package fault

import "errors"

// Code names a kind of fault. Codes are stable: scripts may match on them.
type Code string

// The codes.
const (
	Usage       Code = "usage"       // the command line is wrong
	Config      Code = "config"      // the config is wrong
	Home        Code = "home"        // the home directory cannot be used
	Locked      Code = "locked"      // another process has it
	Journal     Code = "journal"     // the database cannot be used
	Unavailable Code = "unavailable" // it cannot be written just now
	Plugin      Code = "plugin"      // a plugin cannot be loaded or failed
	Secret      Code = "secret"      // a secret reference cannot be resolved
	NotFound    Code = "not_found"   // there is no such turn, session, plugin
	Internal    Code = "internal"    // a bug
)

// Error is a fault. Its text is one line.
type Error struct {
	// Code is the kind.
	Code Code
	// Msg says what failed, in lower case and without a full stop.
	Msg string
	// Hint says what to do; may be empty.
	Hint string
	// Err is the cause; may be nil.
	Err error
}

// New returns a fault without a cause.
func New(code Code, msg, hint string) *Error {
	return &Error{Code: code, Msg: msg, Hint: hint}
}

// Wrap returns a fault with a cause.
func Wrap(err error, code Code, msg, hint string) *Error {
	return &Error{Code: code, Msg: msg, Hint: hint, Err: err}
}

// Error tells what failed and why, without the hint.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of the first fault in err's chain, or Internal.
func CodeOf(err error) Code {
	var f *Error
	if errors.As(err, &f) {
		return f.Code
	}
	return Internal
}

// HintOf returns the hint of the first fault in err's chain that has one.
func HintOf(err error) string {
	for err != nil {
		var f *Error
		if !errors.As(err, &f) {
			return ""
		}
		if f.Hint != "" {
			return f.Hint
		}
		err = f.Err
	}
	return ""
}
