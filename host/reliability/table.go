package reliability

import (
	"time"

	"github.com/zchost/zchost/abi"
)

// reaction is what a failure before any output leads to (REL-7).
type reaction struct {
	// retry asks the same candidate again, within its budget.
	retry bool
	// nextKey moves to the next key of the pool; with one there, the same
	// candidate is asked again with it.
	nextKey bool
	// park takes the key out of use until the config is loaded again.
	park bool
	// stop ends the chain: no other candidate could do better.
	stop bool
	// floor is the least wait before the same candidate is asked again.
	floor time.Duration
	// breaks counts against the candidate's circuit breaker (REL-10).
	breaks bool
}

// reactionTo is the failure table: the one place that says which class of
// failure is retried, moves on, or ends the chain.
func reactionTo(class abi.FailureClass) reaction {
	switch class {
	case abi.FailureOverloaded:
		return reaction{retry: true, floor: 2 * time.Second, breaks: true}
	case abi.FailureRateLimited:
		return reaction{retry: true, nextKey: true, breaks: true}
	case abi.FailureServer, abi.FailureTimeout, abi.FailureNetwork, abi.FailureTruncated:
		return reaction{retry: true, breaks: true}
	case abi.FailureAuth:
		return reaction{nextKey: true, park: true, breaks: true}
	case abi.FailureQuota:
		return reaction{nextKey: true, breaks: true}
	case abi.FailureInvalidRequest, abi.FailureContentFiltered, abi.FailureModelNotFound:
		return reaction{}
	case abi.FailureContextOverflow:
		return reaction{stop: true}
	case abi.FailurePlugin:
		return reaction{breaks: true}
	case abi.FailureUnknown:
		return reaction{breaks: true}
	}
	return reaction{breaks: true}
}

// backoff returns the wait before attempt number n+1 at one candidate, n
// counted from 1: a random time up to base, doubled with each attempt to at
// most 10 s, but not under floor (REL-6).
func backoff(base, floor time.Duration, n int, random func() float64) time.Duration {
	const most = 10 * time.Second
	bound := min(base, most)
	for range n - 1 {
		bound = min(2*bound, most)
	}
	return max(floor, time.Duration(random()*float64(bound)))
}
