package egress_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

func zip(t *testing.T, parts ...string) []string {
	t.Helper()
	var out []string
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for _, p := range parts {
		if _, err := io.WriteString(w, p); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		out = append(out, b.String())
		b.Reset()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return append(out, b.String())
}

// C010: a compressed stream gives each frame when its flush arrives, cut ones
// are truncated, and other encodings are named.
func TestCompressedStream(t *testing.T) {
	t.Parallel()
	pieces := zip(t, "data: 1\n\n", "data: 2\n\n")
	encoded := func(encoding, end string, pieces ...string) *abi.Script {
		s := &abi.Script{Headers: []abi.Header{{Name: "Content-Encoding", Value: encoding}}, End: abi.ScriptEnd(end)}
		for _, p := range pieces {
			s.Pieces = append(s.Pieces, abi.Piece{Data: p})
		}
		return s
	}

	resp, err := egress.Play(t.Context(), encoded("gzip", "silence", pieces[:2]...), egress.Clocks{})
	if err != nil {
		t.Fatal(err)
	}
	frames := resp.Frames(abi.FramingSSE)
	for _, want := range []string{"1", "2"} {
		// The connection stays open and silent: a decoder that waits hangs.
		if list, err := frames.Next(); err != nil || len(list) != 1 || string(list[0].Data) != want {
			t.Fatalf("got %v, %v, want %s", list, err, want)
		}
	}
	resp.Close()

	both := []string{"|1", "|2"}
	for name, c := range map[string]struct {
		script *abi.Script
		frames []string
		want   string
	}{
		"whole":          {encoded("gzip", "", pieces...), both, "eof"},
		"x-gzip":         {encoded("X-GZIP, identity", "", pieces...), both, "eof"},
		"byte by byte":   {encoded("gzip", "", bytewise(strings.Join(pieces, ""))...), both, "eof"},
		"two members":    {encoded("gzip", "", append(zip(t, "data: 1\n\n"), zip(t, "data: 2\n\n")...)...), both, "eof"},
		"cut at a flush": {encoded("gzip", "", pieces[:2]...), both, "truncated"},
		"cut in a block": {encoded("gzip", "", pieces[0], pieces[1][:4]), []string{"|1"}, "truncated"},
		"cut connection": {encoded("gzip", "cut", pieces[0]), []string{"|1"}, "truncated"},
		"empty":          {encoded("gzip", ""), nil, "eof"},
		"not gzip":       {encoded("gzip", "", "data: 1\n\n  "), nil, "server"},
		"damaged":        {encoded("gzip", "", pieces[0], "\xff\xff\xff\xff\xff\xff"), []string{"|1"}, "server"},
		"brotli":         {encoded("br", "", "data: 1\n\n"), nil, "server"},
		"twice":          {encoded("gzip, gzip", "", pieces...), nil, "server"},
		"unsolicited":    {encoded("identity", "", pieces...), nil, "not a stream"},
	} {
		got, err := playScript(t, abi.FramingSSE, c.script)
		if diff := cmp.Diff(c.frames, got); diff != "" || outcome(err) != c.want {
			t.Errorf("%s: error %v, want %s; frames (-want +got):\n%s", name, err, c.want, diff)
		}
	}
}

// A little that decompresses to very much is stopped at the limit.
func TestCompressionBomb(t *testing.T) {
	t.Parallel()
	member := strings.Join(zip(t, strings.Repeat(":"+strings.Repeat("x", 1022)+"\n", 1024)), "")
	script := &abi.Script{
		Headers: []abi.Header{{Name: "content-encoding", Value: "gzip"}},
		Pieces:  []abi.Piece{{Data: strings.Repeat(member, 65)}},
	}
	if _, err := playScript(t, abi.FramingSSE, script); !errors.Is(err, egress.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	resp, err := egress.Play(t.Context(), script, egress.Clocks{})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := resp.Body(1 << 20); !errors.Is(err, egress.ErrTooLarge) || len(b) != 1<<20 {
		t.Errorf("%d bytes, error %v", len(b), err)
	}
}
