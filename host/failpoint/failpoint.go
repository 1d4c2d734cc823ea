// Package failpoint names the steps at which a crash test kills the process.
//
// A build with the tag `failpoints` dies by SIGKILL at the step that
// ZCHOST_FAILPOINT names: NAME for the first time it is reached, NAME:N for the
// N-th. A normal build contains nothing of it: Hit is empty and is inlined
// away.
package failpoint

// Name is the name of a step.
type Name string

// The steps of a turn, in the order in which a turn reaches them. The pairs
// named before-commit and after-commit are the durable writes; the journal
// hits them around the commit of the write of that name.
const (
	MigrateBeforeCommit      Name = "migrate-before-commit"
	MigrateAfterCommit       Name = "migrate-after-commit"
	BootBefore               Name = "boot-before"
	RecoverBeforeCommit      Name = "recover-before-commit"
	RecoverAfterCommit       Name = "recover-after-commit"
	BootAfter                Name = "boot-after"
	AdmitBeforeCommit        Name = "admit-before-commit"
	AdmitAfterCommit         Name = "admit-after-commit"
	NextBeforeCommit         Name = "next-before-commit"
	NextAfterCommit          Name = "next-after-commit"
	AttemptBeforeCommit      Name = "attempt-before-commit"
	AttemptAfterCommit       Name = "attempt-after-commit"
	RequestBeforeSend        Name = "request-before-send"
	RequestAfterHead         Name = "request-after-head"
	FirstVisibleBeforeCommit Name = "first-visible-before-commit"
	FirstVisibleAfterCommit  Name = "first-visible-after-commit"
	ReaderAfterFirst         Name = "reader-after-first"
	DeltasBeforeCommit       Name = "deltas-before-commit"
	DeltasAfterCommit        Name = "deltas-after-commit"
	SettleBeforeCommit       Name = "settle-before-commit"
	SettleAfterCommit        Name = "settle-after-commit"
	CallsBeforeCommit        Name = "calls-before-commit"
	CallsAfterCommit         Name = "calls-after-commit"
	ApprovalBeforeCommit     Name = "approval-before-commit"
	ApprovalAfterCommit      Name = "approval-after-commit"
	CallStartBeforeCommit    Name = "call-start-before-commit"
	CallStartAfterCommit     Name = "call-start-after-commit"
	ToolBeforeRun            Name = "tool-before-run"
	ToolAfterRun             Name = "tool-after-run"
	CallEndBeforeCommit      Name = "call-end-before-commit"
	CallEndAfterCommit       Name = "call-end-after-commit"
	SummaryBeforeCommit      Name = "summary-before-commit"
	SummaryAfterCommit       Name = "summary-after-commit"
	FinishBeforeCommit       Name = "finish-before-commit"
	FinishAfterCommit        Name = "finish-after-commit"
	DiscardBeforeCommit      Name = "discard-before-commit"
	DiscardAfterCommit       Name = "discard-after-commit"
	CloseBeforeCommit        Name = "close-before-commit"
	CloseAfterCommit         Name = "close-after-commit"
)

// EnvVar is the environment variable that names the step to die at.
const EnvVar = "ZCHOST_FAILPOINT"
