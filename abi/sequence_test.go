package abi_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
)

func TestSequenceBytes(t *testing.T) {
	t.Parallel()
	seq := abi.AppendHeader(nil, &abi.EventsHeader{State: "3", Names: []string{"delta"}})
	seq = abi.AppendRecord(seq, []byte(`{"piece":"Hi"}`))
	seq = abi.AppendEvent(seq, &abi.Event{Type: abi.EventText, Text: "Hi"})
	want := "\x1e{\"state\":\"3\",\"names\":[\"delta\"]}\n\x1e{\"piece\":\"Hi\"}\n\x1e{\"type\":\"text\",\"text\":\"Hi\"}\n"
	if string(seq) != want {
		t.Errorf("got %q, want %q", seq, want)
	}
}

func records(seq []byte) (all []string, err error) {
	for {
		text, rest, ok, err := abi.NextRecord(seq)
		if !ok {
			return all, err
		}
		all = append(all, string(text))
		seq = rest
	}
}

func TestSequenceRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Map(rapid.String(), func(s string) string { return string(bytes.ReplaceAll([]byte(s), []byte{0x1E}, nil)) })
		want := rapid.SliceOf(text).Draw(t, "records")
		var seq []byte
		for _, r := range want {
			seq = abi.AppendRecord(seq, []byte(r))
		}
		got, err := records(seq)
		if err != nil {
			t.Fatal(err)
		}
		if len(want)+len(got) > 0 && !cmp.Equal(want, got) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestSequenceErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]error{
		"{}\n":                     abi.ErrNoRecord,
		"\x1e{}\nx":                abi.ErrCutRecord,
		"\x1e{}":                   abi.ErrCutRecord,
		"\x1e":                     abi.ErrCutRecord,
		"\x1e{}\x1e{}\n":           abi.ErrCutRecord,
		"\x1e{}\n\x1e{\"type\":\"": abi.ErrCutRecord,
	} {
		if _, err := records([]byte(in)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", in, err, want)
		}
	}
}

func FuzzNextRecord(f *testing.F) {
	f.Add([]byte("\x1e{\"state\":\"3\"}\n\x1e[DONE]\n"))
	f.Add([]byte("\x1e\x1e\n\n"))
	f.Fuzz(func(t *testing.T, seq []byte) {
		all, err := records(seq)
		if err != nil {
			return
		}
		var again []byte
		for _, r := range all {
			again = abi.AppendRecord(again, []byte(r))
		}
		if !bytes.Equal(seq, again) {
			t.Fatalf("%q was read as %q", seq, all)
		}
	})
}
