package lessons_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// screen is what a terminal shows of what was written to it: text, line breaks,
// and as much of the control sequences as the program uses.
type screen struct {
	lines    [][]rune
	row, col int
}

// text returns what is to be seen, without blanks at the ends of lines.
func (s *screen) text() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

func (s *screen) write(text string) {
	for text != "" {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			text = s.sequence(rest)
			continue
		}
		for i, r := range text {
			if r == '\x1b' && i > 0 {
				text = text[i:]
				break
			}
			s.put(r)
			if i+len(string(r)) == len(text) {
				return
			}
		}
	}
}

// sequence acts on a control sequence, and returns what follows it.
func (s *screen) sequence(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r >= '@' && r <= '~' })
	if end < 0 {
		return ""
	}
	n, _ := strconv.Atoi(text[:end])
	some := max(n, 1)
	switch text[end] {
	case 'A':
		s.row = max(s.row-some, 0)
	case 'B':
		s.row += some
	case 'C':
		s.col += some
	case 'D':
		s.col = max(s.col-some, 0)
	case 'G':
		s.col = some - 1
	case 'K':
		s.clear(n == 2)
	case 'J':
		s.clear(n == 2)
		if s.row+1 < len(s.lines) {
			s.lines = s.lines[:s.row+1]
		}
	}
	return text[end+1:]
}

// clear empties the line, from the cursor on or all of it.
func (s *screen) clear(all bool) {
	if s.row >= len(s.lines) {
		return
	}
	from := s.col
	if all {
		from = 0
	}
	if from < len(s.lines[s.row]) {
		s.lines[s.row] = s.lines[s.row][:from]
	}
}

func (s *screen) put(r rune) {
	switch r {
	case '\r':
		s.col = 0
	case '\n':
		s.row++
	case '\b':
		s.col = max(s.col-1, 0)
	case '\a', '\x1b':
	default:
		for s.row >= len(s.lines) {
			s.lines = append(s.lines, nil)
		}
		line := s.lines[s.row]
		for s.col >= len(line) {
			line = append(line, ' ')
		}
		line[s.col] = r
		s.lines[s.row] = line
		s.col++
	}
}

func TestScreen(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"a\r\nb\r\n":                         "a\nb\n",
		"wait…\r\x1b[2Kdone\r\n":             "done\n",
		"> h\r\x1b[J> hi\r\n\x1b[1mx\x1b[0m": "> hi\nx\n",
		"a\r\n\r\nb":                         "a\n\nb\n",
		"abc\x1b[2DX":                        "aXc\n",
	} {
		var s screen
		s.write(written)
		if got := s.text(); got != want {
			t.Errorf("%q is shown as %q, want %q", written, got, want)
		}
	}
}

// matches reports whether a screen shows what a lesson does. "…" stands for any
// text within a line, and a line with nothing else for any lines.
func matches(want, got []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	if want[0] == "…" {
		for i := range len(got) + 1 {
			if matches(want[1:], got[i:]) {
				return true
			}
		}
		return false
	}
	return len(got) > 0 && alike(want[0], got[0]) && matches(want[1:], got[1:])
}

// alike compares one line.
func alike(want, got string) bool {
	parts := strings.Split(want, "…")
	rest, ok := strings.CutPrefix(got, parts[0])
	if !ok || len(parts) == 1 {
		return ok && rest == ""
	}
	for _, part := range parts[1 : len(parts)-1] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want, got string
		ok        bool
	}{
		{"a|b", "a|b", true},
		{"a|b", "a|b|c", false},
		{"a|b", "a", false},
		{"a|…|d", "a|b|c|d", true},
		{"a|…|d", "a|d", true},
		{"a|…", "a|b", true},
		{"a|…|d", "a|b", false},
		{"t_… is … long", "t_12 is 3 s long", true},
		{"t_…", "x_12", false},
		{"…ms", "12s", false},
		{"ab…bc", "abc", false},
	} {
		if got := matches(strings.Split(tt.want, "|"), strings.Split(tt.got, "|")); got != tt.ok {
			t.Errorf("%q shows %q: %v", tt.got, tt.want, got)
		}
	}
}

// trim takes empty lines away at both ends.
func trim(lines []string) []string {
	empty := func(s string) bool { return s == "" }
	for len(lines) > 0 && empty(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && empty(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	return slices.Clone(lines)
}
