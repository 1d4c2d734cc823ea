package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/marker"
	"github.com/zchost/zchost/host/terminal"
)

// sessionsCmd lists sessions or shows one.
type sessionsCmd struct {
	List sessionsListCmd `cmd:"" default:"withargs" help:"List sessions, the last used first."`
	Show sessionsShowCmd `cmd:"" help:"Show the conversation of a session."`
}

// sessionsListCmd lists sessions.
type sessionsListCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// sessionJSON is a session as `sessions --json` prints it.
type sessionJSON struct {
	Session string    `json:"session"`
	Agent   string    `json:"agent"`
	Turns   int64     `json:"turns"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Run prints the sessions.
func (c sessionsListCmd) Run(ctx context.Context, a *app) error {
	return a.withJournal(ctx, func() error { return c.print(a, nil) }, func(r *journal.Reader) error {
		sessions, err := r.Sessions(ctx)
		if err != nil {
			return err
		}
		return c.print(a, sessions)
	})
}

func (c sessionsListCmd) print(a *app, sessions []journal.Session) error {
	if c.JSON {
		list := make([]sessionJSON, len(sessions))
		for i, s := range sessions {
			list[i] = sessionJSON{Session: s.Key, Agent: s.Agent, Turns: s.Turns, Created: s.Created, Updated: s.Updated}
		}
		return a.printJSON(list)
	}
	if len(sessions) == 0 {
		return a.screen.Note("there are no sessions")
	}
	table := terminal.NewTable("SESSION", "AGENT", ">TURNS", "LAST USED")
	for _, s := range sessions {
		table.Add(terminal.Shorten(s.Key, 40), s.Agent, strconv.FormatInt(s.Turns, 10), clock(s.Updated))
	}
	return table.Write(a.screen)
}

// sessionsShowCmd shows a conversation.
type sessionsShowCmd struct {
	Key   string `arg:"" help:"The session's key."`
	Limit int    `short:"n" help:"The most messages; the last are shown." default:"100"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// messageJSON is a message as `sessions show --json` prints it.
type messageJSON struct {
	Turn      string     `json:"turn"`
	Role      abi.Role   `json:"role"`
	Parts     []abi.Part `json:"parts"`
	Marker    string     `json:"marker,omitempty"`
	Candidate string     `json:"candidate,omitempty"`
	Fallback  bool       `json:"fallback,omitempty"`
	Created   time.Time  `json:"created"`
}

// Run prints the conversation.
func (c sessionsShowCmd) Run(ctx context.Context, a *app) error {
	return a.withJournal(ctx, func() error { return noSession(c.Key) }, func(r *journal.Reader) error {
		s, err := session(ctx, r, c.Key)
		if err != nil {
			return err
		}
		messages, err := r.Messages(ctx, s.ID, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			list := make([]messageJSON, len(messages))
			for i, m := range messages {
				list[i] = messageJSON{
					Turn: m.Turn, Role: m.Role, Parts: m.Parts, Marker: m.Marker,
					Candidate: m.Candidate, Fallback: m.Fallback, Created: m.Created,
				}
			}
			return a.printJSON(list)
		}
		for _, m := range messages {
			if err := a.printMessage(m); err != nil {
				return err
			}
		}
		return nil
	})
}

// printMessage prints who, when, and what; reasoning is left out.
func (a *app) printMessage(m journal.Message) error {
	who := string(m.Role)
	if m.Candidate != "" && m.Role == abi.RoleAssistant {
		who += " " + answeredBy(m.Candidate, m.Fallback)
	}
	body := strings.TrimRight(partsText(m.Parts), "\n")
	if m.Marker != "" {
		body += "\n" + marker.Render(marker.Code(m.Marker), a.screen.Locales...)
	}
	return a.print("%s\n%s\n\n", a.screen.Heading(who+"  "+clock(m.Created)+"  "+m.Turn), a.screen.Safe(body))
}

// partsText shows the parts of a message. What is no text is in brackets, on a
// line of its own.
func partsText(parts []abi.Part) string {
	var text strings.Builder
	note := func(words ...string) {
		if s := text.String(); s != "" && !strings.HasSuffix(s, "\n") {
			text.WriteByte('\n')
		}
		text.WriteString("[" + strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ") + "]\n")
	}
	for _, p := range parts {
		switch p.Type {
		case abi.PartText:
			text.WriteString(p.Text)
		case abi.PartToolResult:
			note("result of", p.Name)
			text.WriteString(p.Text)
		case abi.PartToolCall:
			note("calls", p.Name, terminal.ArgumentLine(p.Arguments))
		case abi.PartProviderTool:
			note(p.Name, p.Text)
		case abi.PartImage, abi.PartFile:
			note(string(p.Type), p.Name, p.MediaType)
		case abi.PartReasoning:
		}
	}
	return text.String()
}
