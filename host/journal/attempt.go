package journal

import (
	"time"

	"github.com/zchost/zchost/abi"
)

// Outcomes of an attempt that are not a failure class.
const (
	// OutcomeUnknown is the outcome until the attempt is settled, and for
	// ever if the host died before that.
	OutcomeUnknown     = "unknown"
	OutcomeComplete    = "complete"
	OutcomeCancelled   = "cancelled"
	OutcomeInterrupted = "interrupted"
)

// UsageSource says where the numbers of an attempt's usage come from.
type UsageSource string

// The sources. Unknown is never zero (CST-2).
const (
	UsageReported  UsageSource = "reported"
	UsageEstimated UsageSource = "estimated"
	UsageUnknown   UsageSource = "unknown"
)

// Attempt is one request to a model: a row of the ledger, there before the
// request is sent (CST-1).
type Attempt struct {
	// ID is the attempt's number in the journal; InsertAttempt gives it.
	ID int64
	// Turn is the turn's id.
	Turn string
	// Iteration and Number count the model calls of the turn and the attempts
	// of the iteration, from 1.
	Iteration, Number int
	// Profile, Provider and Model are what was asked for; Served is the model
	// that says it answered.
	Profile, Provider, Model, Served string
	// Fingerprint is the provider plugin's.
	Fingerprint string
	// Streaming says that a streamed answer was asked for.
	Streaming bool
	// KeyLabel names the key, never its value.
	KeyLabel string
	// Started and Ended are when it began and was settled; Ended is zero until
	// then.
	Started, Ended time.Time
	// Outcome is OutcomeUnknown until settled, then another outcome or a
	// failure class.
	Outcome string
	// Status is the HTTP status; 0 if there was none.
	Status int
	// Code, Message and RequestID are the provider's own.
	Code, Message, RequestID string
	// Wait is how long was waited before the request.
	Wait time.Duration
	// Usage is what is known of the tokens.
	Usage abi.Usage
	// UsageSource says where Usage comes from; empty counts as unknown.
	UsageSource UsageSource
	// Price is what it cost, in billionths of Currency; nil is unpriced
	// (CST-3).
	Price    *int64
	Currency string
	// Warning is the code of a warning, such as completion-signal-missing.
	Warning string
	// Visible says that output of the attempt may have been seen. It follows
	// from the turn's events and is not stored.
	Visible bool
}
