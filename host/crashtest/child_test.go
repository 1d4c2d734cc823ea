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
// it names the home. With childTalk set, the host also runs the messages.
const (
	childHome = "ZCHOST_CRASH_HOME"
	childTalk = "ZCHOST_CRASH_TALK"
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
	h, err := host.Start(ctx, host.Options{Home: home, Env: os.Environ(), Version: "crash"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Shutdown()) }()
	if os.Getenv(childTalk) == "" {
		return nil
	}
	out := &printer{to: json.NewEncoder(os.Stdout)}
	var all sync.WaitGroup
	for _, m := range messages() {
		t, err := h.Send(ctx, turn.Message{Session: m.session, Surface: "cli", Text: m.text})
		if err != nil {
			return err
		}
		out.print(said{Turn: t.ID, Text: m.text, Accepted: true})
		all.Go(func() { follow(ctx, h, t.ID, out) })
	}
	all.Wait()
	return nil
}

// messages are what is said to the host: in one session a slow answer and one
// that waits behind it, in another an answer that needs a second attempt.
func messages() []struct{ session, text string } {
	return []struct{ session, text string }{{"a", "slow"}, {"a", "plain"}, {"b", "retry"}}
}

func follow(ctx context.Context, h *host.Host, id string, out *printer) {
	r, err := h.Events(ctx, id, 0)
	for err == nil {
		var events []journal.Event
		if events, err = r.Next(ctx); err == nil {
			for i := range events {
				out.print(said{Turn: id, Event: &events[i]})
			}
		}
	}
	if !errors.Is(err, io.EOF) {
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
