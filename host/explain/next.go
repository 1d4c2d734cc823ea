package explain

import (
	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
)

// next lists what can be done now.
func (e *Explanation) next() []string {
	switch e.Turn.State {
	case journal.Queued, journal.Running:
		return []string{"wait for its end; in `zchost chat` Ctrl-C stops it"}
	case journal.Complete:
		return e.afterComplete()
	case journal.Incomplete:
		return e.afterIncomplete()
	case journal.Cancelled:
		return []string{e.again()}
	case journal.Interrupted:
		list := []string{e.again()}
		if marker.Code(e.Turn.Marker) == marker.InterruptedByRestart {
			return list
		}
		return append(list, e.advice()...)
	case journal.Failed:
		return append(e.advice(), e.again())
	}
	return []string{}
}

// again says how the same can be asked once more: only a person decides that.
func (e *Explanation) again() string {
	if e.Seen.Text > 0 {
		return "write \"go on\": the model sees the partial answer and how it ended; or send the message again for a new answer"
	}
	return "send the message again: it stands in the conversation, and nothing was answered"
}

func (e *Explanation) afterComplete() []string {
	if a := e.last(); a != nil && a.Warning != "" {
		return []string{"nothing needs doing; with completion = \"signal\" on the provider such an answer counts as truncated"}
	}
	if first := e.firstFailed(); first != nil && lasting(first) {
		return adviceFor(first, 0)
	}
	return []string{}
}

// lasting reports whether a failure will come again until someone does
// something.
func lasting(a *Attempt) bool {
	switch abi.FailureClass(a.Outcome) {
	case abi.FailureAuth, abi.FailureQuota, abi.FailureInvalidRequest, abi.FailureModelNotFound, abi.FailurePlugin, abi.FailureNetwork:
		return true
	default:
		return false
	}
}

func (e *Explanation) afterIncomplete() []string {
	switch marker.Code(e.Turn.Marker) {
	case marker.IncompleteFilter, marker.IncompleteRefusal:
		return []string{"word the message in another way, or use another model"}
	case marker.IncompletePause:
		return []string{"write \"go on\""}
	case marker.IncompleteLimit:
		return []string{"this agent has no tools: ask for an answer without them"}
	default:
		return []string{"write \"go on\"", "raise max_tokens of the agent or the profile, if it is set"}
	}
}

// advice is what helps against the failures, each once: the first is the cause,
// the others are why nobody else answered.
func (e *Explanation) advice() []string {
	var list []string
	told := map[string]bool{}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		key := a.Outcome + a.Candidate
		if a.Outcome == journal.OutcomeComplete || told[key] {
			continue
		}
		told[key] = true
		for _, text := range adviceFor(a, e.Turn.WaitMS) {
			if !told[text] {
				told[text] = true
				list = append(list, text)
			}
		}
	}
	if len(e.Attempts) == 0 {
		list = append(list, "run `zchost doctor`")
	}
	return list
}

// adviceFor says what helps against a failure.
func adviceFor(a *Attempt, waitMS int64) []string {
	if a.Outcome == outcomeEmpty {
		return []string{"if " + a.Candidate + " often answers nothing, raise max_tokens: reasoning may use it up"}
	}
	switch abi.FailureClass(a.Outcome) {
	case abi.FailureOverloaded, abi.FailureRateLimited, abi.FailureServer:
		later := "try again later"
		if waitMS > 0 {
			later = "try again in " + duration(waitMS)
		}
		return []string{later + ", or give profile " + a.Profile + " a fallback at another provider"}
	case abi.FailureTimeout:
		return []string{"if " + a.Candidate + " is just slow, raise the timeout that the attempt names"}
	case abi.FailureNetwork:
		return []string{"check the connection and the base_url of the provider of " + a.Candidate + ": `zchost doctor`"}
	case abi.FailureTruncated:
		return []string{"if it happens often, look at proxies between here and " + a.Candidate + ", or use `zchost send --no-stream`"}
	case abi.FailureAuth:
		return []string{"check that the key " + or(a.Key, "of "+a.Candidate) + " is right and may use " + a.Candidate}
	case abi.FailureQuota:
		return []string{"look at the balance of the account of key " + or(a.Key, "of "+a.Candidate) + ", or add another key or fallback"}
	case abi.FailureInvalidRequest:
		return []string{a.Candidate + " does not take such a request: see its message above, and options, max_tokens and temperature in the config"}
	case abi.FailureContextOverflow:
		return []string{"begin a new session (`/new`), or use a model with a larger context"}
	case abi.FailureContentFiltered:
		return []string{"word the message in another way, or use another model"}
	case abi.FailureModelNotFound:
		return []string{"correct the model of profile " + a.Profile + ": " + a.Candidate + " is not there for this key"}
	case abi.FailurePlugin:
		return []string{"the plugin " + or(a.Fingerprint, "of "+a.Candidate) + " failed: `zchost plugin inspect` shows it; tell its author"}
	case abi.FailureUnknown:
		return []string{"see the message of the attempt, and `zchost doctor`"}
	default:
		return nil
	}
}
