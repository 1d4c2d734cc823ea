package explain

import (
	"strings"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/reliability"
)

// next lists what can be done now, with the exact commands (GDR-1, GDR-2).
func (e *Explanation) next() []string {
	switch e.Turn.State {
	case journal.Queued:
		return []string{"wait for its end; in `zchost chat` Ctrl-C stops it"}
	case journal.Running:
		if t := e.find(asked(journal.ApprovalPending)); t != nil {
			return []string{"answer in the chat that asks whether " + t.Name + " may run; Ctrl-C stops the turn"}
		}
		return []string{"wait for its end; in `zchost chat` Ctrl-C stops it"}
	case journal.Complete:
		return e.afterComplete()
	case journal.Incomplete:
		return e.afterIncomplete()
	case journal.Cancelled:
		return e.again()
	case journal.Interrupted:
		list := e.again()
		if marker.Code(e.Turn.Marker) == marker.InterruptedByRestart {
			return list
		}
		return append(list, e.advice()...)
	case journal.Failed:
		return append(e.advice(), e.again()...)
	}
	return []string{}
}

// Abandoned tells that no host runs that could end the turn: the one that began
// it was killed. It changes nothing in a turn that has ended.
func (e *Explanation) Abandoned() {
	if e.Turn.State != journal.Queued && e.Turn.State != journal.Running {
		return
	}
	e.Summary = "left behind by a host that did not end in order; it was " + e.Summary
	e.Next = []string{"nothing runs any more: the next start settles the turn, and keeps what was seen; `zchost continue " + e.Turn.ID + "` does both, and goes on with it"}
	if e.Turn.State == journal.Queued {
		e.Next = []string{"nothing runs any more: the next start of `zchost chat` or `zchost send` settles the turn"}
	}
}

// again says how the turn can be gone on from or asked again: only a person
// decides that.
func (e *Explanation) again() []string {
	switch {
	case e.Turn.Hidden:
		return []string{"nothing: it was asked again, see the turn that followed"}
	case !e.newest:
		return []string{"send a message of your own: the conversation went on after this turn"}
	}
	var list []string
	if e.goesOn() {
		list = append(list, e.command("continue", "the model goes on where it stopped"+e.toldOf()))
	}
	if n := e.effects(); n > 0 {
		list = append(list, e.command("retry", "asks again from the beginning; it first lists "+count(n, "effect")+" that may happen a second time"))
	} else {
		list = append(list, e.command("retry", "asks again from the beginning"))
	}
	if e.Seen.Text > 0 && !e.Turn.Discarded {
		list = append(list, e.command("discard", "drops the partial answer, and the model no longer sees it"))
	}
	return list
}

// goesOn reports whether there is anything to go on from.
func (e *Explanation) goesOn() bool {
	return e.Seen.Text > 0 && !e.Turn.Discarded || e.find(func(*Tool) bool { return true }) != nil
}

func (e *Explanation) toldOf() string {
	if len(e.Tools) == 0 {
		return ""
	}
	return ", with the results of its tools, and does not repeat them"
}

// command names a command, and its form in a chat.
func (e *Explanation) command(name, what string) string {
	return "`zchost " + name + " " + e.Turn.ID + "` (/" + name + " in its chat): " + what
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
		return e.again()
	case marker.IncompleteLimit:
		if e.habit() != "" {
			return append(e.again(), "look at what its tools said, and word the message in another way, or use another model")
		}
		return append(e.again(), "raise max_iterations of agent "+e.Turn.Agent+", if the tools got anywhere")
	default:
		return append(e.again(), "raise max_tokens of the agent or the profile, if it is set")
	}
}

// habit is why the turn was stopped, if not by the number of its iterations:
// calls that repeat or are wrong, and then more iterations do not help.
func (e *Explanation) habit() string {
	for _, d := range e.Decisions {
		if d.Rule == "STR-6" && !strings.Contains(d.Text, "max_iterations") {
			return d.Text
		}
	}
	return ""
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
	switch {
	case e.Turn.Class == string(reliability.ClassBudget):
		if strings.Contains(e.Turn.Error, "max_per_turn") {
			return []string{"raise max_per_turn in [cost] of the config; another turn begins with all of it"}
		}
		return []string{"raise the budget in [cost] of the config, or wait until its day or month is over"}
	case len(e.Attempts) == 0:
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
