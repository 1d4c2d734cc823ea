// Package reliability asks a model for one answer and keeps two promises while
// it does: no second answer, and every attempt on the bill.
//
// A Chain holds the candidates of a profile in order. Run makes attempts until
// one of four things is true: there is an answer; something visible was cut
// off; someone cancelled; or no candidate is left. What happens after a failed
// attempt is decided in two places and nowhere else: by whether any of its
// output is visible (REL-4), and by the table in table.go (REL-7).
//
// Each attempt is a row of the ledger before its request leaves (CST-1), and
// its events go through the Recorder, which numbers and stores them before
// anyone can see the first of them (SNK-2).
package reliability

import (
	"context"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/secret"
)

// Prompt is what the model is asked, apart from how and by whom.
type Prompt struct {
	System   string
	Messages []*Message
	// Tools are the tools that the model may call.
	Tools []abi.Tool
	// NoStream asks for the answer in one piece from the first attempt on.
	NoStream bool
	// Earlier counts the attempts that were made for the same iteration before
	// this run, so that their numbers go on.
	Earlier int
}

// Sampling is how a candidate is to answer.
type Sampling struct {
	// MaxTokens limits the answer; 0 means the provider's own limit.
	MaxTokens int64
	// Temperature is the provider's default if nil.
	Temperature *float64
}

// Request is one request to one candidate.
type Request struct {
	Prompt   *Prompt
	Model    string
	Sampling Sampling
	Stream   bool
	Key      secret.Value
}

// Head is what the response said before its body.
type Head struct {
	Status    int
	RequestID string
}

// Upstream sends requests to one endpoint. host/provider implements it.
//
// Open returns when the head of a good response has arrived. Errors of Open
// and of Stream.Next are *abi.Failure, or the context's own error.
type Upstream interface {
	Open(ctx context.Context, r Request) (Stream, error)
	// Fingerprint names the code that will handle the request.
	Fingerprint() string
}

// Stream is an answer that is arriving. It is used by one goroutine.
type Stream interface {
	Head() Head
	// Next waits for events. At the end of the body it returns io.EOF. After
	// a finish reason it returns ErrSilence when nothing follows for a while.
	Next() ([]abi.Event, error)
	// Close closes the connection at once.
	Close() error
}

// Recorder stores what happens. host/turn implements it on the turn's sink.
type Recorder interface {
	// StartAttempt stores the row before the request leaves and returns its id.
	StartAttempt(ctx context.Context, a journal.Attempt) (int64, error)
	// SettleAttempt stores the row's outcome.
	SettleAttempt(ctx context.Context, a journal.Attempt) error
	// Append stores and shows events of an attempt, in order.
	Append(ctx context.Context, attempt int64, events ...journal.Event) error
}

// Policy holds the knobs of [reliability] as they apply to one candidate
// (REL-9).
type Policy struct {
	// Retries is how often the candidate is asked again beyond the one
	// attempt that it always gets. Default 2.
	Retries int
	// Backoff is the first upper bound of the wait between attempts; it
	// doubles up to 10 s. Default 500 ms.
	Backoff time.Duration
	// RetryAfterMax is the longest wait that a provider may ask for; a longer
	// one moves on to the next candidate. Default 60 s.
	RetryAfterMax time.Duration
	// KeyCooldown is how long a key rests after a failure that names no time
	// (REL-8). Default 60 s.
	KeyCooldown time.Duration
	// StrictCompletion makes an answer without the protocol's completion
	// signal truncated, even if it had a finish reason (STR-1).
	StrictCompletion bool
}

// Candidate is one model at one provider that may give the answer.
type Candidate struct {
	// Profile, Provider and Model are names from the config.
	Profile, Provider, Model string
	Policy                   Policy
	Sampling                 Sampling
	Upstream                 Upstream
	// Keys is the provider's key pool, shared by all its candidates.
	Keys *Keys
	// Breaker is shared by all candidates with the same provider and model.
	Breaker *Breaker
}

// Name is how the candidate is shown: "provider/model".
func (c *Candidate) Name() string { return c.Provider + "/" + c.Model }

// State says how Run ended.
type State int

// The states of an Answer.
const (
	// Complete: the model finished its answer.
	Complete State = iota
	// Incomplete: the answer ended early for a reason that the provider gave
	// (STR-5): Answer.Finish tells it.
	Incomplete
	// Interrupted: it broke off after something was visible (REL-4).
	Interrupted
	// Cancelled: the context was cancelled.
	Cancelled
	// Failed: there is no answer and nothing was visible.
	Failed
)

// Answer is the end of a chain.
type Answer struct {
	State State
	// Candidate is whose text it is; nil if nobody gave any.
	Candidate *Candidate
	// Fallback says that Candidate is not the first of the chain (CST-4).
	Fallback bool
	// Parts are the answer's parts in order: text, reasoning, tool calls, and
	// what the provider itself executed.
	Parts []abi.Part
	// Broken are the ids of the tool calls whose arguments are not a JSON
	// object: they were cut, or never were one. Such a call is never run; its
	// part's arguments hold what came, under "invalid_arguments" (STR-6).
	Broken []string
	// Attempts counts what was made, for Prompt.Earlier.
	Attempts int
	// Finish is the reason that the provider gave; RawFinish its own word.
	Finish    abi.FinishReason
	RawFinish string
	// Visible says that something was visible, text or not.
	Visible bool
	// Err is set unless the state is Complete or Incomplete.
	Err *ChainError
	// Unsettled is the last attempt, when its outcome is not stored yet: the
	// caller stores it, and the events that go with it, in one transaction
	// with the end of the turn.
	Unsettled *journal.Attempt
	Events    []journal.Event
}

// Text joins the text parts.
func (a *Answer) Text() string {
	var b strings.Builder
	for _, p := range a.Parts {
		if p.Type == abi.PartText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
