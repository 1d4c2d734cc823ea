package terminal

import "github.com/zchost/zchost/host/journal"

// The exit codes of `zchost send`; `chat` with piped input ends with the worst
// of its turns.
const (
	ExitOK          = 0 // complete
	ExitUsage       = 1 // the command line or the config is wrong
	ExitFailed      = 2 // failed before any output
	ExitInterrupted = 3 // broke off after output
	ExitCancelled   = 4 // somebody stopped it
	ExitIncomplete  = 5 // cut short by a limit or a filter, or refused
	ExitBudget      = 6 // refused by a budget
)

// classBudget is the class of a turn's error when a budget refused a request
// (CST-5).
const classBudget = "budget"

// ExitCode returns the code for a turn that has ended.
func ExitCode(t journal.Turn) int {
	if t.Error.Class == classBudget {
		return ExitBudget
	}
	switch t.State {
	case journal.Complete:
		return ExitOK
	case journal.Incomplete:
		return ExitIncomplete
	case journal.Cancelled:
		return ExitCancelled
	case journal.Interrupted:
		return ExitInterrupted
	case journal.Failed, journal.Queued, journal.Running:
	}
	if t.Visible {
		return ExitInterrupted
	}
	return ExitFailed
}

// Worse returns the worse of two exit codes: an answer that is missing is worse
// than one that is cut, and a wrong command line is worse than both.
func Worse(a, b int) int {
	for _, code := range []int{ExitUsage, ExitFailed, ExitBudget, ExitInterrupted, ExitCancelled, ExitIncomplete} {
		if a == code || b == code {
			return code
		}
	}
	return ExitOK
}
