package terminal

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// told is an event with data.
func told(typ abi.EventType, data string) journal.Event {
	return journal.Event{Type: typ, Data: abi.Raw(data)}
}

func text(s string) journal.Event { return journal.Event{Type: abi.EventText, Text: s} }

func thought(s string) journal.Event { return journal.Event{Type: abi.EventReasoning, Text: s} }

func asked(candidate string) journal.Event {
	return told(journal.EventAttemptStarted, fmt.Sprintf(`{"number":1,"candidate":%q,"streaming":true}`, candidate))
}

// scenes are turns as the host stores them.
func scenes() map[string]struct {
	events  [][]journal.Event
	turn    journal.Turn
	locales []string
} {
	type scene = struct {
		events  [][]journal.Event
		turn    journal.Turn
		locales []string
	}
	failure := journal.TurnError{Class: abi.FailureTruncated, Message: "truncated: the connection was closed; 1 attempt: a/x truncated (200)"}
	return map[string]scene{
		"complete": {
			events: [][]journal.Event{{asked("a/x"), text("Hello ")}, {text("世界"), text("!\n")}, {told(abi.EventDone, `{}`)}},
			turn:   journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"untrusted": {
			events: [][]journal.Event{{asked("a/x"), text("a\x1b]0;ow")}, {text("ned\x07b\x1b[2Jc\r\x08d\ttab")}},
			turn:   journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"reasoning": {
			events: [][]journal.Event{{asked("a/x"), thought("Let me ")}, {thought("think.")}, {text("Yes.")}},
			turn:   journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"reasoning-alone": { // MRK-2: the marker alone is shown
			events: [][]journal.Event{{asked("a/x"), thought("Let me think")}},
			turn: journal.Turn{
				ID: "t_1", State: journal.Interrupted, Marker: "turn-stream-interrupted", Visible: true, Error: failure,
			},
		},
		"provider-tool": { // STR-7
			events: [][]journal.Event{{
				asked("a/x"), text("Looking."),
				told(abi.EventProviderTool, `{"type":"provider_tool","name":"web_search","text":"weather\nBonn"}`), text("Rain."),
			}},
			turn: journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"tools": {
			events: [][]journal.Event{{
				asked("a/x"), text("Let me look."),
				told(journal.EventToolStarted, `{"call":"1","name":"read_file","arguments":"{\"path\":\"notes.txt\"}","effect":"read"}`),
				told(journal.EventToolStarted, `{"call":"2","name":"list_dir","arguments":"{}","effect":"read"}`),
				told(journal.EventToolEnded, `{"call":"1","name":"read_file","state":"done","result":"text","ms":3}`),
				told(journal.EventToolEnded, `{"call":"2","name":"list_dir","state":"done","is_error":true,"result":"\n no such\u001b[2J directory\nx"}`),
			}, {
				told(journal.EventToolEnded, `{"call":"3","name":"reed_file","state":"refused","is_error":true,"reason":"invalid","result":"there is no tool"}`),
				told(journal.EventToolEnded, `{"call":"4","name":"shell","state":"cancelled","is_error":true}`),
				told(journal.EventToolEnded, `{"call":"5","name":"shell","state":"unknown","is_error":true}`),
				told(journal.EventToolEnded, `{"call":"6","name":"fetch_url","state":"done","is_error":true,"reason":"timeout"}`),
			}, {asked("a/x"), text("It says so.")}},
			turn: journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"approvals": {
			events: [][]journal.Event{{
				asked("a/x"), text("I will write."),
				told(journal.EventApprovalAsked, `{"call":"1","name":"write_file","arguments":"{}","effect":"write"}`),
				told(journal.EventApprovalAnswered, `{"call":"1","state":"denied","by":"x"}`),
				told(journal.EventToolEnded, `{"call":"1","name":"write_file","state":"refused","is_error":true,"reason":"denied"}`),
				told(journal.EventApprovalAsked, `{"call":"2","name":"shell","arguments":"{}","effect":"write"}`),
				told(journal.EventApprovalAnswered, `{"call":"2","state":"expired"}`),
				told(journal.EventToolEnded, `{"call":"2","name":"shell","state":"refused","is_error":true,"reason":"expired"}`),
				told(journal.EventToolEnded, `{"call":"3","name":"shell","state":"refused","is_error":true,"reason":"not approved"}`),
			}},
			turn: journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"compacted": {
			events: [][]journal.Event{{
				told(journal.EventCompacted, `{"turns":12,"from_bytes":100000,"to_bytes":900}`),
				told(journal.EventWarning, `{"code":"tools-missing","text":"mcp files does not answer"}`), asked("a/x"), text("Yes."),
			}},
			turn: journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"interrupted": { // REL-4: what was shown stays
			events: [][]journal.Event{{asked("a/x"), text("Half of")}, {told(journal.EventAttemptEnded, `{"outcome":"truncated"}`)}},
			turn: journal.Turn{
				ID: "t_1", State: journal.Interrupted, Marker: "turn-stream-interrupted", Visible: true, Candidate: "a/x", Error: failure,
			},
		},
		"interrupted-german": { // MRK-1
			events:  [][]journal.Event{{asked("a/x"), text("Die Hälfte")}},
			turn:    journal.Turn{ID: "t_1", State: journal.Interrupted, Marker: "turn-stream-interrupted", Visible: true, Error: failure},
			locales: []string{"de-AT", "en"},
		},
		"retried": { // REL-3, REL-11
			events: [][]journal.Event{
				{asked("a/x")},
				{told(journal.EventRetrying, `{"candidate":"a/x","after":"truncated"}`), asked("a/x"), text("Now.")},
			},
			turn: journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"fallback": { // CST-4
			events: [][]journal.Event{
				{asked("a/x")},
				{told(journal.EventFallingBack, `{"candidate":"b/y","after":"overloaded"}`), asked("b/y"), text("I am b.")},
				{told(journal.EventTurnEnded, `{"state":"complete","candidate":"b/y","fallback":true}`)},
			},
			turn: journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "b/y"},
		},
		"warning": { // STR-1
			events: [][]journal.Event{{asked("a/x"), text("Done."), told(journal.EventWarning, `{"code":"completion-signal-missing"}`)}},
			turn:   journal.Turn{ID: "t_1", State: journal.Complete, Candidate: "a/x"},
		},
		"incomplete": { // STR-5
			events: [][]journal.Event{{asked("a/x"), text("And then")}},
			turn:   journal.Turn{ID: "t_1", State: journal.Incomplete, Marker: "turn-incomplete-length", Visible: true, Candidate: "a/x"},
		},
		"failed": { // REL-12
			events: [][]journal.Event{{asked("a/x")}},
			turn: journal.Turn{ID: "t_1", State: journal.Failed, Marker: "turn-failed", Error: journal.TurnError{
				Class: abi.FailureAuth, Message: "auth: wrong \x1b[31mkey;\n1 attempt: a/x auth (401)",
			}},
		},
		"cancelled": {
			events: [][]journal.Event{{asked("a/x"), text("One, two")}},
			turn: journal.Turn{
				ID: "t_1", State: journal.Cancelled, Marker: "turn-interrupted-by-user", Visible: true, Candidate: "a/x",
				Error: journal.TurnError{Message: "stopped by the user; 1 attempt: a/x cancelled"},
			},
		},
	}
}

// TestRenderer compares what a person sees with the golden files: on a terminal
// with colours, on one without, and in a pipe. In the files \e is the escape
// character, and lines to stderr begin with "2> ".
func TestRenderer(t *testing.T) {
	t.Parallel()
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, kind := range []string{"colour", "terminal", "pipe"} {
				var out bytes.Buffer
				screen := &Screen{
					Out: &out, Err: prefixed{&out}, Terminal: kind != "pipe", Color: kind == "colour", ErrColor: kind == "colour",
				}
				r := NewRenderer(screen, s.locales, func(turn string) string { return "zchost why " + turn + " tells more" })
				for _, batch := range s.events {
					if err := r.Show(batch); err != nil {
						t.Fatal(err)
					}
				}
				if err := r.End(s.turn); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&got, "-- %s --\n%s", kind, visible(out.String()))
			}
			golden(t, filepath.Join("testdata", name+".golden"), got.String())
		})
	}
}

// prefixed marks what goes to stderr.
type prefixed struct{ to io.Writer }

func (p prefixed) Write(b []byte) (int, error) {
	_, err := io.WriteString(p.to, "2> "+string(b))
	return len(b), err
}

func visible(s string) string {
	return strings.NewReplacer("\x1b", `\e`, "\x07", `\a`, "\b", `\b`, "\r", `\r`).Replace(s)
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got (go test -update writes it again):\n%s", diff)
	}
}

// The status of a long wait is on a line of its own and leaves no trace.
func TestRendererWaiting(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := NewRenderer(&Screen{Out: &out, Err: &out, Terminal: true}, nil, nil)
	if err := r.Show([]journal.Event{asked("a/x")}); err != nil {
		t.Fatal(err)
	}
	r.Waiting(time.Second / 2)
	if out.Len() != 0 {
		t.Errorf("a short wait shows %q", out.String())
	}
	r.Waiting(1500 * time.Millisecond)
	r.Waiting(2 * time.Second)
	if err := r.Show([]journal.Event{text("Hi")}); err != nil {
		t.Fatal(err)
	}
	r.Waiting(9 * time.Second) // in the middle of a line there is no room
	want := "waiting for a/x, 1s; Ctrl-C stops\r\x1b[2Kwaiting for a/x, 2s; Ctrl-C stops\r\x1b[2KHi"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// While a tool runs, that is what is waited for; at a question nothing is shown
// beside it.
func TestRendererWaitingForTools(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	r := NewRenderer(&Screen{Out: &out, Err: &out, Terminal: true}, nil, nil)
	show := func(events ...journal.Event) {
		t.Helper()
		if err := r.Show(events); err != nil {
			t.Fatal(err)
		}
		r.Waiting(2 * time.Second)
		out.WriteString("|")
	}
	show(asked("a/x"), told(journal.EventToolStarted, `{"name":"one","arguments":"{}"}`), told(journal.EventToolStarted, `{"name":"two","arguments":"{}"}`))
	show(told(journal.EventToolEnded, `{"name":"one","state":"done"}`))
	show(told(journal.EventApprovalAsked, `{"call":"3","name":"three"}`))
	show(told(journal.EventApprovalAnswered, `{}`), told(journal.EventToolEnded, `{"name":"two","state":"done"}`))
	want := "· one\n· two\n2 tools run, 2s; Ctrl-C stops|" +
		clearLine + "two runs, 2s; Ctrl-C stops|" + clearLine + "|" + "waiting for a/x, 2s; Ctrl-C stops|"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// A summary adds up what is known, and unknown usage is not zero (CST-2).
func TestLister(t *testing.T) {
	t.Parallel()
	n := func(i int64) *int64 { return &i }
	attempts := []journal.Attempt{
		{Outcome: "truncated", UsageSource: journal.UsageUnknown},
		{Outcome: "server", Usage: abi.Usage{Input: n(5)}, UsageSource: journal.UsageReported},
		{Outcome: "complete", Usage: abi.Usage{Input: n(7), Output: n(2)}, UsageSource: journal.UsageReported, Price: n(1_500_000), Currency: "EUR"},
	}
	var out bytes.Buffer
	l := NewLister(&Screen{Out: &out}, func(string) ([]journal.Attempt, error) { return attempts, nil })
	if err := l.Show([]journal.Event{{N: 1, At: time.UnixMilli(1000), Type: abi.EventText, Text: "a\x1b[31m"}, told(journal.EventToolEnded, `{}`)}); err != nil {
		t.Fatal(err)
	}
	turn := journal.Turn{
		ID: "t_1", Session: "main", State: journal.Interrupted, Marker: "turn-stream-interrupted", Candidate: "b/y", Visible: true,
		Error: journal.TurnError{Class: abi.FailureTruncated, Message: "cut"},
	}
	if err := l.End(turn); err != nil {
		t.Fatal(err)
	}
	want := `{"n":1,"at":1000,"type":"text","text":"a\u001b[31m"}
{"n":0,"at":-62135596800000,"type":"tool_ended","data":{}}
{"type":"summary","turn":"t_1","session":"main","state":"interrupted","marker":"turn-stream-interrupted","text":"a\u001b[31m","candidate":"b/y","error":{"class":"truncated","message":"cut"},"attempts":3,"usage":{"input":12,"output":2},"usage_unknown":1,"cost":{"EUR":"0.0015"},"unpriced":2,"tool_calls":1,"exit_code":3}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	var s Summary
	if err := json.Unmarshal([]byte(strings.Split(out.String(), "\n")[2]), &s); err != nil || s.ExitCode != ExitInterrupted {
		t.Errorf("summary %+v, %v", s, err)
	}
}

// A status comes when it takes long, and goes without a trace; in a pipe there
// is none.
func TestStatus(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			terminal bool
			takes    time.Duration
			want     string
		}{
			"short":  {true, time.Second, ""},
			"long":   {true, 3 * time.Second, "starting" + clearLine},
			"a pipe": {false, 3 * time.Second, ""},
		} {
			var out bytes.Buffer
			done := (&Screen{Out: &out, Terminal: c.terminal}).Status("starting", 2*time.Second)
			<-time.After(c.takes)
			done()
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
}
