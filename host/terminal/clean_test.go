package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":                  {"a\tb\nc", "a\tb\nc"},
		"other scripts":          {"héllo 世界 😀 שלום", "héllo 世界 😀 שלום"},
		"colour":                 {"\x1b[31mred\x1b[0m", "red"},
		"cursor and screen":      {"a\x1b[2J\x1b[1;1Hb", "ab"},
		"window title":           {"a\x1b]0;owned\x07b", "ab"},
		"link":                   {"\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		"clipboard":              {"\x1b]52;c;cm0gLXJm\x07", ""},
		"device control":         {"\x1bP$q\"p\x1b\\x", "x"},
		"eight bit sequence":     {"a\u009b31mb", "ab"},
		"eight bit string":       {"a\u009d0;t\u009cb", "ab"},
		"charset":                {"\x1b(0lqk\x1b(B", "lqk"},
		"reset":                  {"a\x1bcb", "ab"},
		"carriage return":        {"safe\rrm -rf", "saferm -rf"},
		"crlf":                   {"a\r\nb", "a\nb"},
		"backspace, bell, del":   {"a\b\a\x7fb", "ab"},
		"escape at the end":      {"a\x1b", "a"},
		"escape before newline":  {"a\x1b\nb", "a\nb"},
		"escape in a sequence":   {"a\x1b[3\x1b[1mb", "ab"},
		"sequence cut by text":   {"a\x1b[é", "aé"},
		"unended string":         {"a\x1b]0;title\nnext", "a\nnext"},
		"not UTF-8":              {"a\xff\xfeb", "a\uFFFD\uFFFDb"},
		"reordering":             {"a\u202eb\u202c\u2066c\u2069\u200f", "abc\u200f"},
		"a real U+FFFD":          {"a\uFFFDb", "a\uFFFDb"},
		"string ended by string": {"\x1b]0;a\x1b]0;b\x07c", "c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Clean(c.in); got != c.want {
				t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
			}
			var k Cleaner
			var got []byte
			for i := range len(c.in) { // any cut at a rune gives the same text
				if utf8.RuneStart(c.in[i]) {
					end := i + 1
					for end < len(c.in) && !utf8.RuneStart(c.in[end]) {
						end++
					}
					got = k.Append(got, c.in[i:end])
				}
			}
			if string(got) != c.want {
				t.Errorf("cut at every rune: %q, want %q", got, c.want)
			}
		})
	}
}

// A control string that never ends hides a bounded part of an answer, not the
// rest of it.
func TestCleanShowsTextAfterEndlessString(t *testing.T) {
	t.Parallel()
	got := Clean("\x1b]0;" + strings.Repeat("x", 2*maxControlString) + "end")
	if !strings.HasSuffix(got, "xend") || len(got) > maxControlString+10 {
		t.Errorf("%d bytes are left of it", len(got))
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a", "\x1b[31m", "\x1b]0;x\x07y", "\u009b1m", "\x1bP\x1b\\", "\xff\x1b", "世\x1b[é"} {
		f.Add(s, 1)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q) = %q is not UTF-8", s, got)
		}
		for _, r := range got {
			if !printable(r) {
				t.Fatalf("Clean(%q) = %q keeps %U", s, got, r)
			}
		}
		if again := Clean(got); again != got {
			t.Fatalf("cleaning twice: %q, then %q", got, again)
		}
		if cut < 0 || cut > len(s) || !utf8.ValidString(s) || cut < len(s) && !utf8.RuneStart(s[cut]) {
			return
		}
		var c Cleaner
		if two := string(c.Append(c.Append(nil, s[:cut]), s[cut:])); two != got {
			t.Fatalf("in two pieces: %q, in one: %q", two, got)
		}
	})
}
