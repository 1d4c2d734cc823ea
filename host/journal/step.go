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
	StepCalls        Step = "calls"
	StepApproval     Step = "approval"
	StepCallStart    Step = "call-start"
	StepCallEnd      Step = "call-end"
	StepSummary      Step = "summary"
	StepFinish       Step = "finish"
	StepDiscard      Step = "discard"
	StepClose        Step = "close"
)

// Full reports whether a write of this step is on the disk when it returns, so
// that it also survives a power cut. The others survive a crash of the host
// and reach the disk with the next full one, or when the journal is closed.
// What a power cut takes of them is harmless: some words after the first
// visible ones, a settled attempt (it stays unknown), the start of a queued
// turn (it is queued still), the settling of old work (it is done again), calls
// that have not begun, a result of a call (it becomes unknown), and a summary
// (it is made again). The start of a call and the next request, which shows
// the model the results, are full ones, so all before them is on the disk then.
func (s Step) Full() bool {
	switch s {
	case StepDeltas, StepSettle, StepNext, StepRecover, StepClose, StepCalls, StepCallEnd, StepSummary:
		return false
	case StepMigrate, StepAdmit, StepAttempt, StepFirstVisible, StepApproval, StepCallStart, StepFinish, StepDiscard:
	}
	return true
}

func (s Step) before() failpoint.Name { return failpoint.Name(s) + "-before-commit" }
func (s Step) after() failpoint.Name  { return failpoint.Name(s) + "-after-commit" }
