// Package tool is what an agent's tools are, and how one call of one is
// checked, run and bounded.
//
// A Set holds the tools of a turn. Check says whether a call may run at all:
// the tool exists and the arguments are valid by its schema. Run runs it, with
// a deadline, a bound on the result, and nothing that a tool can do to the
// host's own life. What runs when, whose word it needs, and what is stored
// before and after is host/turn's.
//
// Where tools come from is in packages of their own: host/tool/core for those
// that every host has, host/tool/plugintool for plugins, host/mcp for MCP
// servers.
package tool

import (
	"context"
	"time"

	"github.com/zchost/zchost/abi"
)

// Spec describes a tool.
type Spec struct {
	// Name is unique in a Set: a-z, A-Z, 0-9, "_" and "-", at most 64.
	Name string
	// Description tells the model what the tool does.
	Description string
	// InputSchema is the JSON Schema (2020-12) of the arguments, an object.
	InputSchema abi.Raw
	// Effect is what a call changes.
	Effect abi.Effect
	// Timeout bounds one call; 0 leaves it to Limits.
	Timeout time.Duration
	// Source says where the tool comes from: "core",
	// "plugin weather@1.0.0#1a2b3c4d", "mcp files".
	Source string
}

// Call is one call.
type Call struct {
	// ID is the host's own id of the call, unique for ever.
	ID string
	// Session, Agent and Turn say where it was made.
	Session, Agent, Turn string
	// Arguments are valid by the tool's schema: a JSON object.
	Arguments abi.Raw
}

// Result is what a call gave.
type Result struct {
	// Content is what the model gets to read.
	Content string
	// IsError says that the call failed, for a reason that Content tells the
	// model.
	IsError bool
}

// Tool is something that the model can call. Calls may run side by side.
//
// An error of Call says that there is no result; best it is an *Error, which
// says what kind of failure it was. It ends soon after its context does.
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, c Call) (Result, error)
}

// Class says why a call has no result.
type Class string

// The classes.
const (
	// Timeout is a call that took too long.
	Timeout Class = "timeout"
	// Cancelled is a call that was stopped.
	Cancelled Class = "cancelled"
	// Unavailable is a tool whose plugin or server cannot be reached now.
	Unavailable Class = "unavailable"
	// Failed is everything else that went wrong inside the tool.
	Failed Class = "failed"
)

// Error says why a call has no result.
type Error struct {
	// Class decides what a caller does.
	Class Class
	// Message is for the model and for a person.
	Message string
	// Unknown says that nobody knows whether the call took effect.
	Unknown bool
	// Err is the cause; may be nil.
	Err error
}

// Error tells the class and what happened.
func (e *Error) Error() string { return string(e.Class) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
