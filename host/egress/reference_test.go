package egress_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

// reference is a slow and obvious decoder of a whole body.
func reference(framing abi.Framing, body string) (frames []string, end string) {
	body = strings.TrimPrefix(body, "\xEF\xBB\xBF")
	foreign := "<\x1f"
	if framing == abi.FramingSSE {
		body = strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", "\n"), "\r", "\n")
		foreign += `{["`
	}
	if text := strings.TrimLeft(body, " \t\r\n"); text != "" && strings.Contains(foreign, text[:1]) {
		return nil, "not a stream"
	}
	lines := strings.Split(body, "\n")
	last := lines[len(lines)-1]
	end = "eof"
	emit := func(name, data string) {
		switch {
		case end != "eof" || strings.TrimSpace(data) == "":
		case strings.Contains(data, "\x1e"):
			end = "server"
		default:
			frames = append(frames, name+"|"+data)
		}
	}
	isWhole := func(s string) bool {
		s = strings.TrimSpace(s)
		return s == "[DONE]" || json.Valid([]byte(s)) && strings.Contains(`}]"`, s[len(s)-1:])
	}
	if framing == abi.FramingNDJSON {
		for _, line := range lines[:len(lines)-1] {
			emit("", strings.TrimSpace(line))
		}
		if isWhole(last) {
			emit("", strings.TrimSpace(last))
		}
		return frames, end
	}
	var name string
	var data, fault []string
	field := func(line string) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch key {
		case "data":
			data = append(data, value)
		case "event":
			name = value
		case "error":
			fault = append(fault, value)
		}
	}
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			emit(name, strings.Join(data, "\n"))
			emit("error", strings.Join(fault, "\n"))
			name, data, fault = "", nil, nil
			continue
		}
		field(line)
	}
	if strings.HasPrefix(last, "data:") || strings.HasPrefix(last, "error:") {
		field(last)
	}
	if rest := strings.Join(data, "\n"); isWhole(rest) {
		emit(name, rest)
	}
	if rest := strings.Join(fault, "\n"); isWhole(rest) {
		emit("error", rest)
	}
	return frames, end
}

// compare holds Frames against the reference, with the body cut by cuts.
func compare(t fataler, framing abi.Framing, body string, cuts []int) {
	t.Helper()
	want, end := reference(framing, body)
	script := &abi.Script{}
	for _, n := range cuts {
		n = min(n, len(body))
		script.Pieces = append(script.Pieces, abi.Piece{Data: body[:n]})
		body = body[n:]
	}
	script.Pieces = append(script.Pieces, abi.Piece{Data: body})
	resp, err := egress.Play(t.Context(), script, egress.Clocks{})
	if err != nil {
		t.Fatalf("play: %v", err)
	}
	defer resp.Close()
	got, err := drain(resp.Frames(framing))
	if diff := cmp.Diff(want, got); diff != "" || outcome(err) != end {
		t.Fatalf("error %v, want %s; frames (-want +got):\n%s", err, end, diff)
	}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
	Context() context.Context
}

// STR-2: any cut of the same bytes gives the same frames.
func TestAnyCutGivesTheSameFrames(t *testing.T) {
	t.Parallel()
	token := rapid.SampledFrom([]string{
		"data: ", "data:", "data", "event: ", "event", "id: 1", "retry: 1", "error: ", "error:", "error", ": x", ":", "\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n",
		"\xEF\xBB\xBF", "\xEF", "\xBB", "\xBF", `{"a":1}`, `{"a":`, "[DONE]", "漢", "\xE6", "🚲", " ", "x", "12", "\x1e", "\x00", "<", "{", `"s"`,
	})
	rapid.Check(t, func(t *rapid.T) {
		framing := rapid.SampledFrom([]abi.Framing{abi.FramingSSE, abi.FramingNDJSON}).Draw(t, "framing")
		body := strings.Join(rapid.SliceOfN(token, 0, 60).Draw(t, "body"), "")
		if rapid.Bool().Draw(t, "a field first") {
			body = "data: 0\n\n" + body
		}
		compare(t, framing, body, rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "cuts"))
	})
}

func fuzz(f *testing.F, framing abi.Framing) {
	f.Helper()
	for _, body := range []string{
		"data: 1\n\n", "\xEF\xBB\xBFdata: {}\r\n\r\nevent: x\rdata: [DONE]\r\r", "data: {\ndata: }\n", "data: \"\xE6", "{\"a\":1}\n{\"b\":2}", ":\n\n\n", "data: \x1e\n\n",
		"data: 1\n\nerror: {\"code\":500}\n\ndata: [DONE]\n\n", "event: x\nerror:{\ndata: 1\nerror:}\n\nerror: {}",
	} {
		f.Add([]byte(body), []byte{1, 2, 3})
	}
	f.Fuzz(func(t *testing.T, body, cut []byte) {
		cuts := make([]int, len(cut))
		for i, n := range cut {
			cuts[i] = int(n)
		}
		compare(t, framing, string(body), cuts)
	})
}

func FuzzSSE(f *testing.F) { fuzz(f, abi.FramingSSE) }

func FuzzNDJSON(f *testing.F) { fuzz(f, abi.FramingNDJSON) }
