package protocols

import (
	"strings"
	"testing"

	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// A history that has become too long for the model is shortened by the model
// itself, once, and the question is asked again, whatever protocol says that it
// is too long (REL-7, C056).
func TestOverflowIsCompacted(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		t.Run(w.plugin(), func(t *testing.T) {
			t.Parallel()
			long := strings.Repeat("a long story ", 200)
			v := startVendor(t, w)
			v.plays("p",
				stream(w, w.streamed(say(long)).all()),
				w.problem(overflow),
				jsonScript(200, w.whole(say("they told a story"))),
				better(w))
			h := startHost(t, newHome(t, provider("p", v, 1, "")+agent("p", "p", "", "")))
			for _, question := range []string{"tell me", "and then?"} {
				s := ask(t, h, turn.Message{Session: "s", Agent: "p", Surface: "cli", Text: question})
				if s.err != nil || s.turn.State != journal.Complete {
					t.Fatalf("%s: %v, %s: %s", question, s.err, s.turn.State, s.turn.Error.Message)
				}
			}
			requests := v.asked("p")
			if len(requests) != 4 {
				t.Fatalf("%d requests, want 4", len(requests))
			}
			last := requests[3].body
			if strings.Contains(last, "a long story") || !strings.Contains(last, "they told a story") || !strings.Contains(last, "and then?") {
				t.Errorf("the last request has not the summary in place of the story: %s", last)
			}
			if err := strict(w, last); err != nil {
				t.Errorf("a strict server refuses it: %v\n%s", err, indented(last))
			}
		})
	}
}

// A fallback to another vendor has the answer attributed to it, with its own
// plugin in the ledger, and the first vendor's failure beside it (CST-1,
// CST-4).
func TestFallbackOverVendors(t *testing.T) {
	t.Parallel()
	all := wires()
	for i, w := range all {
		other := all[(i+1)%len(all)]
		t.Run(w.plugin()+" to "+other.plugin(), func(t *testing.T) {
			t.Parallel()
			from, to := startVendor(t, w), startVendor(t, other)
			from.plays("first", w.problem(noModel))
			to.plays("second", better(other))
			h := startHost(t, newHome(t, provider("a", from, 1, "")+agent("a", "first", `fallback = ["second"]`, "")+provider("b", to, 1, "")+agent("b", "second", "", "")))
			s := ask(t, h, turn.Message{Session: "s", Agent: "first", Surface: "cli", Text: "go"})
			if s.err != nil || s.turn.State != journal.Complete || s.text != "better now" || s.turn.Candidate != "b/second" || !s.turn.Fallback {
				t.Fatalf("%v, %s, %q by %s, fallback %v: %s", s.err, s.turn.State, s.text, s.turn.Candidate, s.turn.Fallback, s.turn.Error.Message)
			}
			o, attempts := outcomeOf(t, h, s)
			if o.ledger != "stream model_not_found; whole complete" || o.usage != "7/3" {
				t.Fatalf("attempts %q, usage %s", o.ledger, o.usage)
			}
			for k, plugin := range []string{w.plugin(), other.plugin()} {
				if !strings.HasPrefix(attempts[k].Fingerprint, plugin+"@") {
					t.Errorf("attempt %d has the fingerprint %s, want %s's", k+1, attempts[k].Fingerprint, plugin)
				}
			}
			if first := attempts[0]; first.Usage.Input != nil || first.UsageSource != journal.UsageUnknown || first.Price != nil {
				t.Errorf("a refused request has usage %+v, %s, price %v (CST-2)", first.Usage, first.UsageSource, first.Price)
			}
		})
	}
}
