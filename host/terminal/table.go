package terminal

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Table is a listing for a person.
type Table struct {
	// Head are the names of the columns; may be empty.
	Head []string
	rows [][]string
	// right are the columns that hold numbers.
	right map[int]bool
}

// NewTable returns a table. A name that begins with ">" makes its column's
// contents stand at the right.
func NewTable(head ...string) *Table {
	t := &Table{Head: head, right: map[int]bool{}}
	for i, h := range head {
		if name, ok := strings.CutPrefix(h, ">"); ok {
			t.Head[i], t.right[i] = name, true
		}
	}
	return t
}

// Add adds a row.
func (t *Table) Add(cells ...string) {
	for i, c := range cells {
		cells[i] = Clean(oneLine(strings.ReplaceAll(c, "\t", " ")))
	}
	t.rows = append(t.rows, cells)
}

// Write writes the table to the screen's Out, with two spaces between columns.
func (t *Table) Write(s *Screen) error {
	var b strings.Builder
	widths := t.widths()
	if len(t.Head) > 0 {
		b.WriteString(paint(s.Color, bold, t.line(t.Head, widths)) + "\n")
	}
	for _, r := range t.rows {
		b.WriteString(t.line(r, widths) + "\n")
	}
	if _, err := io.WriteString(s.Out, b.String()); err != nil {
		return fmt.Errorf("write listing: %w", err)
	}
	return nil
}

func (t *Table) widths() []int {
	var widths []int
	for _, r := range append([][]string{t.Head}, t.rows...) {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(c))
		}
	}
	return widths
}

func (t *Table) line(cells []string, widths []int) string {
	var b strings.Builder
	for i, c := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		pad := strings.Repeat(" ", widths[i]-Width(c))
		if t.right[i] {
			b.WriteString(pad + c)
		} else {
			b.WriteString(c + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// Width is how many columns of a terminal a text takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

func isWide(r rune) bool {
	k := width.LookupRune(r).Kind()
	return k == width.EastAsianWide || k == width.EastAsianFullwidth
}

// Shorten cuts a text to n columns and marks the cut.
func Shorten(s string, n int) string {
	s = Clean(oneLine(strings.ReplaceAll(s, "\t", " ")))
	if Width(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += Width(string(r)); used >= n {
			return s[:i] + "…"
		}
	}
	return s
}
