//go:build failpoints

package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Enabled reports whether this build has failpoints.
func Enabled() bool { return true }

// Names returns every step, in the order in which a turn reaches them.
func Names() []Name {
	return []Name{
		MigrateBeforeCommit, MigrateAfterCommit,
		BootBefore, RecoverBeforeCommit, RecoverAfterCommit, BootAfter,
		AdmitBeforeCommit, AdmitAfterCommit,
		NextBeforeCommit, NextAfterCommit,
		AttemptBeforeCommit, AttemptAfterCommit,
		RequestBeforeSend, RequestAfterHead,
		FirstVisibleBeforeCommit, FirstVisibleAfterCommit, ReaderAfterFirst,
		DeltasBeforeCommit, DeltasAfterCommit,
		SettleBeforeCommit, SettleAfterCommit,
		CallsBeforeCommit, CallsAfterCommit,
		ApprovalBeforeCommit, ApprovalAfterCommit,
		CallStartBeforeCommit, CallStartAfterCommit,
		ToolBeforeRun, ToolAfterRun,
		CallEndBeforeCommit, CallEndAfterCommit,
		SummaryBeforeCommit, SummaryAfterCommit,
		FinishBeforeCommit, FinishAfterCommit,
		DiscardBeforeCommit, DiscardAfterCommit,
		CloseBeforeCommit, CloseAfterCommit,
	}
}

// target is the step to die at and how often it has to be reached for that.
//
//nolint:gochecknoglobals // a crash is the whole process's
var target = struct {
	once sync.Once
	mu   sync.Mutex
	name Name
	left int
}{}

// Hit kills the process if this is the step, and the time, to die at.
func Hit(name Name) {
	target.once.Do(parse)
	if target.name != name {
		return
	}
	target.mu.Lock()
	defer target.mu.Unlock()
	if target.left--; target.left != 0 {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(fmt.Sprintf("failpoint %s: %v", name, err))
	}
	select {} // the signal arrives before anything else is done
}

// parse reads the environment. A value that names no step stops the program:
// a crash test that crashes nowhere would pass for nothing.
func parse() {
	value := os.Getenv(EnvVar)
	if value == "" {
		return
	}
	name, times, counted := strings.Cut(value, ":")
	target.left = 1
	if counted {
		n, err := strconv.Atoi(times)
		if err != nil || n < 1 {
			panic(fmt.Sprintf("%s: %q is not a count of 1 or more", EnvVar, times))
		}
		target.left = n
	}
	for _, known := range Names() {
		if known == Name(name) {
			target.name = known
			return
		}
	}
	panic(fmt.Sprintf("%s: there is no step %q", EnvVar, name))
}
