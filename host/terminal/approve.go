package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
)

// Keys gives single keys, while no line is being edited.
type Keys interface {
	// Take begins to read keys. What was typed before is dropped: it was no
	// answer to a question that nobody had seen. back gives the terminal back.
	Take() (back func(), err error)
	// Key waits for a key. Several at once, as from a paste, are no key.
	Key(ctx context.Context) (byte, error)
}

// NewKeys reads keys from a file; nil if it is no terminal, or if single keys
// cannot be read on this system.
func NewKeys(in *os.File) Keys {
	if !canReadKeys || !IsTerminal(in) {
		return nil
	}
	return &tty{in: in}
}

type tty struct {
	in    *os.File
	clean Cleaner
}

// Take makes the terminal give single keys.
func (t *tty) Take() (func(), error) {
	t.clean = Cleaner{}
	return takeKeys(int(t.in.Fd()))
}

// Key drops what is no character: an arrow key is ESC, "[" and a letter.
func (t *tty) Key(ctx context.Context) (byte, error) {
	for {
		typed, err := readKeys(ctx, int(t.in.Fd()))
		if err != nil {
			return 0, err
		}
		if keys := strings.TrimSpace(string(t.clean.Append(nil, typed))); len(keys) == 1 {
			return keys[0], nil
		}
	}
}

// NewApprover returns who can be asked on this screen, by keys from in; nil if
// nobody can.
func NewApprover(s *Screen, in *os.File) *Approver {
	keys := NewKeys(in)
	if keys == nil || !s.Terminal {
		return nil
	}
	return &Approver{Screen: s, Keys: keys}
}

// Approver asks the person at the terminal whether a tool call may run.
type Approver struct {
	// Screen is where the question is shown, Keys where the answer comes from.
	Screen *Screen
	Keys   Keys

	always map[string]bool // the tools that were allowed for the whole chat
}

// Question is a call that waits for a person's word. The host writes these
// fields as the data of its event (host/turn/event.go).
type Question struct {
	Call      string     `json:"call"`
	Name      string     `json:"name"`
	Arguments string     `json:"arguments"`
	Effect    abi.Effect `json:"effect"`
	// Expires is in Unix milliseconds.
	Expires int64 `json:"expires"`
}

// Who answered, as the journal has it.
const (
	byPerson = "the person at the terminal"
	byAlways = "the person at the terminal, for the whole chat"
)

// Ask shows the question and waits for the answer. The error is that of ctx
// when the question has ended in another way.
func (a *Approver) Ask(ctx context.Context, q Question) (allow bool, by string, err error) {
	if a.always[q.Name] {
		return true, byAlways, nil
	}
	cut, err := a.show(q, false)
	if err != nil {
		return false, "", err
	}
	back, err := a.Keys.Take()
	if err != nil {
		return false, "", err
	}
	defer back()
	for {
		if err := a.prompt(q, cut); err != nil {
			return false, "", err
		}
		key, err := a.key(ctx, cut)
		if err != nil {
			return false, "", errors.Join(err, a.write("\n"))
		}
		switch key {
		case 'y':
			return true, byPerson, a.write("yes\n")
		case 'a':
			if a.always == nil {
				a.always = map[string]bool{}
			}
			a.always[q.Name] = true
			return true, byAlways, a.write("always in this chat\n")
		case 'n':
			return false, byPerson, a.write("no\n")
		}
		if err := a.write("\n"); err != nil {
			return false, "", err
		}
		if cut, err = a.show(q, true); err != nil {
			return false, "", err
		}
	}
}

// Forget takes back what was allowed for a whole chat: another one begins.
func (a *Approver) Forget() {
	if a != nil {
		a.always = nil
	}
}

// show shows what would run, in full with all.
func (a *Approver) show(q Question, all bool) (cut bool, err error) {
	block, cut := argumentBlock(q.Arguments, all)
	effect := string(q.Effect)
	if effect == "" {
		effect = "unknown"
	}
	head := paint(a.Screen.Color, yellow, fmt.Sprintf("%s wants to run (effect: %s)", Unhide(q.Name), effect))
	return cut, a.write(head + "\n" + block)
}

func (a *Approver) prompt(q Question, cut bool) error {
	keys := "y: yes, n: no, a: always this tool in this chat"
	if cut {
		keys += ", m: more, all of it"
	}
	if q.Expires > 0 {
		keys += "; until " + time.UnixMilli(q.Expires).Local().Format(time.TimeOnly)
	}
	return a.write(paint(a.Screen.Color, bold, "allow?") + " [" + keys + "] ")
}

// key waits for one of the keys that the prompt names.
func (a *Approver) key(ctx context.Context, cut bool) (byte, error) {
	for {
		k, err := a.Keys.Key(ctx)
		if err != nil {
			return 0, err
		}
		switch k |= 'a' - 'A'; k { // to lower case
		case 'y', 'n', 'a':
			return k, nil
		case 'm':
			if cut {
				return k, nil
			}
		}
	}
}

func (a *Approver) write(text string) error {
	if _, err := io.WriteString(a.Screen.Out, text); err != nil {
		return fmt.Errorf("ask for approval: %w", err)
	}
	return nil
}

// Confirm asks a question of yes or no.
func (a *Approver) Confirm(ctx context.Context, question string) (bool, error) {
	back, err := a.Keys.Take()
	if err != nil {
		return false, err
	}
	defer back()
	if err := a.write(question + " [y: yes, n: no] "); err != nil {
		return false, err
	}
	for {
		k, err := a.Keys.Key(ctx)
		if err != nil {
			return false, errors.Join(err, a.write("\n"))
		}
		switch k | ('a' - 'A') {
		case 'y':
			return true, a.write("yes\n")
		case 'n':
			return false, a.write("no\n")
		}
	}
}
