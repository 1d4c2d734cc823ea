//go:build failpoints

package crashtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// childHome is the variable that makes this test binary the host under test:
// it names the home. childTalk says which messages the host gets.
const (
	childHome = "ZCHOST_CRASH_HOME"
	childTalk = "ZCHOST_CRASH_TALK"
)

// The talks.
const (
	talkNone  = "none"
	talkAll   = "all"   // everything that can be crashed in
	talkAfter = "after" // each session with tools goes on, or gets one more message
)

// said is a line that the child prints: a turn that was accepted, or an event
// that a reader got.
type said struct {
	Turn     string         `json:"turn"`
	Text     string         `json:"text,omitempty"`
	Accepted bool           `json:"accepted,omitempty"`
	Event    *journal.Event `json:"event,omitempty"`
}

func TestMain(m *testing.M) {
	if home := os.Getenv(childHome); home != "" {
		if err := child(home); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts a host, runs the messages, and closes it.
func child(home string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	talk := os.Getenv(childTalk)
	h, err := host.Start(ctx, host.Options{Home: home, Env: os.Environ(), Version: talk})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Shutdown()) }()
	out := &printer{to: json.NewEncoder(os.Stdout)}
	var all sync.WaitGroup
	for _, m := range messages(talk) {
		t, err := say(ctx, h, m)
		if err != nil {
			return err
		}
		out.print(said{Turn: t.ID, Text: m.text, Accepted: true})
		all.Go(func() {
			follow(ctx, h, t.ID, out)
			if m.text == "cut" {
				discard(ctx, h, t.ID)
			}
		})
	}
	all.Wait()
	return nil
}

// message is something that is said to the host.
type message struct{ session, agent, text string }

// messages are what is said: in one session a slow answer and one that waits
// behind it, in another an answer that needs a second attempt, then turns with
// tools, with a question about a tool, with a history that has to be
// summarised, and with an answer that is cut off and discarded.
func messages(talk string) []message {
	switch talk {
	case talkAll:
		return []message{
			{"a", "main", "slow"}, {"a", "main", "plain"}, {"b", "main", "retry"},
			{"c", "worker", "tools"}, {"d", "asking", "question"},
			{"e", "small", "long"}, {"e", "small", "more"}, {"f", "main", "cut"},
		}
	case talkAfter:
		return []message{{"c", "worker", "after"}, {"d", "asking", "after"}}
	}
	return nil
}

// say sends a message. After an interruption the turn goes on instead (GDR-2).
func say(ctx context.Context, h *host.Host, m message) (journal.Turn, error) {
	out := turn.Message{Session: m.session, Agent: m.agent, Surface: "cli", Text: m.text, CanApprove: true}
	if m.text != "after" {
		return h.Send(ctx, out)
	}
	s, err := h.Journal().Session(ctx, m.session)
	if errors.Is(err, journal.ErrNotFound) {
		return h.Send(ctx, out)
	}
	if err != nil {
		return journal.Turn{}, err
	}
	turns, err := h.Journal().Turns(ctx, journal.TurnFilter{Session: s.ID, Limit: 1})
	if err != nil || len(turns) == 0 || turns[0].State != journal.Interrupted {
		return h.Send(ctx, out)
	}
	return h.Resume(ctx, turns[0].ID, turn.Continue, out)
}

// follow reads a turn's events, and says yes to what is asked.
func follow(ctx context.Context, h *host.Host, id string, out *printer) {
	r, err := h.Events(ctx, id, 0)
	for err == nil {
		var events []journal.Event
		if events, err = r.Next(ctx); err != nil {
			break
		}
		for i := range events {
			out.print(said{Turn: id, Event: &events[i]})
			if events[i].Type == journal.EventApprovalAsked {
				approve(ctx, h, &events[i])
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
	}
}

func approve(ctx context.Context, h *host.Host, e *journal.Event) {
	var asked turn.ApprovalAsked
	err := json.Unmarshal(e.Data, &asked)
	if err == nil {
		err = h.Answer(ctx, asked.Call, true, "ada")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func discard(ctx context.Context, h *host.Host, id string) {
	_, err := h.Wait(ctx, id)
	if err == nil {
		err = h.Discard(ctx, id)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// printer prints whole lines, from several goroutines.
type printer struct {
	mu sync.Mutex
	to *json.Encoder
}

func (p *printer) print(s said) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.to.Encode(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
