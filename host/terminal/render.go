package terminal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
)

// View shows a turn to somebody: as text (Renderer) or as JSON (Lister).
type View interface {
	// Show shows the next events.
	Show(events []journal.Event) error
	// Waiting is called while nothing happens.
	Waiting(since time.Duration)
	// Notice tells something that is not about the answer.
	Notice(text string) error
	// End shows how the turn ended.
	End(t journal.Turn) error
}

// Renderer shows a turn as text. Answer and marker go to the screen's Out, all
// else to Err; to something that is not a terminal the answer goes as it is,
// byte for byte, and only what a person must know beside it is told.
type Renderer struct {
	screen  *Screen
	locales []string
	// more says how to see more of a turn.
	more func(turn string) string

	out    []byte
	clean  Cleaner
	part   abi.EventType // of the output shown last
	inLine bool          // the cursor is not at the start of a line
	status bool          // the cursor's line holds a status
	asked  string        // the candidate of the last attempt
	fell   bool          // the answer is not the first candidate's

	question string   // the call that a person is being asked about
	running  []string // the tools that run
}

// NewRenderer returns a renderer for one turn. Markers are in the first of the
// locales that zchost speaks: the agent's, then the reader's. more says how to
// see more of a turn that went wrong.
func NewRenderer(s *Screen, locales []string, more func(turn string) string) *Renderer {
	return &Renderer{screen: s, locales: locales, more: more}
}

// notice is what a person is told of the events that are not output. The host
// writes these fields as the data of its own events (host/reliability,
// host/turn).
type notice struct {
	Candidate string `json:"candidate"`
	Code      string `json:"code"`
	Text      string `json:"text"`
	After     string `json:"after"`
	Fallback  bool   `json:"fallback"`
}

// Show shows the next events.
func (r *Renderer) Show(events []journal.Event) error {
	for i := range events {
		if err := r.show(&events[i]); err != nil {
			return err
		}
	}
	return r.flush()
}

func (r *Renderer) show(e *journal.Event) error {
	switch e.Type {
	case abi.EventText:
		r.output(e.Type, e.Text)
	case abi.EventReasoning:
		if r.screen.Terminal {
			r.output(e.Type, e.Text)
		}
	case abi.EventProviderTool:
		return r.providerTool(e.Data)
	case journal.EventAttemptStarted, journal.EventRetrying, journal.EventFallingBack,
		journal.EventWarning, journal.EventTurnEnded:
		return r.tell(e)
	case journal.EventToolStarted, journal.EventToolEnded, journal.EventApprovalAsked, journal.EventApprovalAnswered:
		return r.tool(e)
	case journal.EventCompacted:
		return r.compacted(e)
	case abi.EventMeta, abi.EventToolCall, abi.EventUsage, abi.EventFinish, abi.EventDone, abi.EventFailure,
		journal.EventTurnStarted, journal.EventAttemptEnded, journal.EventDecision:
	}
	return nil
}

// output adds a piece of text or reasoning.
func (r *Renderer) output(part abi.EventType, text string) {
	if text == "" {
		return
	}
	if !r.screen.Terminal {
		r.out = append(r.out, text...)
		r.part, r.inLine = part, !strings.HasSuffix(text, "\n")
		return
	}
	r.clearStatus()
	if part != r.part {
		r.begin(part)
	}
	start := len(r.out)
	if r.part == abi.EventReasoning && r.screen.Color {
		r.out = append(r.out, "\x1b["+string(dim)+"m"...)
		start = len(r.out)
	}
	r.out = r.clean.Append(r.out, text)
	if len(r.out) > start {
		r.inLine = r.out[len(r.out)-1] != '\n'
	}
	if r.part == abi.EventReasoning && r.screen.Color {
		r.out = append(r.out, "\x1b[0m"...)
	}
}

// begin heads a part when the answer has more than text.
func (r *Renderer) begin(part abi.EventType) {
	first := r.part == ""
	r.newLine()
	r.clean = Cleaner{}
	switch {
	case part == abi.EventReasoning:
		r.out = append(r.out, paint(r.screen.Color, dim, "[thinking]")+"\n"...)
	case !first:
		r.out = append(r.out, paint(r.screen.Color, dim, "[answer]")+"\n"...)
	}
	r.part, r.inLine = part, false
}

// providerTool shows what the provider itself has run (STR-7).
func (r *Renderer) providerTool(data abi.Raw) error {
	var e abi.Event
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("decode provider_tool event: %w", err)
	}
	r.clearStatus()
	r.newLine()
	line := "[" + strings.TrimSpace(e.Name+" "+oneLine(e.Text)) + "]"
	if r.screen.Terminal {
		line = paint(r.screen.Color, dim, Clean(line))
	}
	r.out = append(r.out, line+"\n"...)
	r.part = abi.EventProviderTool
	return nil
}

// tell shows an event of the host's own.
func (r *Renderer) tell(e *journal.Event) error {
	var n notice
	if err := json.Unmarshal(e.Data, &n); err != nil {
		return fmt.Errorf("decode %s event: %w", e.Type, err)
	}
	switch e.Type {
	case journal.EventAttemptStarted:
		r.asked = n.Candidate
	case journal.EventTurnEnded:
		r.fell = n.Fallback
	case journal.EventWarning:
		return r.Notice("warning: " + warningText(n.Code, n.Text))
	case journal.EventRetrying:
		if r.screen.Terminal {
			return r.Notice(fmt.Sprintf("%s failed (%s); asking it again", n.Candidate, n.After))
		}
	case journal.EventFallingBack:
		if r.screen.Terminal {
			return r.Notice(fmt.Sprintf("%s failed (%s); asking %s", r.asked, n.After, n.Candidate))
		}
	default:
	}
	return nil
}

// warningText explains the warnings of an attempt.
func warningText(code, text string) string {
	switch {
	case code == "completion-signal-missing":
		return code + ": the provider did not say that its answer was complete"
	case text != "" && code != "":
		return code + ": " + text
	}
	return code + text
}

// Notice tells something beside the answer.
func (r *Renderer) Notice(text string) error {
	r.clearStatus()
	r.newLine()
	if err := r.flush(); err != nil {
		return err
	}
	if r.screen.Terminal {
		return r.screen.Say(text)
	}
	return r.screen.Note(text)
}

// Waiting shows on a terminal that the turn is still going on.
func (r *Renderer) Waiting(since time.Duration) {
	if !r.screen.Terminal || r.inLine || r.question != "" || since < time.Second {
		return
	}
	r.clearStatus()
	what := "waiting for " + cmp.Or(r.asked, "its turn")
	switch n := len(r.running); {
	case n == 1:
		what = r.running[0] + " runs"
	case n > 1:
		what = fmt.Sprintf("%d tools run", n)
	}
	status := fmt.Sprintf("%s, %s; Ctrl-C stops", Clean(what), since.Truncate(time.Second))
	r.out = append(r.out, paint(r.screen.Color, dim, status)...)
	r.status = true
	_ = r.flush() // a status that cannot be shown is not missed
}

// End shows the marker, whose answer it is, and what went wrong.
func (r *Renderer) End(t journal.Turn) error {
	r.clearStatus()
	r.newLine()
	if t.Marker != "" {
		m := marker.Render(marker.Code(t.Marker), r.locales...)
		if r.screen.Terminal {
			m = paint(r.screen.Color, yellow, Clean(m))
		}
		r.out = append(r.out, m+"\n"...)
	}
	if err := r.flush(); err != nil {
		return err
	}
	if r.fell && t.Candidate != "" {
		if err := r.screen.Say(marker.AnsweredBy(t.Candidate, r.locales...)); err != nil {
			return err
		}
	}
	if t.Error.Class == "" && t.Error.Message == "" || t.State == journal.Cancelled {
		return nil
	}
	return r.screen.Complain(failureText(t.Error), r.more(t.ID))
}

// failureText joins class and message, unless the message names its class.
func failureText(e journal.TurnError) string {
	class := string(e.Class)
	switch {
	case e.Message == "":
		return class
	case class == "" || strings.HasPrefix(e.Message, class):
		return e.Message
	}
	return class + ": " + e.Message
}

func (r *Renderer) newLine() {
	if r.inLine {
		r.out = append(r.out, '\n')
		r.inLine = false
	}
}

func (r *Renderer) clearStatus() {
	if r.status {
		r.out = append(r.out, clearLine...)
		r.status = false
	}
}

func (r *Renderer) flush() error {
	if len(r.out) == 0 {
		return nil
	}
	_, err := r.screen.Out.Write(r.out)
	r.out = r.out[:0]
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
