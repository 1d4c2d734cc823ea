package journal

import (
	"time"

	"github.com/zchost/zchost/abi"
)

// Turn is one message of a person and everything that was done to answer it.
type Turn struct {
	// ID is "t_" and 26 letters and digits; ids sort by the time of admission.
	ID string
	// SessionID is the session's number in the journal.
	SessionID int64
	// Session is the session's key, which is opaque data.
	Session string
	// Agent is the name of the agent that answers.
	Agent string
	// Seq is the turn's place in its session, from 1.
	Seq int64
	// State is where the turn stands.
	State State
	// Text is what the person wrote.
	Text string
	// Surface is where it came in: "terminal", "cli" and so on.
	Surface string
	// Marker is the code of the marker that the turn ended with; may be empty.
	Marker string
	// Error is why the turn failed; empty if it did not.
	Error TurnError
	// Candidate is the "provider/model" whose text the answer is (CST-4).
	Candidate string
	// Fallback says that Candidate is not the profile's first.
	Fallback bool
	// Created, Started and Ended are when the turn was admitted, began to run
	// and ended; Started and Ended are zero until then.
	Created, Started, Ended time.Time
	// Visible says that output of the turn may have been seen.
	Visible bool
	// Events is how many events the turn has: the number of the last one.
	Events int64
	// After is the id of the turn that this one goes on from or asks again,
	// Relation which of the two; empty for a message of its own.
	After    string
	Relation Relation
	// Hidden turns are left out of what the model is shown; of a Discarded one
	// the partial answer is.
	Hidden, Discarded bool
}

// TurnError is why a turn ended without an answer.
type TurnError struct {
	// Class is the failure's class, empty for no failure.
	Class abi.FailureClass
	// Message is for a person.
	Message string
}

// Finish says how a turn ends.
type Finish struct {
	// Turn is the turn's id.
	Turn string
	// State is the end: one that the turn's state may become.
	State State
	// Marker is the marker's code; may be empty.
	Marker string
	// Error is why the turn failed, if it did.
	Error TurnError
	// Candidate is the "provider/model" whose text the answer is, Fallback
	// that it is not the profile's first (CST-4).
	Candidate string
	Fallback  bool
}

// Admission is a message of a person on its way into the journal. Text is at
// most MaxText bytes, the other fields at most MaxKey; none holds a NUL, all
// are UTF-8. They are opaque data: nothing is read into them.
type Admission struct {
	// Account and ExternalID name the message where it came from, so that a
	// repeated delivery is seen. An empty ExternalID is never a repetition.
	Account, ExternalID string
	// Session is the session's key.
	Session string
	// Agent is the name of the agent that answers.
	Agent string
	// Surface is where the message came in.
	Surface string
	// Sender is who sent it, as the surface names them.
	Sender string
	// Text is the message.
	Text string
	// Attachments are images and files that belong to the message.
	Attachments []Attachment
	// After and Relation say that the message goes on from an earlier turn, or
	// asks it again; both empty for one of its own.
	After    string
	Relation Relation
	// Plugins are the fingerprints of the plugins that the turn will use.
	Plugins []string
	// DeliveryMode, Conversation and Thread say where the answer goes.
	DeliveryMode, Conversation, Thread string
}

// Relation is what a turn is to an earlier one (GDR-2).
type Relation string

const (
	// RelationContinue goes on where the earlier turn was interrupted.
	RelationContinue Relation = "continue"
	// RelationRetry asks the earlier turn's question once more. The earlier
	// turn is hidden with its admission.
	RelationRetry Relation = "retry"
)

// Bounds of what is admitted, in bytes.
const (
	MaxKey  = 1 << 10
	MaxText = 1 << 20
)

// Claim is what recovery needs to know about a turn: who owns it and where its
// answer goes (ADM-1).
type Claim struct {
	// Turn is the turn's id, Boot the start of the host that owns it.
	Turn string
	Boot int64
	// Inbox is the number of the message in the inbox.
	Inbox int64
	// DeliveryID names the delivery of the answer and never changes.
	DeliveryID string
	// DeliveryMode, Conversation, Thread and Requester say where the answer
	// goes and who asked.
	DeliveryMode, Conversation, Thread, Requester string
	// Plugins are the fingerprints of the plugins that the turn uses.
	Plugins []string
}
