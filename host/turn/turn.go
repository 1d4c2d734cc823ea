// Package turn takes a person's message from admission to its end: it admits
// it, waits for the session's earlier turns, asks the chain for an answer, runs
// the tools that the model calls and asks again, and stores how the turn ended,
// all of it in one transaction.
//
// Read engine.go for the life of a session, run.go for the life of a turn,
// loop.go for its iterations, calls.go for the tool calls of one iteration, and
// end.go for how an answer becomes a state and a marker. What the model is
// shown of earlier turns is made in history.go, and made shorter in compact.go.
// resume.go is what a person can do after an interruption.
package turn

import (
	"context"
	"errors"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/reliability"
	"github.com/zchost/zchost/host/tool"
)

// Cause is why a turn is cancelled. It decides the marker.
type Cause struct{ text string }

// Error tells the cause, so that it can be the cause of a context.
func (c *Cause) Error() string { return c.text }

// ByUser returns the cause of a turn that its person stopped.
func ByUser() *Cause { return &Cause{text: causeUser} }

// ByClient returns the cause of a turn that a client cancelled over RPC,
// WebSocket, HTTP or ACP.
func ByClient() *Cause { return &Cause{text: causeClient} }

// ByShutdown returns the cause of a turn that ends because the host does.
func ByShutdown() *Cause { return &Cause{text: causeShutdown} }

const (
	causeUser     = "stopped by the user"
	causeClient   = "cancelled by a client"
	causeShutdown = "the host is shutting down"
)

// ErrClosed is returned by an engine that takes no more messages.
var ErrClosed = errors.New("the host is shutting down")

// Agent is who answers: [agents.NAME] of the config, ready to be used.
type Agent struct {
	Name   string
	System string
	Chain  *reliability.Chain
	// Tools returns the tools of a turn that begins, and what to warn about,
	// such as a server that is down. nil means none.
	Tools func(ctx context.Context) (tools *tool.Set, warnings []string)
	// Limits bound one call of a tool.
	Limits tool.Limits
	// MaxIterations is how often the model may be asked in one turn; 0 means
	// 25.
	MaxIterations int
	// Approve says which calls need a person's word, and ApprovalTimeout how
	// long that is waited for; 0 means 5 min.
	Approve         Approve
	ApprovalTimeout time.Duration
	// Context is the size of the model's window in tokens, 0 if unknown: a
	// history that would fill it is compacted before it is sent.
	Context int64
	// Plugins are the fingerprints of the plugins that a turn would use.
	Plugins []string
	// Release is called when the turn no longer needs the agent's plugins; it
	// may be nil.
	Release func()
}

// Approve says which tool calls need a person's word.
type Approve string

// The policies.
const (
	// ApproveWrite asks for calls with effect write. The default.
	ApproveWrite Approve = "write"
	// ApproveAlways asks for every call.
	ApproveAlways Approve = "always"
	// ApproveNever asks for none.
	ApproveNever Approve = "never"
)

// asks reports whether a call with this effect needs a person's word.
func (a Approve) asks(effect abi.Effect) bool {
	switch a {
	case ApproveNever:
		return false
	case ApproveAlways:
		return true
	case ApproveWrite:
	}
	return effect != abi.EffectNone && effect != abi.EffectRead
}

// Message is what a person sends.
type Message struct {
	// Session is the key of the conversation, Agent who answers.
	Session, Agent string
	// Surface is where it came in: "terminal" or "cli".
	Surface string
	// IdempotencyKey, if not empty, makes a repeated message answer with the
	// first one's turn (ADM-2).
	IdempotencyKey string
	Text           string
	// Attachments are images and files that belong to the message.
	Attachments []journal.Attachment
	// NoStream asks the model for its answer in one piece.
	NoStream bool
	// CanApprove says that somebody reads the turn's events and calls
	// Engine.Answer. Without, a call that needs an approval is refused at once.
	CanApprove bool
}
