package protocols

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zchost/zchost/host"
	"github.com/zchost/zchost/host/journal"
	"github.com/zchost/zchost/host/turn"
)

// toolCase is a session in which the model calls tools: each turn is an answer
// with calls, and then one of text.
type toolCase struct {
	turns [][]piece
	// calls are those that the host understood: "name arguments; …" a turn.
	calls []string
	// first, if not nil, is the stream of the first answer of each turn, in
	// place of the wire's own: chat completions only.
	first []string
}

func called(id, name, args string) piece { return piece{kind: call, id: id, name: name, args: args} }

// toolCases are those of all protocols.
func toolCases() map[string]toolCase {
	return map[string]toolCase{
		"two": {
			turns: [][]piece{{{text: "I look."}, called("a", "up", `{"x":1}`), called("b", "down", `{"x":2}`)}},
			calls: []string{`up {"x":1}; down {"x":2}`},
		},
		"C026-repeated": {
			turns: [][]piece{{called("call_0", "ls", `{"p":"a"}`)}, {called("call_0", "cat", `{"p":"b"}`)}, {called("call_0", "cat", `{"p":"b"}`)}},
			calls: []string{`ls {"p":"a"}`, `cat {"p":"b"}`, `cat {"p":"b"}`},
		},
		"C026-constant": {
			turns: [][]piece{{called("call_0", "ls", `{"p":"a"}`), called("call_0", "cat", `{"p":"b"}`)}},
			calls: []string{`ls {"p":"a"}; cat {"p":"b"}`},
		},
		"same-twice": {
			turns: [][]piece{{called("a", "ls", `{"p":"a"}`), called("b", "ls", `{"p":"a"}`)}},
			calls: []string{`ls {"p":"a"}; ls {"p":"a"}`},
		},
		"odd-id": {
			turns: [][]piece{{called("functions.ls:0/ü "+strings.Repeat("x", 90), "ls", `{"p":"a"}`)}},
			calls: []string{`ls {"p":"a"}`},
		},
		"C028-none": {
			turns: [][]piece{{called("a", "status", "")}},
			calls: []string{`status {}`},
		},
		"C032-escapes": {
			turns: [][]piece{{called("a", "say", `{"t":"a\n\u00e9 \ud83c\udf0d\"q\""}`)}},
			calls: []string{`say {"t":"a\n\u00e9 \ud83c\udf0d\"q\""}`},
		},
	}
}

// deltas is a stream of chat completions whose chunks hold these tool calls.
func deltas(finish string, chunks ...string) []string {
	var b strings.Builder
	for _, d := range chunks {
		b.WriteString(chat{}.chunk(`{"tool_calls":[`+d+`]}`, "null"))
	}
	return []string{b.String() + chat{}.chunk("{}", quote(finish)) + "data: [DONE]\n\n"}
}

// chatToolCases are the ways in which servers of chat completions give calls
// (C022, C024, C028, C030, C146).
func chatToolCases() map[string]toolCase {
	two := []string{`up {"x":1}; down {"x":2}`}
	up, down := `"type":"function","function":{"name":"up","arguments":"{\"x\":1}"}`, `"type":"function","function":{"name":"down","arguments":"{\"x\":2}"}`
	return map[string]toolCase{
		"C022-no-index":  {first: deltas("tool_calls", `{"id":"a",`+up+`}`, `{"id":"b",`+down+`}`), calls: two},
		"C022-one-chunk": {first: deltas("tool_calls", `{"id":"a",`+up+`},{"id":"b",`+down+`}`), calls: two},
		"C022-nothing":   {first: deltas("tool_calls", `{`+up+`}`, `{`+down+`}`), calls: two},
		"C022-index-0":   {first: deltas("tool_calls", `{"index":0,"id":"a",`+up+`}`, `{"index":0,"id":"b",`+down+`}`), calls: two},
		"C022-no-id":     {first: deltas("tool_calls", `{"index":0,`+up+`}`, `{"index":1,`+down+`}`), calls: two},
		"C024-interleaved": {first: deltas("tool_calls",
			`{"index":0,"id":"a","type":"function","function":{"name":"t1","arguments":""}}`,
			`{"index":1,"id":"b","type":"function","function":{"name":"t2","arguments":""}}`,
			`{"index":0,"function":{"arguments":"{\"target\":\"A\"}"}}`,
			`{"index":1,"function":{"arguments":"{\"target\":\"B\"}"}}`,
		), calls: []string{`t1 {"target":"A"}; t2 {"target":"B"}`}},
		"C146-stop": {first: deltas("stop", `{"index":0,"id":"a",`+up+`}`, `{"index":1,"id":"b",`+down+`}`), calls: two},
		"C028-null": {first: deltas("tool_calls", `{"index":0,"id":"a","function":{"name":"status","arguments":null}}`), calls: []string{`status {}`}},
		"C030-cut": {
			first: deltas("tool_calls", `{"index":0,"id":"a","function":{"name":"write","arguments":"{\"content\":\"aaaa"}}`),
			calls: []string{`write {"invalid_arguments":"{\"content\":\"aaaa"}`},
		},
	}
}

// The host understands the calls of every protocol, gives each an id of its
// own, and sends a history that a strict server takes (C022 to C032, C096,
// STR-6).
func TestToolCalls(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		for _, noStream := range []bool{false, true} {
			t.Run(w.plugin()+"/"+modeOf(!noStream), func(t *testing.T) {
				t.Parallel()
				runTools(t, w, toolCases(), noStream)
			})
		}
	}
	t.Run("openai-chat/dialects", func(t *testing.T) {
		t.Parallel()
		runTools(t, chat{}, chatToolCases(), false)
	})
}

func runTools(t *testing.T, w wire, cases map[string]toolCase, noStream bool) {
	v := startVendor(t, w)
	config := provider("p", v, 1, "")
	for name, c := range cases {
		v.plays(name, c.scripts(w, noStream)...)
		v.judge(name, func(r request) *script {
			if err := strict(w, r.body); err != nil {
				s := jsonScript(400, fmt.Sprintf(`{"error":{"message":%s}}`, quote(err.Error())))
				return &s
			}
			return nil
		})
		config += agent("p", name, "", "")
	}
	h := startHost(t, newHome(t, config))
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for i, want := range c.calls {
				s := ask(t, h, turn.Message{Session: name, Agent: name, Surface: "cli", Text: "go", NoStream: noStream})
				if s.err != nil || s.turn.State != journal.Complete || s.text != "better now" && !strings.HasSuffix(s.text, "better now") {
					requests := v.asked(name)
					t.Fatalf("turn %d: %v, %s, %q: %s\n%s", i+1, s.err, s.turn.State, s.text, s.turn.Error.Message, indented(requests[len(requests)-1].body))
				}
				if got := understood(t, h, s.turn.ID); got != want {
					t.Errorf("turn %d has the calls %q, want %q", i+1, got, want)
				}
			}
		})
	}
}

// scripts are the answers of all turns.
func (c toolCase) scripts(w wire, noStream bool) []script {
	if c.first != nil {
		return []script{stream(w, c.first...), better(w)}
	}
	var all []script
	for _, pieces := range c.turns {
		r := reply{pieces: pieces, finish: calls, in: 7, out: 3}
		if noStream {
			all = append(all, jsonScript(200, w.whole(r)), better(w))
		} else {
			all = append(all, stream(w, w.streamed(r).all()), stream(w, w.streamed(say("better| now")).all()))
		}
	}
	return all
}

// understood are the turn's calls.
func understood(t *testing.T, h *host.Host, id string) string {
	t.Helper()
	rows, err := h.Journal().Calls(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.Name + " " + r.Arguments
	}
	return strings.Join(all, "; ")
}
