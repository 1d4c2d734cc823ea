// Package turn takes a person's message from admission to its end: it admits
// it, waits for the session's earlier turns, asks the chain for an answer, and
// stores how the turn ended, all of it in one transaction.
//
// Read engine.go for the life of a session, run.go for the life of a turn, and
// end.go for how an answer becomes a state and a marker. What the model is
// shown of earlier turns is made in history.go.
package turn

import (
	"errors"

	"github.com/zchost/zchost/host/reliability"
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
	// Plugins are the fingerprints of the plugins that a turn would use.
	Plugins []string
	// Release is called when the turn no longer needs the agent's plugins; it
	// may be nil.
	Release func()
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
	// NoStream asks the model for its answer in one piece.
	NoStream bool
}
