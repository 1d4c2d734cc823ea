package egress_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/egress"
)

// play returns the frames of a body that arrives in pieces, "name|data" each,
// and why it ended.
func play(t *testing.T, framing abi.Framing, end abi.ScriptEnd, pieces ...string) ([]string, error) {
	t.Helper()
	script := &abi.Script{End: end}
	for _, p := range pieces {
		script.Pieces = append(script.Pieces, abi.Piece{Data: p})
	}
	return playScript(t, framing, script)
}

func playScript(t *testing.T, framing abi.Framing, script *abi.Script) ([]string, error) {
	t.Helper()
	resp, err := egress.Play(t.Context(), script, egress.Clocks{})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	return drain(resp.Frames(framing))
}

func drain(frames *egress.Frames) (all []string, err error) {
	for {
		list, err := frames.Next()
		for _, f := range list {
			all = append(all, f.Name+"|"+string(f.Data))
		}
		if err != nil {
			return all, err
		}
	}
}

func bytewise(s string) []string { return strings.Split(s, "") }

// outcome is an error as the tests compare it.
func outcome(err error) string {
	var e *egress.Error
	switch {
	case err == io.EOF: //nolint:errorlint // the contract is io.EOF itself
		return "eof"
	case errors.Is(err, egress.ErrNotStream):
		return "not a stream"
	case errors.As(err, &e):
		return string(e.Class)
	}
	return err.Error()
}

// STR-2, and cases C002, C004, C006, C008, C012: each body gives its frames
// whole, in two halves wherever it is cut, and byte by byte.
func TestSSE(t *testing.T) {
	t.Parallel()
	const a, b = `{"delta":"A"}`, `{"finish":"stop"}`
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"LF":                     {"data: " + a + "\n\ndata: " + b + "\n\n", []string{"|" + a, "|" + b}},
		"CR":                     {"data: " + a + "\r\rdata: " + b + "\r\r", []string{"|" + a, "|" + b}},
		"CRLF":                   {"data: " + a + "\r\n\r\ndata: " + b + "\r\n\r\n", []string{"|" + a, "|" + b}},
		"mixtures":               {"data: " + a + "\n\r\ndata: " + b + "\r\n\r\r\n\ndata: " + a + "\r\n\n", []string{"|" + a, "|" + b, "|" + a}},
		"LF CR is two":           {"data: 1\n\rdata: 2\n\r", []string{"|1", "|2"}},
		"BOM":                    {"\xEF\xBB\xBFdata: " + a + "\n\n", []string{"|" + a}},
		"BOM before event":       {"\xEF\xBB\xBFevent: message_start\ndata: " + a + "\n\n", []string{"message_start|" + a}},
		"one BOM only":           {"\xEF\xBB\xBF\xEF\xBB\xBFdata: 1\n\ndata: 2\n\n", []string{"|2"}},
		"BOM inside":             {"data: \"\ufeffx\"\n\ndata: \ufeff\n\n", []string{"|\"\ufeffx\"", "|\ufeff"}},
		"comments":               {": ping\n\n:\n:ping\ndata: 1\n: in between\n\n", []string{"|1"}},
		"no space":               {"data:1\n\ndata:  2\n\n", []string{"|1", "| 2"}},
		"several lines":          {"data: {\ndata: \"a\":1\ndata:}\n\n", []string{"|{\n\"a\":1\n}"}},
		"no colon":               {"data\ndata: 1\ndata\n\n", []string{"|\n1\n"}},
		"fields that matter not": {"id: 7\nretry: 5\nfoo: bar\ndata: 1\nDATA: 2\n data: 3\ndata : 4\n\n", []string{"|1"}},
		"names":                  {"event: a\ndata: 1\n\ndata: 2\n\nevent:b\nevent: c\ndata: 3\n\nevent\ndata: 4\n\n", []string{"a|1", "|2", "c|3", "|4"}},
		"name alone":             {"event: response.created\n\ndata: 1\n\n", []string{"|1"}},
		"heartbeats":             {"data:\n\ndata: \n\ndata: 1\n\ndata\ndata:\n\ndata:\n\n", []string{"|1"}},
		"blank lines":            {"\n\n\r\ndata: 1\n\n\n\n", []string{"|1"}},
		"not JSON is a frame":    {"data: oops\n\n", []string{"|oops"}},
		"three and four bytes":   {"data: \"漢字🚲\"\n\n", []string{"|\"漢字🚲\""}},
		"invalid UTF-8":          {"data: \"\xE6\xBC\"\n\n", []string{"|\"\xE6\xBC\""}},
		"no blank line":          {"data: 1\n\ndata: " + b + "\n", []string{"|1", "|" + b}},
		"no line end":            {"data: 1\n\ndata: " + b, []string{"|1", "|" + b}},
		"done without line end":  {"data: 1\n\ndata: [DONE]", []string{"|1", "|[DONE]"}},
		"half a value":           {"data: 1\n\ndata: {\"finish_re", []string{"|1"}},
		"half a value, line end": {"data: 1\n\ndata: {\"finish_re\n", []string{"|1"}},
		"half a character":       {"data: 1\n\ndata: \"\xE6", []string{"|1"}},
		"half a number, perhaps": {"data: 1\n\ndata: 12", []string{"|1"}},
		"half a name":            {"event: message\ndata: {}\nevent: mess", []string{"message|{}"}},
		"half of ANT's end":      {"event: d\ndata: {}\n\nevent: message_stop\ndata: {\"ty", []string{"d|{}"}},
		"error":                  {"data: 1\n\nerror: {\"code\":500}\n\ndata: [DONE]\n\n", []string{"|1", "error|{\"code\":500}", "|[DONE]"}},
		"error that is no JSON":  {"error: no slot\n\n", []string{"error|no slot"}},
		"error beside data":      {"event: x\nerror: {\ndata: 1\nerror:}\n\ndata: 2\n\n", []string{"x|1", "error|{\n}", "|2"}},
		"error, blank":           {"error\n\nerror:\n\nerrors: 1\nError: 1\n\ndata: 1\n\n", []string{"|1"}},
		"error, no blank line":   {"data: 1\nerror: {}\n", []string{"error|{}"}},
		"error, no line end":     {"data: {}\nerror: {}", []string{"|{}", "error|{}"}},
		"half an error":          {"data: 1\n\nerror: {\"co", []string{"|1"}},
		"half an error's name":   {"data: {}\nerro", []string{"|{}"}},
		"empty":                  {"", nil},
		"blank":                  {"\r\n\n", nil},
		"half a BOM":             {"\xEF\xBB", nil},
		"text":                   {"Not Found", nil},
	} {
		for i := range len(c.body) + 1 {
			got, err := play(t, abi.FramingSSE, "", c.body[:i], c.body[i:])
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF { //nolint:errorlint // io.EOF itself
				t.Errorf("%s, cut at %d: error %v, frames (-want +got):\n%s", name, i, err, diff)
				break
			}
		}
		got, err := play(t, abi.FramingSSE, "", bytewise(c.body)...)
		if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF { //nolint:errorlint // io.EOF itself
			t.Errorf("%s, byte by byte: error %v, frames (-want +got):\n%s", name, err, diff)
		}
	}
}

// C046: NDJSON.
func TestNDJSON(t *testing.T) {
	t.Parallel()
	const a, b = `{"message":{"content":"a"},"done":false}`, `{"done":true,"eval_count":2}`
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"lines":             {a + "\n" + a + "\n" + b + "\n", []string{"|" + a, "|" + a, "|" + b}},
		"no last line end":  {a + "\n" + b, []string{"|" + a, "|" + b}},
		"half a last line":  {a + "\n" + b[:9], []string{"|" + a}},
		"CRLF, blanks, BOM": {"\xEF\xBB\xBF" + a + "\r\n\r\n \n" + b + "\r\n", []string{"|" + a, "|" + b}},
		"CR is white space": {"{\"a\":\r1}\n", []string{"|{\"a\":\r1}"}},
		"data is no field":  {"data: 1\n", []string{"|data: 1"}},
		"empty":             {"", nil},
	} {
		for i := range len(c.body) + 1 {
			got, err := play(t, abi.FramingNDJSON, "", c.body[:i], c.body[i:])
			if diff := cmp.Diff(c.want, got); diff != "" || err != io.EOF { //nolint:errorlint // io.EOF itself
				t.Errorf("%s, cut at %d: error %v, frames (-want +got):\n%s", name, i, err, diff)
				break
			}
		}
	}
}

// Two CRs at the end of what has arrived end the frame: it does not wait to
// see whether an LF follows.
func TestBareCRDoesNotDelay(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"data: 1\r\r", "data: 1\r\n\r", "data: 1\n\n"} {
		resp, err := egress.Play(t.Context(), &abi.Script{
			Pieces: []abi.Piece{{Data: body}, {Data: "\ndata: 2\n\n"}},
			End:    abi.ScriptEndSilence,
		}, egress.Clocks{})
		if err != nil {
			t.Fatal(err)
		}
		frames := resp.Frames(abi.FramingSSE)
		for _, want := range []string{"1", "2"} {
			list, err := frames.Next()
			if err != nil || len(list) != 1 || string(list[0].Data) != want {
				t.Errorf("%q: got %v, %v, want frame %s", body, list, err, want)
			}
		}
		resp.Close()
	}
}

// One read gives all frames that it completes, and none that it does not.
func TestNextReturnsAllThatArrived(t *testing.T) {
	t.Parallel()
	resp, err := egress.Play(t.Context(), &abi.Script{Pieces: []abi.Piece{
		{Data: "data: 1\n\ndata: 2\n\nda"}, {Data: "ta: 3\ndata: 4"}, {Data: "\n\ndata: 5\ndata: 6\n\n"},
	}}, egress.Clocks{})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Close()
	frames := resp.Frames(abi.FramingSSE)
	for _, want := range [][]string{{"1", "2"}, {"3\n4", "5\n6"}} {
		list, err := frames.Next()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range list {
			got = append(got, string(f.Data))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// How the body ends does not change which frames there were.
func TestEndings(t *testing.T) {
	t.Parallel()
	body := "data: 1\n\ndata: {\"a\":2}"
	for end, want := range map[abi.ScriptEnd]string{
		abi.ScriptEndClean: "eof", abi.ScriptEndCut: "truncated", "": "eof",
	} {
		got, err := play(t, abi.FramingSSE, end, body)
		if diff := cmp.Diff([]string{"|1", `|{"a":2}`}, got); diff != "" || outcome(err) != want {
			t.Errorf("end %q: %v, want %s (-want +got):\n%s", end, err, want, diff)
		}
	}
}

// STR-2: what is over a limit is a typed failure; the frames before it count.
func TestLimits(t *testing.T) {
	t.Parallel()
	x := func(n int) string { return strings.Repeat("x", n) }
	line := "data: " + x(egress.MaxLine-6) + "\n" // as long as a line may be
	for name, c := range map[string]struct {
		framing abi.Framing
		body    []string
		want    string
		frames  int
	}{
		"longest line":       {abi.FramingSSE, []string{"data: 1\n\n", line, "\n"}, "eof", 2},
		"line too long":      {abi.FramingSSE, []string{"data: 1\n\n", "data: " + x(egress.MaxLine-5) + "\n\n"}, "line is larger than 1 MiB", 1},
		"line without end":   {abi.FramingSSE, []string{"data: 1\n\n", x(egress.MaxLine), "x", x(1 << 20)}, "line is larger than 1 MiB", 1},
		"comment too long":   {abi.FramingSSE, []string{"data: 1\n\n", ":" + x(egress.MaxLine)}, "line is larger than 1 MiB", 1},
		"longest frame":      {abi.FramingSSE, append(slicesRepeat(line, 8), "data: "+x(40)+"\n", "\ndata: 1\n\n"), "eof", 2},
		"frame too long":     {abi.FramingSSE, append(slicesRepeat(line, 8), "data: "+x(41)+"\n", "\ndata: 1\n\n"), "frame is larger than 8 MiB", 0},
		"longest error":      {abi.FramingSSE, append(slicesRepeat("error:"+line[6:], 8), "error:"+x(40)+"\n", "\ndata: 1\n\n"), "eof", 2},
		"error too long":     {abi.FramingSSE, append(slicesRepeat("error:"+line[6:], 8), "error:"+x(41)+"\n", "\ndata: 1\n\n"), "frame is larger than 8 MiB", 0},
		"longest response":   {abi.FramingSSE, append(slicesRepeat(":"+x(1<<20-2)+"\n", 63), "data: 1\n\n:"+x(1<<20-11)+"\n"), "eof", 1},
		"response too long":  {abi.FramingSSE, append(slicesRepeat(":"+x(1<<20-2)+"\n", 63), "data: 1\n\n:"+x(1<<20-11)+"\n", "\n"), "body is larger than 64 MiB", 1},
		"longest JSON line":  {abi.FramingNDJSON, []string{"1\n", x(egress.MaxLine) + "\n"}, "eof", 2},
		"JSON line too long": {abi.FramingNDJSON, []string{"1\n", x(egress.MaxLine+1) + "\n"}, "line is larger than 1 MiB", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := play(t, c.framing, "", c.body...)
			if len(got) != c.frames {
				t.Errorf("%d frames, want %d", len(got), c.frames)
			}
			if c.want == "eof" && outcome(err) != "eof" || !strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if c.want != "eof" && (!errors.Is(err, egress.ErrTooLarge) || outcome(err) != "server") {
				t.Errorf("error %v (%s) is not ErrTooLarge of class server", err, outcome(err))
			}
		})
	}
}

func slicesRepeat(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

// A frame with the byte 0x1E could not be handed to the plugin.
func TestRecordSeparator(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"data: \"\x1e\"\n\ndata: 2\n\n", "error: \x1e\n\ndata: 2\n\n", "error: {}\ndata: \x1e\n\n"} {
		got, err := play(t, abi.FramingSSE, "", "data: 1\n\n"+body)
		if diff := cmp.Diff([]string{"|1"}, got); diff != "" || outcome(err) != "server" {
			t.Errorf("%q: %v (-want +got):\n%s", body, err, diff)
		}
	}
}

// STR-4, C010, C020: a body that is no stream is said to be none, and can still
// be read whole.
func TestNotAStream(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"error":"no such route"}`, "\n  {\"a\":1}\n\ndata: 1\n\n", `[1]`, `"busy"`, "<!doctype html><p>Sign in", "\xEF\xBB\xBF{}", "\x1f\x8b\x08junk",
	} {
		resp, err := egress.Play(t.Context(), &abi.Script{Pieces: []abi.Piece{{Data: body[:2]}, {Data: body[2:]}}}, egress.Clocks{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := resp.Frames(abi.FramingSSE).Next(); outcome(err) != "not a stream" {
			t.Errorf("%q: %v", body, err)
		}
		whole, err := resp.Body(1 << 20)
		if strings.HasPrefix(body, "\x1f") {
			if err == nil || !strings.Contains(err.Error(), "compressed without saying so") {
				t.Errorf("%q: %v", body, err)
			}
			continue
		}
		if want := strings.TrimPrefix(body, "\xEF\xBB\xBF"); err != nil || strings.TrimSpace(string(whole)) != strings.TrimSpace(want) {
			t.Errorf("%q: then Body gives %q, %v", body, whole, err)
		}
	}
}
