package plugin

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// LoadError says why a plugin was not loaded: everything that is wrong with it,
// not just the first thing.
type LoadError struct {
	// Plugin is the plugin's name, or where it came from if it has none.
	Plugin string
	// Problems are the reasons, a sentence each without a full stop; there is
	// at least one.
	Problems []string
}

// Error tells all problems in one line.
func (e *LoadError) Error() string {
	return fmt.Sprintf("load plugin %s: %s", e.Plugin, strings.Join(e.Problems, "; "))
}

// Reason says how a call failed.
type Reason string

// The reasons. All but quarantined, canceled and closed count as failures of
// the plugin.
const (
	// ReasonError is a plugin that said itself that it failed.
	ReasonError Reason = "error"
	// ReasonTimeout is a call that did not end within its deadline.
	ReasonTimeout Reason = "timeout"
	// ReasonTrap is an illegal operation: a bad memory access, unreachable
	// code, a stack overflow.
	ReasonTrap Reason = "trap"
	// ReasonExit is a plugin that ended its own process, whatever the code.
	ReasonExit Reason = "exit"
	// ReasonPanic is a panic of the plugin's language runtime, or of a host
	// function.
	ReasonPanic Reason = "panic"
	// ReasonOutput is an output over the plugin's limit.
	ReasonOutput Reason = "output_too_large"
	// ReasonMemory is a plugin that failed after it was refused more memory,
	// or for which there was none.
	ReasonMemory Reason = "memory"
	// ReasonJunk is an output that is not what the export returns; see
	// Plugin.Reject.
	ReasonJunk Reason = "junk"
	// ReasonQuarantined is a call that was not made because earlier ones
	// failed.
	ReasonQuarantined Reason = "quarantined"
	// ReasonCanceled is a call that its caller gave up.
	ReasonCanceled Reason = "canceled"
	// ReasonClosed is a call to a plugin that has been unloaded.
	ReasonClosed Reason = "closed"
)

// CallError is a plugin failure. The same export is never called again with the
// same input because of it.
type CallError struct {
	// Plugin is the plugin's name.
	Plugin string
	// Fingerprint is the short form of the generation that was called.
	Fingerprint string
	// Export is the export that was called.
	Export string
	// Reason is the kind of failure.
	Reason Reason
	// Until is when a quarantined plugin is tried again; otherwise zero.
	Until time.Time
	// Err is the cause: what the guest said, or what the sandbox found. It
	// wraps context.Canceled or context.DeadlineExceeded where that was it.
	Err error
}

// Error tells the plugin, the export, the reason and the cause.
func (e *CallError) Error() string {
	text := fmt.Sprintf("call %s of plugin %s: %s", e.Export, e.Fingerprint, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.Err }

// failure is what an instance reports of a call: the reason and the cause.
type failure struct {
	reason Reason
	err    error
}

func (f *failure) Error() string { return string(f.reason) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func fail(reason Reason, err error) error { return &failure{reason, err} }

// asFailure returns the failure in err's chain; anything else is a trap.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return &failure{ReasonTrap, err}
}

// maxText is the most text of a guest that goes into an error, in bytes.
const maxText = 500

// printable makes text from a guest fit for a log line: one line, bounded,
// without control characters.
func printable(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text))
}
