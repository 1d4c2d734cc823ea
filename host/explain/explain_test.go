package explain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/explain"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

var update = flag.Bool("update", false, "write golden files") //nolint:gochecknoglobals // a flag

// Candidates of the stories.
const (
	first  = "openai/gpt-x"
	second = "local/llama"
)

// TestStories compares the explanation of each story, as text and as JSON.
func TestStories(t *testing.T) {
	t.Parallel()
	for name, s := range stories() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := explain.Explain(t.Context(), s, s.turn.ID)
			if err != nil {
				t.Fatal(err)
			}
			text := e.Text()
			line, _, _ := strings.Cut(text, "\n")
			if line != e.Summary || line == "" {
				t.Errorf("first line %q, summary %q", line, e.Summary)
			}
			golden(t, name+".txt", text)
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(e); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", b.String())
		})
	}
}

// toolStories are those in which tools were called.
func toolStories() map[string]*story {
	const read, write = abi.EffectRead, abi.EffectWrite
	return map[string]*story{
		// The issue's own case: an interruption at the second iteration.
		"tools-then-cut": begin("Tidy up").
			ask(first, journal.OutcomeComplete, usage(journal.UsageReported, 100, 20), price(1_250_000, "USD")).text("Let me look.").
			call("read_file", `{"path":"notes.txt"}`, read, journal.CallDone, result("a note\nand more", false)).
			call("write_file", `{"path":"new.txt","content":"x"}`, write, journal.CallDone, result("wrote 1 byte", false)).
			answered(journal.ApprovalApproved, "the person at the terminal").
			call("shell", `{"command":"rm -r old"}`, write, journal.CallRefused, reason("denied"), result("Not run: the person did not allow this call.", true)).
			answered(journal.ApprovalDenied, "the person at the terminal").
			ask(first, "truncated", iteration(2), usage(journal.UsageReported, 150, -1)).text("I have").
			decide("REL-4", "output was visible: nothing is asked again").
			end(turn.Ended{State: journal.Interrupted, Marker: "turn-stream-interrupted", Candidate: first, Class: "truncated", Error: "truncated: cut"}),
		"tools-fallback-cost": begin("hello").
			warn("tools-missing", "mcp files does not answer").
			ask(first, "overloaded", status(529, "busy")).
			decide("REL-3", "overloaded: provider_retries = 0 are used up").
			ask(second, journal.OutcomeComplete, usage(journal.UsageReported, 5, 6), price(300, "EUR")).
			call("weather", `{}`, abi.EffectNone, journal.CallDone, result("rain", false), func(c *journal.ToolCall) { c.Source = "plugin weather@1.0.0#1a2b3c4d" }).
			ask(second, journal.OutcomeComplete, iteration(2), usage(journal.UsageReported, 9, 9), price(700, "EUR")).text("It rains.").
			end(turn.Ended{State: journal.Complete, Candidate: second, Fallback: true}),
		// A crash between "the tool ran" and "its result is stored".
		"tools-restart": begin("Deploy").
			ask(first, journal.OutcomeComplete).text("Now.").
			call("shell", `{"command":"make deploy"}`, write, journal.CallUnknown, reason("the host stopped"), result("The host stopped while this tool ran.", true)).
			call("shell", `{"command":"make clean"}`, write, journal.CallRefused, reason("the host stopped"), result("Not run", true)).
			end(turn.Ended{State: journal.Interrupted, Marker: "turn-interrupted-by-restart"}),
		"tools-cancelled": begin("Deploy").
			ask(first, journal.OutcomeComplete).
			call("shell", `{"command":"make deploy"}`, write, journal.CallCancelled, result("[interrupted by user before this tool produced a result]", true)).
			end(turn.Ended{State: journal.Cancelled, Marker: "turn-interrupted-by-user"}),
		"tools-cancelled-asked": begin("Deploy").
			ask(first, journal.OutcomeComplete).
			call("shell", `{"command":"make deploy"}`, write, journal.CallRefused, reason("turn ended"), result("Not run", true)).
			answered(journal.ApprovalCancelled, "").
			end(turn.Ended{State: journal.Cancelled, Marker: "turn-interrupted-by-user"}),
		"tools-waiting": begin("Deploy").
			ask(first, journal.OutcomeComplete).
			call("shell", `{"command":"make deploy"}`, write, journal.CallRequested).
			answered(journal.ApprovalPending, ""),
		"tools-running": begin("Deploy").
			ask(first, journal.OutcomeComplete).
			call("read_file", `{}`, read, journal.CallRunning),
		"tools-limit": begin("Again and again").
			ask(first, journal.OutcomeComplete).
			call("reed_file", `{"path":"x"}`, "", journal.CallRefused, reason("invalid"), result("there is no tool reed_file", true), func(c *journal.ToolCall) { c.Source = "" }).
			call("fetch_url", `{"url":"http://x"}`, read, journal.CallDone, reason("timeout"), result("no answer in 60s", true)).
			call("shell", `{"command":"x"}`, write, journal.CallRefused, reason("expired"), result("Not run", true)).
			answered(journal.ApprovalExpired, "").
			decide("STR-6", "the model was asked 25 times (max_iterations)").
			end(turn.Ended{State: journal.Incomplete, Marker: "turn-incomplete-limit", Candidate: first}),
		"tools-repeated": begin("Again and again").
			ask(first, journal.OutcomeComplete).
			call("read_file", `{"path":"x"}`, read, journal.CallRefused, reason("repeated"), result("Not run: the same call was made too often.", true)).
			decide("STR-6", "the model made the same calls 5 times in a row").
			end(turn.Ended{State: journal.Incomplete, Marker: "turn-incomplete-limit", Candidate: first}),
		// CST-5
		"budget-turn": begin("hello").
			ask(first, journal.OutcomeComplete, usage(journal.UsageReported, 5, 6), price(2_000_000_000, "USD")).
			call("read_file", `{"path":"x"}`, read, journal.CallDone, result("x", false)).
			end(turn.Ended{
				State: journal.Failed, Marker: "turn-failed", Class: "budget",
				Error: "the budget max_per_turn = 2.00 USD is used up (2.00 USD spent): nothing was sent; raise it in [cost]",
			}),
		"budget": begin("hello").
			ask(first, journal.OutcomeComplete, usage(journal.UsageReported, 5, 6), price(2_000_000_000, "USD")).
			call("read_file", `{"path":"x"}`, read, journal.CallDone, result("x", false)).
			decide("CST-5", "openai/gpt-x is not asked: the budget max_per_day = 2.00 USD is used up").
			end(turn.Ended{
				State: journal.Failed, Marker: "turn-failed", Class: "budget",
				Error: "the budget max_per_day = 2.00 USD is used up (2.00 USD spent): nothing was sent; raise it in [cost], or wait",
			}),
		"failed-in-iteration-2": begin("hello").
			ask(first, journal.OutcomeComplete).
			call("write_file", `{"path":"x"}`, write, journal.CallDone, result("ok", false)).
			ask(first, "auth", iteration(2), status(401, "no")).
			decide("REL-7", "auth is not retried").
			end(turn.Ended{State: journal.Failed, Marker: "turn-failed", Class: "auth", Error: "auth: no"}),
		// GDR-2: what was done with it since.
		"asked-again": begin("hello").
			ask(first, "truncated").text("Half").
			end(turn.Ended{State: journal.Interrupted, Marker: "turn-stream-interrupted", Candidate: first}).
			change(func(s *story) { s.turn.Hidden, s.later = true, true }),
		"went-on": begin("hello").
			ask(first, "truncated").text("Half").
			end(turn.Ended{State: journal.Interrupted, Marker: "turn-stream-interrupted", Candidate: first}).
			change(func(s *story) { s.later = true }),
		"discarded": begin("hello").
			ask(first, "truncated").text("Half").
			end(turn.Ended{State: journal.Interrupted, Marker: "turn-stream-interrupted", Candidate: first}).
			change(func(s *story) {
				s.turn.Discarded, s.turn.After, s.turn.Relation = true, "t_before", journal.RelationContinue
			}),
	}
}

func stories() map[string]*story {
	all := plainStories()
	maps.Copy(all, toolStories())
	return all
}

func plainStories() map[string]*story {
	return map[string]*story{
		"queued":  begin("and then?").queue(),
		"running": begin("hello").ask(first, journal.OutcomeUnknown).text("Hel"),
		"complete": begin("Tell me\n a  joke").
			ask(first, journal.OutcomeComplete, usage(journal.UsageReported, 12, 34), func(a *journal.Attempt) {
				a.Served = "gpt-x-2026-01-01"
				cached := int64(8)
				a.Usage.CacheRead = &cached
			}).
			text("Why did the chicken cross the road?").
			end(turn.Ended{State: journal.Complete, Candidate: first}),
		// STR-1
		"complete-without-signal": begin("hello").
			ask(first, journal.OutcomeComplete, func(a *journal.Attempt) { a.Warning = "completion-signal-missing" }).
			text("hi").end(turn.Ended{State: journal.Complete, Candidate: first}),
		// REL-3, CST-4
		"fallback": begin("hello").
			ask(first, "rate_limited", status(429, "slow down")).
			decide("REL-3", "rate_limited before any output: the same candidate again, without streaming").
			ask(first, "rate_limited", status(429, "slow down"), waited(2*time.Second)).
			decide("REL-3", "rate_limited: provider_retries = 0 are used up").
			ask(second, journal.OutcomeComplete, usage(journal.UsageEstimated, 5, 6)).
			text("hi").
			end(turn.Ended{State: journal.Complete, Candidate: second, Fallback: true}),
		"fallback-after-auth": begin("hello").
			ask(first, "auth", status(401, "no")).
			decide("REL-7", "auth is not retried").
			ask(second, journal.OutcomeComplete).text("hi").
			end(turn.Ended{State: journal.Complete, Candidate: second, Fallback: true}),
		// REL-4
		"cut-after-output": begin("Tell me about Rome").
			ask(first, "truncated", usage(journal.UsageReported, 21, -1), func(a *journal.Attempt) {
				a.Message = "the answer ended without a finish reason"
			}).
			text("Rome is the capital").text(" of Italy and its…").
			decide("REL-4", "output was visible: nothing is asked again").
			end(turn.Ended{
				State: journal.Interrupted, Marker: "turn-stream-interrupted", Candidate: first, Class: "truncated",
				Error: "truncated: the answer ended without a finish reason; 1 attempt: openai/gpt-x truncated",
			}),
		// REL-5, MRK-2
		"only-reasoning": begin("hello").
			ask(first, "empty", usage(journal.UsageReported, 3, 900)).
			reasoning("Let me think about it").
			decide("REL-5", "no text, but other output was visible: nothing is asked again").
			end(turn.Ended{State: journal.Interrupted, Marker: "turn-failed", Candidate: first, Class: "empty", Error: "empty: the model gave no answer"}),
		// REL-12
		"failed": begin(strings.Repeat("a long message ", 50)).
			ask(first, "auth", status(401, "Incorrect API key provided")).
			decide("REL-7", "auth is not retried").
			ask(second, "network", status(0, "connect: connection refused"), func(a *journal.Attempt) { a.KeyLabel = "" }).
			decide("REL-3", "network: provider_retries = 0 are used up").
			end(turn.Ended{
				State: journal.Failed, Marker: "turn-failed", Class: "auth",
				Error: "auth: Incorrect API key provided; 2 attempts: openai/gpt-x auth (401), local/llama network",
			}),
		// REL-6
		"failed-with-wait": begin("hello").
			ask(first, "rate_limited", status(429, "come back later"), func(a *journal.Attempt) { a.Code = "rate_limit_exceeded" }).
			decide("REL-6", "the provider asks to wait 5m0s, longer than retry_after_max = 1m0s").
			end(turn.Ended{State: journal.Failed, Marker: "turn-failed", Class: "rate_limited", Error: "rate_limited: come back later; 1 attempt", WaitMS: 300_000}),
		"failed-unasked": begin("hello").end(turn.Ended{
			State: journal.Failed, Marker: "turn-failed", Class: "unknown", Error: "load plugin \"x\": there is no such plugin",
		}),
		// STR-5
		"incomplete": begin("hello").
			ask(first, "incomplete", usage(journal.UsageReported, 3, 4)).text("half an ans").
			decide("STR-5", "the provider ended the answer early: length").
			end(turn.Ended{State: journal.Incomplete, Marker: "turn-incomplete-length", Candidate: first}),
		// STR-9
		"cancelled": begin("hello").
			ask(first, journal.OutcomeCancelled).text("hi th").
			decide("REL-7", "cancelled: nothing is asked again").
			end(turn.Ended{State: journal.Cancelled, Marker: "turn-interrupted-by-user", Candidate: first}),
		"cancelled-unasked": begin("hello").end(turn.Ended{State: journal.Cancelled, Marker: "turn-cancelled-client-rpc"}),
		// CST-1: a crash leaves the attempt unknown
		"restart": begin("hello").
			ask(first, "server", status(500, "")).
			decide("REL-3", "server before any output: the same candidate again, without streaming").
			ask(first, journal.OutcomeUnknown).text("some words").
			end(turn.Ended{State: journal.Interrupted, Marker: "turn-interrupted-by-restart"}),
		"restart-unasked": begin("hello").end(turn.Ended{State: journal.Interrupted, Marker: "turn-interrupted-by-restart"}),
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it):\n%s", path, diff)
	}
}

// TestAdvice: there is something to do about every class of failure.
func TestAdvice(t *testing.T) {
	t.Parallel()
	for _, class := range []abi.FailureClass{
		abi.FailureOverloaded, abi.FailureRateLimited, abi.FailureServer, abi.FailureTimeout, abi.FailureNetwork,
		abi.FailureTruncated, abi.FailureAuth, abi.FailureQuota, abi.FailureInvalidRequest, abi.FailureContextOverflow,
		abi.FailureContentFiltered, abi.FailureModelNotFound, abi.FailurePlugin, abi.FailureUnknown, "empty",
	} {
		s := begin("hello").ask(first, string(class)).ask(first, string(class)).ask(second, string(class)).
			end(turn.Ended{State: journal.Failed, Marker: "turn-failed", Class: string(class)})
		e, err := explain.Explain(t.Context(), s, s.turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Next) < 2 || len(e.Next) > 3 {
			t.Errorf("%s: %q", class, e.Next)
		}
	}
}

// TestAbandoned: nobody is told to wait for a turn whose host was killed.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	running := begin("hello").ask(first, journal.OutcomeComplete).call("shell", `{}`, abi.EffectWrite, journal.CallRunning)
	queued := begin("hello")
	queued.turn.State = journal.Queued
	ended := begin("hello").ask(first, journal.OutcomeComplete).end(turn.Ended{State: journal.Complete, Candidate: first})
	for _, s := range []*story{running, queued, ended} {
		e, err := explain.Explain(t.Context(), s, s.turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		before := e.Summary
		e.Abandoned()
		told := strings.Join(e.Next, " ")
		if s == ended {
			if e.Summary != before {
				t.Errorf("ended: %s", e.Summary)
			}
			continue
		}
		if !strings.HasPrefix(e.Summary, "left behind") || !strings.Contains(told, "settles the turn") || strings.Contains(told, "wait for") {
			t.Errorf("%s: %q", e.Summary, told)
		}
	}
}

// TestLongTurn reads more events than a page holds.
func TestLongTurn(t *testing.T) {
	t.Parallel()
	s := begin("hello").ask(first, journal.OutcomeComplete)
	for range 4000 {
		s.text("é")
	}
	s.end(turn.Ended{State: journal.Complete, Candidate: first})
	e, err := explain.Explain(t.Context(), s, s.turn.ID)
	if err != nil || e.Seen.Text != 4000 || e.Attempts[0].Seen.Text != 4000 {
		t.Errorf("seen %v, error %v", e.Seen, err)
	}
}

// TestForeignEvents: what another version wrote is left out, not an error.
func TestForeignEvents(t *testing.T) {
	t.Parallel()
	s := begin("hello")
	s.add(journal.Event{Type: journal.EventDecision, Data: abi.Raw(`[1]`)}).
		add(journal.Event{Type: journal.EventDecision}).
		add(journal.Event{Type: "later", Data: abi.Raw(`{}`)}).
		add(journal.Event{Type: journal.EventTurnEnded, Data: abi.Raw(`"x"`)})
	s.turn.State = "new-state"
	e, err := explain.Explain(t.Context(), s, s.turn.ID)
	if err != nil || len(e.Decisions) != 0 || e.Summary != "new-state" {
		t.Errorf("%+v, error %v", e, err)
	}
}

// TestNotFound: the caller can tell that there is no such turn.
func TestNotFound(t *testing.T) {
	t.Parallel()
	if _, err := explain.Explain(t.Context(), begin(""), "t_other"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}
