package terminal

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zchost/zchost/host/fault"
)

// Note tells something that is not an error, on a line of its own.
func (s *Screen) Note(text string) error {
	return s.line(dim, "zchost: "+text)
}

// Say tells something in words that are already a notice.
func (s *Screen) Say(text string) error { return s.line(dim, text) }

// Complain tells an error in one line: what it is and, in parentheses, what to
// do. The hint may be empty.
func (s *Screen) Complain(what, hint string) error {
	text := "zchost: " + strings.TrimSpace(what)
	if hint != "" {
		text += " (" + hint + ")"
	}
	return s.line(red, text)
}

// Fail tells err with its hint. Errors that were joined are told a line each.
func (s *Screen) Fail(err error) error {
	// The assertion is on err itself: only what errors.Join made last is split.
	many, ok := err.(interface{ Unwrap() []error })
	if !ok || !isJoined(err, many.Unwrap()) {
		return s.Complain(err.Error(), fault.HintOf(err))
	}
	var all []error
	for _, e := range many.Unwrap() {
		all = append(all, s.Fail(e))
	}
	return errors.Join(all...)
}

// isJoined reports whether err says no more than its parts, as errors.Join has
// it.
func isJoined(err error, parts []error) bool {
	return err.Error() == errors.Join(parts...).Error()
}

// Finding tells one thing that was looked at, its verdict "ok", "warn" or
// "fail" first. The hint may be empty.
func (s *Screen) Finding(verdict, what, detail, hint string) error {
	st := map[string]style{"ok": green, "warn": yellow, "fail": red}[verdict]
	text := fmt.Sprintf("%-4s  ", verdict)
	if s.Color {
		text = paint(true, st, text)
	}
	text += Clean(oneLine(what + ": " + detail))
	if hint != "" {
		text += "\n      " + Clean(oneLine(hint))
	}
	if _, err := io.WriteString(s.Out, text+"\n"); err != nil {
		return fmt.Errorf("write finding: %w", err)
	}
	return nil
}

// Safe returns text as it may be shown on Out: on a terminal without what a
// terminal would act on.
func (s *Screen) Safe(text string) string {
	if !s.Terminal {
		return text
	}
	return Clean(text)
}

// Heading returns a line that begins a section.
func (s *Screen) Heading(text string) string {
	return paint(s.Color, bold, Clean(oneLine(text)))
}

func (s *Screen) line(st style, text string) error {
	if _, err := io.WriteString(s.Err, paint(s.ErrColor, st, Clean(oneLine(text)))+"\n"); err != nil {
		return fmt.Errorf("write notice: %w", err)
	}
	return nil
}

// oneLine puts a text of several lines into one.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}
