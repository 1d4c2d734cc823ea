package main

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/sdk/provider"
)

// C008: wherever a server cuts between units of UTF-16, and however its frames
// are spread over calls, the answer is the same.
func TestAnyCutBetweenUnits(t *testing.T) {
	t.Parallel()
	unit := rapid.SampledFrom([]uint16{'a', '"', '\\', 0xE9, 0x6F22, 0xD83D, 0xDEB2, 0xD83D, 0xDEB2})
	rapid.Check(t, func(rt *rapid.T) {
		units := rapid.SliceOfN(unit, 0, 12).Draw(rt, "units")
		member := rapid.SampledFrom([]string{"content", "reasoning", "reasoning_content"}).Draw(rt, "member")
		var groups [][]frame
		for rest := units; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(rt, "units of a frame")
			f := frame{data: fmt.Sprintf(`{"choices":[{"delta":{%q:"%s"}}]}`, member, escaped(rest[:n]))}
			rest = rest[n:]
			if len(groups) > 0 && rapid.Bool().Draw(rt, "in the same call") {
				groups[len(groups)-1] = append(groups[len(groups)-1], f)
			} else {
				groups = append(groups, []frame{f})
			}
		}
		groups = append(groups, []frame{{data: "[DONE]"}})
		var got strings.Builder
		for line := range strings.Lines(decode(t, groups...)) {
			_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			got.WriteString(text)
		}
		if want := string(utf16.Decode(units)); got.String() != want {
			rt.Errorf("got %q, want %q", got.String(), want)
		}
	})
}

// escaped writes every unit as an escape.
func escaped(units []uint16) string {
	var s strings.Builder
	for _, u := range units {
		fmt.Fprintf(&s, `\u%04x`, u)
	}
	return s.String()
}

func TestState(t *testing.T) {
	t.Parallel()
	for text, s := range map[string]state{
		"":          {},
		"m":         {letter: letterMeta},
		"r":         {letter: letterRefused},
		"md83d0000": {letter: letterMeta, text: 0xD83D},
		"r0000dbff": {letter: letterRefused, reasoning: 0xDBFF},
		"-d800d801": {letter: letterNone, text: 0xD800, reasoning: 0xD801},
	} {
		if s.String() != text || readState(text) != s {
			t.Errorf("%+v is written %q, and %q is read as %+v", s, s, text, readState(text))
		}
	}
	if got := (state{text: 0xD83D}).String(); got != "-d83d0000" {
		t.Errorf("nothing told, half a character: %q", got)
	}
}

// A whole answer that ends within a character has its end, too.
func TestHalfOfAWholeAnswer(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"choices":[{"message":{"content":"a\ud83d"}}]}`:                        lines("text a", "text \uFFFD", "finish unknown ()", "done"),
		`{"choices":[{"message":{"content":"a\ud83d"},"finish_reason":"stop"}]}`: lines("text a\uFFFD", "finish stop (stop)", "done"),
	} {
		events, err := chat{}.Response(abi.HTTPResponse{Status: 200, Body: body})
		if got := tell(events); err != nil || got != want {
			t.Errorf("%s: %v\n%s", body, err, got)
		}
	}
}

// FuzzState: no state breaks the plugin, and it keeps none that it does not read.
func FuzzState(f *testing.F) {
	for _, s := range []string{"", "m", "r", "-d83d0000", "md83dd83d", "m+0000000", "漢", "mffffffff"} {
		f.Add(s, `{"choices":[{"delta":{"content":"\udeb2","reasoning":"x\ud83d"}}]}`)
	}
	f.Fuzz(func(t *testing.T, before, data string) {
		d := provider.Decoder{State: before}
		if err := (chat{}).Frame(&d, []byte(data), ""); err != nil {
			t.Fatal(err)
		}
		if s := readState(d.State); d.State != before && s.String() != d.State {
			t.Errorf("state %q is read as %+v", d.State, s)
		}
		checkEvents(t, d.Events)
	})
}
