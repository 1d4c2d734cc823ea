package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/fault"
	"github.com/zchost/zchost/host/journal"
)

// toolEvents are a write that needs an approval: with somebody who can be asked
// the question, else the refusal.
func toolEvents(m Message) []journal.Event {
	if !m.CanApprove {
		return []journal.Event{told(journal.EventToolEnded, `{"call":"c1","name":"write_file","state":"refused","is_error":true,"reason":"not approved"}`)}
	}
	return []journal.Event{told(journal.EventApprovalAsked,
		`{"call":"c1","name":"write_file","arguments":"{\"path\":\"a.txt\",\"content\":\"hi\"}","effect":"write"}`)}
}

// Answer ends the turn's waiting, as the engine does.
func (h *fakeHost) Answer(_ context.Context, call string, allow bool, by string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	answer := "no"
	state, ended := "denied", `{"call":"c1","name":"write_file","state":"refused","is_error":true,"reason":"denied"}`
	if allow {
		answer, state, ended = "yes", "approved", `{"call":"c1","name":"write_file","state":"done","result":"ok"}`
	}
	h.answers = append(h.answers, call+" "+answer+" by "+by)
	for _, t := range h.turns {
		if t.approval && t.stop != nil && t.after == nil {
			t.after = []journal.Event{
				told(journal.EventApprovalAnswered, `{"call":"c1","state":"`+state+`"}`),
				told(journal.EventToolEnded, ended), text("and on"),
			}
			close(t.stop)
			return nil
		}
	}
	return fault.New(fault.NotFound, "no such question", "")
}

func (h *fakeHost) Last(_ context.Context, session string) (journal.Turn, error) {
	if len(h.sent) == 0 {
		return journal.Turn{}, journal.ErrNotFound
	}
	return journal.Turn{ID: "t_last", Session: session, State: h.turns[fmt.Sprintf("t_%d", len(h.sent))].end.State}, nil
}

func (h *fakeHost) Effects(context.Context, string) ([]journal.ToolCall, error) {
	return h.effects, nil
}

func (h *fakeHost) Discard(_ context.Context, turn string) error {
	h.discarded = append(h.discarded, turn)
	return nil
}

// typist presses these keys, and then none.
type typist struct{ keys string }

func (*typist) Take() (func(), error) { return func() {}, nil }

func (k *typist) Key(ctx context.Context) (byte, error) {
	if k.keys == "" {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	key := k.keys[0]
	k.keys = k.keys[1:]
	if key == '!' {
		return 0, errors.New("the terminal is gone")
	}
	return key, nil
}

// withKeys lets the person of a chat answer questions.
func (s *session) withKeys(keys string) *session {
	s.chat.Talk.Approver = &Approver{Screen: s.chat.Screen, Keys: &typist{keys}}
	s.chat.Past = s.host
	return s
}

func TestApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys    string
		lines   []string
		answers []string
		shown   []string
	}{
		"yes": {"y", []string{"write"}, []string{"c1 yes by " + byPerson}, []string{"write_file wants to run (effect: write)\n  path: a.txt\n  content: hi\n", "yes\nand on"}},
		"no":  {"xn", []string{"write"}, []string{"c1 no by " + byPerson}, []string{"chat] no\n", "and on"}},
		"always, for this tool and chat": {"Ay", []string{"write", "write", "/new", "write"},
			[]string{"c1 yes by " + byAlways, "c1 yes by " + byAlways, "c1 yes by " + byPerson}, []string{"always in this chat\n"}},
		"no key can be read": {"!", []string{"write"}, []string{"c1 no by nobody: no key could be read"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(false, c.lines...).withKeys(c.keys)
			if _, err := s.chat.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if gone := strings.Contains(s.err.String(), "the terminal is gone"); gone != (c.keys == "!") {
				t.Errorf("stderr:\n%s", s.err.String())
			}
			if diff := cmp.Diff(c.answers, s.host.answers); diff != "" {
				t.Error(diff)
			}
			for _, part := range c.shown {
				if !strings.Contains(s.out.String(), part) {
					t.Errorf("there is no %q:\n%s", part, s.out.String())
				}
			}
		})
	}
}

// Ctrl-C at the question stops the turn; the question is not answered.
func TestCtrlCAtAQuestion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := setup(false, "write").withKeys("")
		go func() {
			synctest.Wait()
			s.interrupts <- os.Interrupt
		}()
		if _, err := s.chat.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.host.answers) != 0 || !strings.Contains(s.out.String(), "chat] \n[interrupted by user]\n") {
			t.Errorf("answers %q, screen:\n%s", s.host.answers, s.out.String())
		}
	})
}

// Piped input cannot answer: the host is told so, and the refusal is shown.
func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	s := setup(true, "write")
	if _, err := s.chat.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.host.sent[0].CanApprove || !strings.Contains(s.err.String(), "zchost: write_file was not run: it needs an approval, and nobody can be asked here") {
		t.Errorf("CanApprove %t, stderr %q", s.host.sent[0].CanApprove, s.err.String())
	}
}

// What would run is shown whole, if it is asked for, and nothing in it acts on
// the terminal or hides.
func TestQuestion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &Approver{Screen: &Screen{Out: &out, Terminal: true}, Keys: &typist{"my"}}
	q := Question{
		Call: "c1", Name: "shell", Effect: abi.EffectWrite, Expires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local).UnixMilli(),
		Arguments: `{"command":"echo \u001b[2Jone\u202e\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nrm -rf x","timeout":{"s": 1},"path":"a\u200bb"}`,
	}
	if ok, by, err := a.Ask(t.Context(), q); !ok || by != byPerson || err != nil {
		t.Errorf("Ask = %t, %q, %v", ok, by, err)
	}
	golden(t, filepath.Join("testdata", "question.golden"), visible(out.String()))
}

func TestArgumentLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"path":"notes.txt"}`:                           "notes.txt",
		`{"path":"a","limit":20,"deep":{"x":[1, true]}}`: `path: a, limit: 20, deep: {"x":[1,true]}`,
		`{}`:                                  "",
		`{"path":"a\nb\u001b[31m"}`:           `a b\x1b[31m`,
		`{"path":"new.txt","content":"begin…`: "path: new.txt, content: …",
		`{"path":"new.txt","cont…`:            "path: new.txt, …",
		`{"path":"new.txt"…`:                  "path: new.txt, …",
		`["a…`:                                `["a…`,
		`not json`:                            "not json",
		`{"a":1`:                              `{"a":1`,
		`{"a":"` + strings.Repeat("x", 200) + `","b":""}`: "a: " + strings.Repeat("x", 59) + "…, b: ",
	} {
		if got := ArgumentLine(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

// A long line is shown in part, and the key m offers the rest.
func TestLongArgument(t *testing.T) {
	t.Parallel()
	text := `{"content":"` + strings.Repeat("x", 5000) + `"}`
	block, cut := argumentBlock(text, false)
	if !cut || len(block) > 600 || !strings.HasSuffix(block, "…\n") {
		t.Errorf("cut %t, %d bytes", cut, len(block))
	}
	if block, cut := argumentBlock(text, true); cut || !strings.Contains(block, strings.Repeat("x", 5000)) {
		t.Errorf("all of it: cut %t, %d bytes", cut, len(block))
	}
}

// GDR-2: what can be done after an interruption, in a chat.
func TestResume(t *testing.T) {
	t.Parallel()
	write := []journal.ToolCall{
		{Name: "write_file", Arguments: `{"path":"a"}`, State: journal.CallDone, Effect: abi.EffectWrite},
		{Name: "shell", Arguments: `{"command":"make"}`, State: journal.CallUnknown, Effect: abi.EffectWrite},
	}
	for name, c := range map[string]struct {
		piped   bool
		keys    string
		lines   []string
		effects []journal.ToolCall
		sent    int
		told    string
	}{
		"continue":                       {false, "", []string{"cut", "/continue"}, write, 2, ""},
		"nothing to continue":            {false, "", []string{"ok", "/continue"}, nil, 1, "is complete: there is nothing to go on with"},
		"retry without effects":          {false, "", []string{"cut", "/retry"}, nil, 2, ""},
		"retry asks":                     {false, "y", []string{"cut", "/retry"}, write, 2, "  - shell make (whether it took effect is unknown)\n"},
		"retry is not meant":             {false, "n", []string{"cut", "/retry"}, write, 1, "nothing was sent"},
		"retry cannot ask":               {true, "", []string{"cut", "/retry"}, write, 1, "nobody can be asked (/retry --yes sends it again all the same)"},
		"retry is told":                  {true, "", []string{"cut", "/retry --yes"}, write, 2, "  - write_file a\n"},
		"discard":                        {false, "", []string{"cut", "/discard"}, nil, 1, Discarded},
		"there is nothing to be done to": {false, "", []string{"/continue"}, nil, 0, "there is no turn"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setup(c.piped, c.lines...).withKeys(c.keys)
			if c.piped {
				s.chat.Talk.Approver = nil
			}
			s.host.effects = c.effects
			if _, err := s.chat.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if len(s.host.sent) != c.sent || !strings.Contains(s.err.String(), c.told) {
				t.Errorf("%d turns, stderr:\n%s", len(s.host.sent), s.err.String())
			}
			if n := len(s.host.sent); n == 2 && s.host.sent[1].After != "t_last" {
				t.Errorf("sent %+v", s.host.sent[1])
			}
		})
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	png := filepath.Join(dir, "a b.txt") // its name does not count
	if err := os.WriteFile(png, []byte("\x89PNG\r\n\x1a\nrest"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := setup(false, "/attach", "/attach "+dir, "/attach "+dir+"/none", "/attach '"+png+"'", "refuse", "look", "and now")
	if _, err := s.chat.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []journal.Attachment{{Name: "a b.txt", MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\nrest")}}
	if diff := cmp.Diff(want, s.host.sent[0].Attachments); diff != "" || s.host.sent[1].Attachments != nil {
		t.Errorf("%s, then %v", diff, s.host.sent[1].Attachments)
	}
	for _, part := range []string{"which file?", dir + " is no file", "there is no file", "a b.txt (image/png, 12 bytes) goes with"} {
		if !strings.Contains(s.err.String(), part) {
			t.Errorf("stderr has no %q:\n%s", part, s.err.String())
		}
	}
}

func TestMediaType(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"\xff\xd8\xff\xe0": "image/jpeg", "GIF89a": "image/gif", "GIF87a": "image/gif", "%PDF-1.7": "application/pdf",
		"RIFF\x00\x00\x00\x00WEBP": "image/webp", "RIFF\x00\x00\x00\x00WAVE": "", "": "", "hello": "", "\x89PN": "",
	} {
		if got := mediaType([]byte(data)); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}

// FuzzArguments: whatever a model calls a tool with, nothing of it acts on the
// terminal or hides, and a line is a line.
func FuzzArguments(f *testing.F) {
	f.Add(`{"a":"b\u001b[2J","c":[1,{"d":"\u202e"}]}`)
	f.Add("{\"a\x9b\":\"\xff\"}")
	f.Add(`{"a":1}{`)
	f.Fuzz(func(t *testing.T, text string) {
		line := ArgumentLine(text)
		block, _ := argumentBlock(text, true)
		if strings.ContainsAny(line, "\n\r") || line != Clean(line) || Width(line) > maxLineColumns+1 {
			t.Errorf("line %q", line)
		}
		if strings.ContainsFunc(block, hides) || !strings.HasSuffix(block, "\n") && block != "" {
			t.Errorf("block %q", block)
		}
	})
}
