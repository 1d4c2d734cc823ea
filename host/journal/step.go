package journal

import "github.com/zchost/zchost/host/failpoint"

// Step names a durable write. The name decides how durable it is, and is the
// first part of the failpoints around its commit.
type Step string

// The steps.
const (
	StepMigrate      Step = "migrate"
	StepRecover      Step = "recover"
	StepAdmit        Step = "admit"
	StepNext         Step = "next"
	StepAttempt      Step = "attempt"
	StepFirstVisible Step = "first-visible"
	StepDeltas       Step = "deltas"
	StepSettle       Step = "settle"
	StepFinish       Step = "finish"
	StepClose        Step = "close"
)

// Full reports whether a write of this step is on the disk when it returns, so
// that it also survives a power cut. The others survive a crash of the host
// and reach the disk with the next full one: deltas after the first visible
// one, a settled attempt (it would stay unknown), and the start of a queued
// turn (it would be queued still).
func (s Step) Full() bool {
	return s != StepDeltas && s != StepSettle && s != StepNext
}

func (s Step) before() failpoint.Name { return failpoint.Name(s) + "-before-commit" }
func (s Step) after() failpoint.Name  { return failpoint.Name(s) + "-after-commit" }
