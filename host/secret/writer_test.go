package secret_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zchost/zchost/host/secret"
)

// C138: no secret in logs, however the log is written in pieces.
func TestWriterAnyCut(t *testing.T) {
	t.Parallel()
	text := "one " + key + " two\nthree\n" + key + "\nhalf a line with " + key
	want := strings.ReplaceAll(text, key, secret.Mask)
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w := redactor(key).Writer(&out)
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
				t.Fatalf("Write = %d, %v", k, err)
			}
			rest = rest[n:]
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Fatalf("got %q", out.String())
		}
	})
}

func TestWriterPassesLinesAtOnce(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := redactor(key).Writer(&out)
	if _, err := w.Write([]byte("whole\nhal")); err != nil || out.String() != "whole\n" {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
}

// A line without an end is not held back without bound, and a secret in it is
// found wherever it lies.
func TestWriterLongLine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := redactor(key).Writer(&out)
	text := strings.Repeat(strings.Repeat("x", 997)+key, 1000)
	for piece := range slices.Chunk([]byte(text), 41) {
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() < 900_000 {
		t.Errorf("only %d bytes have passed", out.Len())
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat(strings.Repeat("x", 997)+secret.Mask, 1000); out.String() != want {
		t.Errorf("the line is not what it should be; key in it: %v", strings.Contains(out.String(), key))
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriterReportsErrors(t *testing.T) {
	t.Parallel()
	if _, err := redactor(key).Writer(broken{}).Write([]byte("x\n")); err == nil {
		t.Error("the error is lost")
	}
}
