package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestPipedLines(t *testing.T) {
	t.Parallel()
	lines := NewPipedLines(iotest.OneByteReader(strings.NewReader("one\r\ntwo\n\nlast")))
	var got []string
	for {
		line, err := lines.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"one", "two", "", "last"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPipedLinesAreBounded(t *testing.T) {
	t.Parallel()
	long := io.MultiReader(strings.NewReader(strings.Repeat("x", MaxLine+1)), strings.NewReader("\nnext\n"))
	lines := NewPipedLines(long)
	if _, err := lines.Next(t.Context()); !errors.Is(err, ErrLongLine) {
		t.Errorf("a line over the limit: %v", err)
	}
	if text, err := lines.Next(t.Context()); text != "next" || err != nil {
		t.Errorf("after it: %q, %v", text, err)
	}
}

func TestPipedLinesStopWaiting(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	lines := NewPipedLines(in)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lines.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next = %v", err)
	}
	if err := out.Close(); err != nil { // lets the reading goroutine end
		t.Fatal(err)
	}
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
}

// keys runs what a terminal sends through the keyboard, cut into pieces of n
// bytes, and returns what the editor gets.
func keys(t *testing.T, k *keyboard, n int, sent string) string {
	t.Helper()
	var pieces []io.Reader
	for len(sent) > 0 {
		cut := min(n, len(sent))
		pieces = append(pieces, strings.NewReader(sent[:cut]))
		sent = sent[cut:]
	}
	k.in = io.MultiReader(pieces...)
	got, err := io.ReadAll(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestPasteIsOneMessage(t *testing.T) {
	t.Parallel()
	for n := 1; n < 12; n++ {
		k := &keyboard{}
		line := keys(t, k, n, "say:\x1b[200~one\r\ntwo\rthree\tx\x1b[31m\x03\n\x1b[201~!\x1b[A")
		want := "say:one" + string(standInNewline) + "two" + string(standInNewline) + "three" + string(standInTab) + "x!\x1b[A"
		if line != want {
			t.Errorf("in pieces of %d: %q, want %q", n, line, want)
		}
		text, long := k.message("say:one" + string(standInNewline) + "two")
		if text != "say:one\ntwo" || long {
			t.Errorf("message = %q, %v", text, long)
		}
	}
}

func TestLongPasteIsALabel(t *testing.T) {
	t.Parallel()
	k := &keyboard{}
	paste := strings.Repeat("0123456789\n", 500)
	line := keys(t, k, 1000, "a "+pasteBegin+paste+pasteEnd+" b")
	if want := "a [paste 1: 500 lines, 5499 characters] b"; line != want {
		t.Fatalf("line = %q, want %q", line, want)
	}
	text, long := k.message(line)
	if want := "a " + strings.TrimSuffix(paste, "\n") + " b"; text != want || !long {
		t.Errorf("message has %d bytes, want %d; long %v", len(text), len(want), long)
	}
}

func TestPasteIsBounded(t *testing.T) {
	t.Parallel()
	k := &keyboard{}
	line := keys(t, k, 4096, pasteBegin+strings.Repeat("x", 2*MaxLine)+pasteEnd)
	if text, _ := k.message(line); len(text) != MaxLine {
		t.Errorf("kept %d bytes, want %d", len(text), MaxLine)
	}
	for range 2 * maxPastes {
		keys(t, k, 4096, pasteBegin+strings.Repeat("x", maxInline+1)+pasteEnd)
	}
	if len(k.pastes) != maxPastes {
		t.Errorf("%d pastes are kept, want %d", len(k.pastes), maxPastes)
	}
}

// A terminal that does not answer the question for the cursor does not hang
// the editor.
func TestCursorQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	var screen bytes.Buffer
	k := &keyboard{in: strings.NewReader("x"), out: &screen}
	for _, s := range []string{"> ", cursorQuery} {
		if _, err := io.WriteString(k, s); err != nil {
			t.Fatal(err)
		}
	}
	if screen.String() != "> " {
		t.Errorf("the terminal got %q", screen.String())
	}
	if got := keys(t, k, 1, "x"); got != cursorAnswer+"x" {
		t.Errorf("the editor got %q", got)
	}
}

func FuzzKeyboard(f *testing.F) {
	f.Add("a\x1b[200~b\nc\x1b[201~d", 3)
	f.Add("\x1b[200~\x1b[200~\x1b[201~\x1b[20", 1)
	f.Fuzz(func(t *testing.T, sent string, n int) {
		if n < 1 || n > 1<<16 {
			return
		}
		one, pieces := keys(t, &keyboard{}, len(sent)+1, sent), keys(t, &keyboard{}, n, sent)
		if one != pieces {
			t.Errorf("whole: %q, in pieces of %d: %q", one, n, pieces)
		}
	})
}

func TestHistoryIsPrivateAndBounded(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 3 * historyEntries {
		fmt.Fprintf(&many, "line %d\n", i)
	}
	long := strings.Repeat(strings.Repeat("x", 1000)+"\n", 2000)
	for name, c := range map[string]struct {
		content string
		lines   int
	}{
		"new":   {"", 0},
		"few":   {"a\nb\n", 2},
		"many":  {many.String(), historyEntries - 1},
		"large": {long, historyEntries - 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "history")
			if c.content != "" {
				if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := tidyHistory(path); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("mode is %v", info.Mode())
			}
			kept, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(kept, []byte("\n")); n != c.lines || !strings.HasSuffix(c.content, string(kept)) {
				t.Errorf("%d lines are kept, want the last %d", n, c.lines)
			}
		})
	}
}
