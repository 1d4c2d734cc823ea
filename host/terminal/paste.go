package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bracketed paste (xterm control sequences, "Bracketed Paste Mode").
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Stand-ins for characters that cannot be in a line that is being edited, from
// the private use area; the editor shows them as arrows.
const (
	standInNewline = '\uE00A'
	standInTab     = '\uE009'
)

// maxInline is the longest paste that is put into the line as it is, in
// characters. A longer one is shown as a label: the editor lays out the whole
// line again for every character.
const maxInline = 1000

// maxPastes is how many long pastes are remembered.
const maxPastes = 32

// cursorQuery asks the terminal for the cursor's position (DSR 6), and
// cursorAnswer is the report "row 1, column 1".
const (
	cursorQuery  = "\x1b[6n"
	cursorAnswer = "\x1b[1;1R"
)

// keyboard stands between the terminal and the line editor. A paste, which the
// terminal brackets, becomes one message however many lines it has. The
// editor's question for the cursor is answered here, since the prompt always
// begins a line: a terminal that does not know the question would leave the
// editor waiting for ever.
type keyboard struct {
	in     io.Reader
	out    io.Writer
	buf    [4096]byte
	ready  []byte // for the editor
	held   []byte // may be the beginning of a bracket
	paste  []byte
	within bool

	mu     sync.Mutex // the editor reads in a goroutine of its own
	asked  int
	pastes []pasted
	count  int
}

// pasted is a long paste and the label that stands for it in the line.
type pasted struct{ label, text string }

// Read gives the editor the next keys.
func (k *keyboard) Read(p []byte) (int, error) {
	for {
		if k.answers() {
			k.ready = append(k.ready, cursorAnswer...)
		}
		if len(k.ready) > 0 {
			n := copy(p, k.ready)
			k.ready = k.ready[:copy(k.ready, k.ready[n:])]
			return n, nil
		}
		n, err := k.in.Read(k.buf[:])
		k.take(k.buf[:n])
		if err != nil && len(k.ready) == 0 {
			return 0, err
		}
	}
}

func (k *keyboard) answers() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked == 0 {
		return false
	}
	k.asked--
	return true
}

// Write gives the terminal what the editor draws, but for its question.
func (k *keyboard) Write(p []byte) (int, error) {
	if string(p) == cursorQuery {
		k.mu.Lock()
		k.asked++
		k.mu.Unlock()
		return len(p), nil
	}
	return k.out.Write(p)
}

// take sorts what was read into keys and pastes.
func (k *keyboard) take(b []byte) {
	for _, c := range b {
		bracket := pasteBegin
		if k.within {
			bracket = pasteEnd
		}
		k.held = append(k.held, c)
		for len(k.held) > 0 && !strings.HasPrefix(bracket, string(k.held)) {
			k.pass(k.held[0])
			k.held = k.held[:copy(k.held, k.held[1:])]
		}
		if len(k.held) == len(bracket) {
			k.held = k.held[:0]
			k.turn()
		}
	}
}

func (k *keyboard) pass(c byte) {
	switch {
	case !k.within:
		k.ready = append(k.ready, c)
	case len(k.paste) < MaxLine:
		k.paste = append(k.paste, c)
	}
}

// turn begins a paste or puts a finished one into the line.
func (k *keyboard) turn() {
	k.within = !k.within
	if k.within {
		k.paste = k.paste[:0]
		return
	}
	text := string(bytes.ReplaceAll(k.paste, []byte("\r\n"), []byte("\n")))
	text = Clean(strings.ReplaceAll(text, "\r", "\n"))
	text = strings.TrimSuffix(text, "\n")
	if utf8.RuneCountInString(text) > maxInline {
		text = k.label(text)
	}
	k.ready = append(k.ready, standIns().Replace(text)...)
}

// label remembers a long paste and returns what stands for it.
func (k *keyboard) label(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	label := fmt.Sprintf("[paste %d: %d lines, %d characters]",
		k.count, strings.Count(text, "\n")+1, utf8.RuneCountInString(text))
	k.pastes = append(k.pastes, pasted{label, text})
	if len(k.pastes) > maxPastes {
		k.pastes = k.pastes[1:]
	}
	return label
}

// message returns the text of an edited line, with the pastes in it, and
// whether it had long ones, which are not for the history.
func (k *keyboard) message(line string) (text string, long bool) {
	text = strings.NewReplacer(string(standInNewline), "\n", string(standInTab), "\t").Replace(line)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pastes {
		if strings.Contains(text, p.label) {
			text, long = strings.ReplaceAll(text, p.label, p.text), true
		}
	}
	return text, long
}

func standIns() *strings.Replacer {
	return strings.NewReplacer("\n", string(standInNewline), "\t", string(standInTab))
}

// showStandIns is how the editor shows a line.
func showStandIns(line []rune, _ int) []rune {
	shown := make([]rune, len(line))
	for i, r := range line {
		switch r {
		case standInNewline:
			r = '↵'
		case standInTab:
			r = '⇥'
		}
		shown[i] = r
	}
	return shown
}
