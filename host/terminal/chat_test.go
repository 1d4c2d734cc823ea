package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
)

// fakeHost answers each message by what it says: "ok", "cut", "fail", "length",
// "refuse"; "hang" goes on until it is cancelled, "deaf" for ever.
type fakeHost struct {
	mu        sync.Mutex
	sent      []Message
	turns     map[string]*fakeTurn
	streaming chan string // gets the id of a turn that hangs
	answers   []string    // what Answer was given
	effects   []journal.ToolCall
	discarded []string
}

type fakeTurn struct {
	message Message
	events  []journal.Event
	end     journal.Turn
	stop    chan struct{} // closed when it is cancelled; nil if it does not wait
	// approval says that the turn waits for an answer, and not for its end.
	approval bool
	after    []journal.Event
}

func newFakeHost() *fakeHost {
	return &fakeHost{turns: map[string]*fakeTurn{}, streaming: make(chan string, 10)}
}

func (h *fakeHost) Send(_ context.Context, m Message) (journal.Turn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.Text == "refuse" {
		return journal.Turn{}, errors.New("the disk is full")
	}
	h.sent = append(h.sent, m)
	id := fmt.Sprintf("t_%d", len(h.sent))
	t := &fakeTurn{message: m, events: []journal.Event{asked("a/x"), text("answer to " + m.Text)}}
	t.end = journal.Turn{ID: id, Session: m.Session, State: journal.Complete, Candidate: "a/x", Visible: true}
	switch m.Text {
	case "cut":
		t.end.State, t.end.Marker = journal.Interrupted, "turn-stream-interrupted"
		t.end.Error = journal.TurnError{Class: abi.FailureTruncated, Message: "cut"}
	case "fail":
		t.events, t.end.Visible = t.events[:1], false
		t.end.State, t.end.Marker = journal.Failed, "turn-failed"
		t.end.Error = journal.TurnError{Class: abi.FailureAuth, Message: "bad key"}
	case "length":
		t.end.State, t.end.Marker = journal.Incomplete, "turn-incomplete-length"
	case "budget":
		t.events, t.end.Visible = t.events[:1], false
		t.end.State, t.end.Marker = journal.Failed, "turn-failed"
		t.end.Error = journal.TurnError{Class: "budget", Message: "used up"}
	case "write", "expire":
		t.approval = m.CanApprove
		t.events = append(t.events, toolEvents(m)...)
		if m.CanApprove {
			t.stop = make(chan struct{})
		}
	case "hang", "deaf":
		t.end.State, t.end.Marker = journal.Cancelled, "turn-interrupted-by-user"
		t.stop = make(chan struct{})
	}
	h.turns[id] = t
	return journal.Turn{ID: id, State: journal.Running}, nil
}

func (h *fakeHost) Events(_ context.Context, turn string, _ int64) (Events, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &fakeEvents{host: h, id: turn, turn: h.turns[turn]}, nil
}

func (h *fakeHost) Cancel(turn string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.turns[turn]
	switch t.message.Text {
	case "hang":
		close(t.stop)
	case "write":
		t.after = []journal.Event{told(journal.EventApprovalAnswered, `{"call":"c1","state":"cancelled"}`)}
		t.end.State, t.end.Marker = journal.Cancelled, "turn-interrupted-by-user"
		close(t.stop)
	default:
		h.streaming <- turn
	}
	return true
}

func (h *fakeHost) End(turn string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.turns[turn]
	if t.message.Text == "hang" {
		t.end.State, t.end.Marker = journal.Interrupted, "turn-interrupted-by-restart"
		close(t.stop)
	}
	return true
}

func (h *fakeHost) Wait(_ context.Context, turn string) (journal.Turn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.turns[turn].end, nil
}

type fakeEvents struct {
	host *fakeHost
	id   string
	turn *fakeTurn
	at   int
}

func (e *fakeEvents) Next(ctx context.Context) ([]journal.Event, error) {
	if e.at < len(e.turn.events) {
		e.at++
		return e.turn.events[e.at-1 : e.at], nil
	}
	if e.turn.stop != nil {
		if e.at == len(e.turn.events) && !e.turn.approval {
			e.at++
			e.host.streaming <- e.id
		}
		select {
		case <-e.turn.stop:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if e.turn.approval {
		e.turn.stop, e.turn.approval = nil, false
		return e.turn.after, nil
	}
	return nil, io.EOF
}

// script gives lines; "^C" is an interrupt at the prompt.
type script struct{ lines []string }

func (s *script) Next(ctx context.Context) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if len(s.lines) == 0 {
		return "", io.EOF
	}
	l := s.lines[0]
	s.lines = s.lines[1:]
	if l == "^C" {
		return "", ErrInterrupt
	}
	return l, nil
}

func (*script) Answering() func() { return func() {} }
func (*script) Close() error      { return nil }

type session struct {
	chat       *Chat
	host       *fakeHost
	out, err   bytes.Buffer
	interrupts chan os.Signal
}

func setup(piped bool, lines ...string) *session {
	s := &session{host: newFakeHost(), interrupts: make(chan os.Signal, 2)}
	s.chat = &Chat{
		Talk:    &Talk{Host: s.host, Interrupts: s.interrupts},
		Screen:  &Screen{Out: &s.out, Err: &s.err, Terminal: !piped},
		Lines:   &script{lines},
		Session: "main", Piped: piped,
		Commands: []Command{{Name: "/why", Run: func(_ context.Context, args, last string) error {
			if args == "bad" {
				return errors.New("no such turn")
			}
			_, err := fmt.Fprintf(&s.out, "why %s%s\n", args, last)
			return err
		}}, {Name: "/demo"}},
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	}
	return s
}

func (s *session) texts() []string {
	var texts []string
	for _, m := range s.host.sent {
		texts = append(texts, m.Session+": "+m.Text)
	}
	return texts
}

func TestPipedChatIsATurnALine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		code  int
		sent  int
	}{
		"complete":                         {[]string{"ok", "", "ok"}, ExitOK, 2},
		"interrupted":                      {[]string{"ok", "cut", "ok"}, ExitInterrupted, 3},
		"incomplete":                       {[]string{"length", "ok"}, ExitIncomplete, 2},
		"failed is worse than interrupted": {[]string{"cut", "fail", "length"}, ExitFailed, 3},
		"an unknown command sends nothing": {[]string{"ok", "/nonsense", "ok"}, ExitUsage, 2},
		"a budget":                         {[]string{"ok", "budget", "cut"}, ExitBudget, 3},
		"interrupted at the prompt":        {[]string{"ok", "^C", "ok"}, ExitCancelled, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(true, c.lines...)
			code, err := s.chat.Run(t.Context())
			if err != nil || code != c.code || len(s.host.sent) != c.sent {
				t.Errorf("code %d, %d turns, %v; want %d, %d\n%s", code, len(s.host.sent), err, c.code, c.sent, s.err.String())
			}
		})
	}
}

func TestPipedOutputIsPlain(t *testing.T) {
	t.Parallel()
	s := setup(true, "ok", "cut")
	if _, err := s.chat.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("answer to ok\nanswer to cut\n[stream interrupted]\n", s.out.String()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("zchost: truncated: cut (/why tells more; /continue goes on, /retry asks again)\n", s.err.String()); diff != "" {
		t.Error(diff)
	}
}

// A message that is not accepted is told, and the next one is sent.
func TestRefusedMessage(t *testing.T) {
	t.Parallel()
	for _, piped := range []bool{true, false} {
		s := setup(piped, "refuse", "ok")
		want := ExitOK // a person has seen it
		if piped {
			want = ExitUsage
		}
		if code, err := s.chat.Run(t.Context()); err != nil || code != want || len(s.host.sent) != 1 {
			t.Errorf("piped %t: code %d, %v, %d turns", piped, code, err, len(s.host.sent))
		}
		if !strings.Contains(s.err.String(), "the disk is full") {
			t.Errorf("stderr: %q", s.err.String())
		}
	}
}

func TestSlashCommands(t *testing.T) {
	t.Parallel()
	s := setup(false, "ok", "/why", "/why bad", "/demo cut", "//usr/bin", "/ok", "/new", "ok", "/new work", "/why x", "ok", "/help", "/quit", "ok")
	if _, err := s.chat.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"main: ok", "main: /demo cut", "main: /usr/bin", "chat-20260102-030405: ok", "work: ok"}
	if diff := cmp.Diff(want, s.texts()); diff != "" {
		t.Errorf("sent: %s", diff)
	}
	for _, part := range []string{"why t_1\n", "why x\n", "/new [KEY]      go on in a new session"} {
		if !strings.Contains(s.out.String(), part) {
			t.Errorf("stdout has no %q:\n%s", part, s.out.String())
		}
	}
	for _, part := range []string{"no such turn", "there is no command /ok, and nothing was sent", "now in session work"} {
		if !strings.Contains(s.err.String(), part) {
			t.Errorf("stderr has no %q:\n%s", part, s.err.String())
		}
	}
}

func TestCtrlCStopsTheTurn(t *testing.T) {
	t.Parallel()
	s := setup(false, "hang", "ok")
	go func() {
		<-s.host.streaming
		s.interrupts <- os.Interrupt
	}()
	if code, err := s.chat.Run(t.Context()); err != nil || code != ExitOK {
		t.Errorf("code %d, %v", code, err)
	}
	if diff := cmp.Diff([]string{"main: hang", "main: ok"}, s.texts()); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(s.out.String(), "answer to hang\n[interrupted by user]\n") {
		t.Errorf("stdout: %q", s.out.String())
	}
}

func TestCtrlCTwiceLeaves(t *testing.T) {
	t.Parallel()
	s := setup(false, "deaf", "ok")
	go func() {
		<-s.host.streaming
		s.interrupts <- os.Interrupt
		<-s.host.streaming
		s.interrupts <- os.Interrupt
	}()
	if _, err := s.chat.Run(t.Context()); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"main: deaf"}, s.texts()); diff != "" {
		t.Error(diff)
	}
}

func TestCtrlCInAPipeEndsTheChat(t *testing.T) {
	t.Parallel()
	s := setup(true, "hang", "ok")
	go func() {
		<-s.host.streaming
		s.interrupts <- os.Interrupt
	}()
	code, err := s.chat.Run(t.Context())
	if err != nil || code != ExitCancelled || len(s.host.sent) != 1 {
		t.Errorf("code %d, %d turns, %v", code, len(s.host.sent), err)
	}
}

func TestCtrlCAtThePrompt(t *testing.T) {
	t.Parallel()
	s := setup(false, "^C", "ok", "^C", "^C", "ok")
	if _, err := s.chat.Run(t.Context()); err != nil || len(s.host.sent) != 1 {
		t.Errorf("%d turns, %v", len(s.host.sent), err)
	}
}

// A signal that came between two turns does not stop the next one.
func TestStaleInterrupt(t *testing.T) {
	t.Parallel()
	s := setup(false, "ok")
	s.interrupts <- os.Interrupt
	if _, err := s.chat.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.out.String(), "interrupted") {
		t.Errorf("stdout: %q", s.out.String())
	}
}

// A process that is told to end shows how its turn ended, and leaves (SNK-4).
func TestTerminationShowsTheEnd(t *testing.T) {
	t.Parallel()
	s := setup(true, "hang", "ok")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.host.streaming
		cancel()
	}()
	code, err := s.chat.Run(ctx)
	if err != nil || code != ExitInterrupted || len(s.host.sent) != 1 {
		t.Errorf("code %d, %d turns, %v", code, len(s.host.sent), err)
	}
	if diff := cmp.Diff("answer to hang\n[interrupted by restart]\n", s.out.String()); diff != "" {
		t.Error(diff)
	}
}

// A turn that does not settle is left after a while, or at Ctrl-C.
func TestTerminationLeaves(t *testing.T) {
	t.Parallel()
	for _, interrupt := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := setup(true, "deaf", "ok")
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-s.host.streaming
				cancel()
				if interrupt {
					synctest.Wait()
					s.interrupts <- os.Interrupt
				}
			}()
			start := time.Now()
			code, err := s.chat.Run(ctx)
			if err != nil || code != ExitCancelled || len(s.host.sent) != 1 {
				t.Errorf("code %d, %d turns, %v", code, len(s.host.sent), err)
			}
			want := settleTime
			if interrupt {
				want = 0
			}
			if got := time.Since(start); got != want {
				t.Errorf("left after %s, want %s", got, want)
			}
		})
	}
}

// A journal that cannot be written is told once, and again when the cause is
// another one.
func TestWaitingForTheJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(true, "deaf")
		s.chat.Talk.Tick = time.Second
		start := time.Now()
		s.chat.Talk.Health = func() error {
			switch since := time.Since(start); {
			case since < 5*time.Second:
				return errors.New("write journal: disk full")
			case since < 8*time.Second:
				return nil
			}
			return errors.New("write journal: read-only")
		}
		go func() {
			<-s.host.streaming
			<-time.After(10*time.Second + time.Millisecond)
			s.interrupts <- os.Interrupt
			<-s.host.streaming
			s.interrupts <- os.Interrupt
		}()
		if code, err := s.chat.Run(t.Context()); err != nil || code != ExitCancelled {
			t.Errorf("code %d, %v", code, err)
		}
		want := "zchost: write journal: disk full; waiting; Ctrl-C twice leaves\n" +
			"zchost: write journal: read-only; waiting; Ctrl-C twice leaves\n"
		if diff := cmp.Diff(want, s.err.String()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turn journal.Turn
		want int
	}{
		{journal.Turn{State: journal.Complete}, ExitOK},
		{journal.Turn{State: journal.Failed}, ExitFailed},
		{journal.Turn{State: journal.Failed, Visible: true}, ExitInterrupted},
		{journal.Turn{State: journal.Interrupted, Visible: true}, ExitInterrupted},
		{journal.Turn{State: journal.Cancelled}, ExitCancelled},
		{journal.Turn{State: journal.Incomplete}, ExitIncomplete},
		{journal.Turn{State: journal.Failed, Error: journal.TurnError{Class: "budget"}}, ExitBudget}, // CST-5
		{journal.Turn{State: journal.Failed, Visible: true, Error: journal.TurnError{Class: "budget"}}, ExitBudget},
	} {
		if got := ExitCode(c.turn); got != c.want {
			t.Errorf("%+v: %d, want %d", c.turn, got, c.want)
		}
	}
}

func TestBrokenPipeDropsOutput(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	p := &Pipe{to: w}
	for range 2 {
		if n, err := io.WriteString(p, "text"); n != 4 || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if !p.Broken() {
		t.Error("the pipe is not known to be broken")
	}
}

// That a reader went away is no error; that a disk is full is one.
func TestOutError(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	for _, c := range []struct {
		to   io.Writer
		want error
	}{{w, nil}, {failing{full}, full}, {io.Discard, nil}} {
		s := &Screen{Out: &Pipe{to: c.to}}
		if _, err := io.WriteString(s.Out, "text"); err != nil {
			t.Error(err)
		}
		if got := s.OutError(); !errors.Is(got, c.want) {
			t.Errorf("OutError = %v, want %v", got, c.want)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestTable(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	table := NewTable("NAME", ">N", "TEXT")
	table.Add("世界", "7", "two\nlines")
	table.Add("a", "1000", "\x1b[31mred")
	if err := table.Write(&Screen{Out: &out}); err != nil {
		t.Fatal(err)
	}
	want := "NAME     N  TEXT\n世界     7  two lines\na     1000  red\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if got := Shorten("世界世界", 5); got != "世界…" {
		t.Errorf("Shorten = %q", got)
	}
}

func TestFailTellsALineForEach(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &Screen{Err: &out}
	err := errors.Join(errors.New("one\ntwo"), fmt.Errorf("three: %w", errors.Join(errors.New("four"), errors.New("five"))))
	if err := s.Fail(err); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("zchost: one two\nzchost: three: four five\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestScreenObeysEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  []string
		want []string
	}{
		{[]string{"LANG=de_DE.UTF-8"}, []string{"de-DE"}},
		{[]string{"LANG=de_DE.UTF-8", "LC_ALL=fr_FR@euro"}, []string{"fr-FR"}},
		{[]string{"LANG=de_DE", "LANGUAGE=pt_BR:es"}, []string{"pt-BR", "es", "de-DE"}},
		{[]string{"LANG=C.UTF-8"}, nil},
		{[]string{"LC_ALL=C", "LANGUAGE=de"}, nil},
	} {
		if diff := cmp.Diff(c.want, locales(environ(c.env))); diff != "" {
			t.Errorf("%v: %s", c.env, diff)
		}
	}
}

// gap is a terminal at which the second Ctrl-C is pressed before the editor has
// taken the terminal again: it comes as a signal, and the line never does.
type gap struct {
	script
	interrupts chan<- os.Signal
}

func (g *gap) Next(ctx context.Context) (string, error) {
	if len(g.lines) > 0 {
		return g.script.Next(ctx)
	}
	g.interrupts <- os.Interrupt
	<-ctx.Done()
	return "", context.Cause(ctx)
}

func TestSecondCtrlCBetweenTwoPrompts(t *testing.T) {
	t.Parallel()
	s := setup(false)
	s.chat.Lines = &gap{script{[]string{"^C"}}, s.interrupts}
	if code, err := s.chat.Run(t.Context()); code != ExitOK || err != nil {
		t.Errorf("code %d, %v", code, err)
	}
}
