package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zchost/zchost/host/journal"
)

// Chat is a conversation: it reads a message, shows the answer, and so on.
type Chat struct {
	// Talk runs the turns.
	Talk *Talk
	// Screen is where answers go.
	Screen *Screen
	// Lines gives the messages.
	Lines Lines
	// Session is the key of the session, Agent the agent's name.
	Session, Agent string
	// Piped says that the messages do not come from a terminal: an interrupt
	// then ends the chat.
	Piped bool
	// Locales are the languages of markers: the agent's, then the person's.
	Locales []string
	// Past is read for what is done with the session's last turn.
	Past Past
	// Commands are the slash commands beyond the chat's own.
	Commands []Command
	// Now is the clock that names new sessions.
	Now func() time.Time

	last     string // the last turn's id
	worst    int
	attached []journal.Attachment // for the next message
}

// Command is a slash command.
type Command struct {
	// Name is what is typed, with the slash.
	Name string
	// Args shows the arguments, such as "[TURN]"; may be empty.
	Args string
	// Help says in a few words what it does.
	Help string
	// Run does it. last is the id of the chat's last turn, "" before the
	// first. It is nil for what the model or the chat itself is to do.
	Run func(ctx context.Context, args, last string) error
}

// Run reads messages until there are no more, and returns the exit code: that
// of the worst turn if the input is piped.
func (c *Chat) Run(ctx context.Context) (int, error) {
	err := c.run(ctx)
	if !c.Piped {
		return ExitOK, err
	}
	return c.worst, err
}

func (c *Chat) run(ctx context.Context) error {
	for {
		text, err := c.next(ctx)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, ErrLeave):
			return nil
		case errors.Is(err, ErrLongLine):
			c.worst = Worse(c.worst, ExitUsage)
			if err := c.Screen.Fail(err); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		leave, err := c.take(ctx, text)
		if leave || err != nil {
			return err
		}
	}
}

// next reads a message. A second Ctrl-C in a row leaves.
func (c *Chat) next(ctx context.Context) (string, error) {
	c.forget()
	for n := 0; ; n++ {
		text, err := c.read(ctx, c.Piped || n > 0)
		switch {
		case !errors.Is(err, ErrInterrupt):
			return text, err
		case c.Piped:
			c.worst = Worse(c.worst, ExitCancelled)
			return "", ErrLeave
		case n > 0:
			return "", ErrLeave
		}
		if err := c.Screen.Note("press Ctrl-C again to leave, or go on"); err != nil {
			return "", err
		}
	}
}

// read reads a line. At a terminal the editor sees Ctrl-C as a key; with piped
// input it comes as a signal, and so does a second one that is pressed before
// the editor has taken the terminal again.
func (c *Chat) read(ctx context.Context, signals bool) (string, error) {
	if !signals {
		text, err := c.Lines.Next(ctx)
		if ctx.Err() != nil {
			return "", ErrLeave
		}
		return text, err
	}
	var text string
	err := c.Talk.Hearing(ctx, func(reading context.Context) (err error) {
		text, err = c.Lines.Next(reading)
		return err
	})
	if ctx.Err() != nil {
		return "", ErrLeave
	}
	return text, err
}

// take does what a line says.
func (c *Chat) take(ctx context.Context, text string) (leave bool, err error) {
	word, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case !strings.HasPrefix(text, "/"):
		return c.say(ctx, text)
	case strings.HasPrefix(text, "//"):
		return c.say(ctx, text[1:])
	case word == "/demo":
		return c.say(ctx, text)
	}
	return c.command(ctx, word, strings.TrimSpace(args))
}

// say sends a message and shows the answer.
func (c *Chat) say(ctx context.Context, text string) (leave bool, err error) {
	return c.turn(ctx, Message{Session: c.Session, Agent: c.Agent, Text: text, Attachments: c.attached})
}

// turn runs a turn and shows the answer.
func (c *Chat) turn(ctx context.Context, m Message) (leave bool, err error) {
	answered := c.Lines.Answering()
	defer answered()
	c.forget()
	view := NewRenderer(c.Screen, c.Locales, func(string) string { return "/why tells more; /continue goes on, /retry asks again" })
	turn, err := c.Talk.Turn(ctx, m, view)
	if turn.ID != "" {
		c.last = turn.ID
		if m.After == "" {
			c.attached = nil
		}
	}
	var refused *RefusedError
	switch {
	case errors.Is(err, ErrLeave):
		c.worst = Worse(c.worst, ExitCancelled)
		return true, nil
	case errors.As(err, &refused):
		c.worst = Worse(c.worst, ExitUsage)
		return false, c.Screen.Fail(err)
	case err != nil:
		return true, err
	}
	code := ExitCode(turn)
	c.worst = Worse(c.worst, code)
	return c.Piped && code == ExitCancelled, c.gap()
}

// forget drops a Ctrl-C that came between two turns at a terminal: it was not
// meant for the next one.
func (c *Chat) forget() {
	for !c.Piped {
		select {
		case <-c.Talk.Interrupts:
		default:
			return
		}
	}
}

// gap separates an answer from the next prompt.
func (c *Chat) gap() error {
	if !c.Screen.Terminal {
		return nil
	}
	if _, err := io.WriteString(c.Screen.Out, "\n"); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// command runs a slash command. An unknown one is told, and nothing is sent.
func (c *Chat) command(ctx context.Context, name, args string) (leave bool, err error) {
	switch name {
	case "/quit", "/exit":
		return true, nil
	case "/help":
		return false, c.help()
	case "/new":
		return false, c.open(args)
	case "/attach":
		return false, c.attach(args)
	case "/continue", "/retry", "/discard":
		if c.Past != nil {
			return c.resume(ctx, name, args)
		}
	}
	for _, k := range c.Commands {
		if k.Name == name && k.Run != nil {
			if err := k.Run(ctx, args, c.last); err != nil {
				c.worst = Worse(c.worst, ExitUsage)
				return false, c.Screen.Fail(err)
			}
			return false, nil
		}
	}
	c.worst = Worse(c.worst, ExitUsage)
	return false, c.Screen.Complain("there is no command "+name+", and nothing was sent",
		"/help lists the commands; begin with // to send a text that starts with a slash")
}

// open goes on in another session.
func (c *Chat) open(key string) error {
	if key == "" {
		key = "chat-" + c.Now().Format("20060102-150405")
	}
	if len(key) > journal.MaxKey {
		return c.Screen.Complain("the name of the session is too long", "")
	}
	c.Session, c.last, c.attached = key, "", nil
	c.Talk.Approver.Forget()
	return c.Screen.Note("now in session " + key)
}

// All returns the slash commands in the order in which /help lists them.
func (c *Chat) All() []Command {
	return append(append([]Command{
		{Name: "/help", Help: "list the commands"},
		{Name: "/new", Args: "[KEY]", Help: "go on in a new session, or in the one named"},
		{Name: "/attach", Args: "FILE", Help: "send an image or a PDF with the next message"},
		{Name: "/continue", Help: "let the model go on with an answer that was interrupted"},
		{Name: "/retry", Args: "[--yes]", Help: "ask the last message again, as if it had not been asked"},
		{Name: "/discard", Help: "drop the partial answer of the last turn"},
	}, c.Commands...),
		Command{Name: "/quit", Help: "leave, as Ctrl-D does"})
}

func (c *Chat) help() error {
	var rows Table
	for _, k := range c.All() {
		rows.Add(strings.TrimSpace(k.Name+" "+k.Args), k.Help)
	}
	if err := rows.Write(c.Screen); err != nil {
		return err
	}
	if _, err := io.WriteString(c.Screen.Out, "Ctrl-C stops an answer, and a tool. A pasted text of several lines is one message.\n"); err != nil {
		return fmt.Errorf("write help: %w", err)
	}
	return nil
}
