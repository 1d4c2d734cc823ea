package abi_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zchost/zchost/abi"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/abi.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each example document of docs/abi.md is what the codec writes for it, field by
// field and in that order.
func TestPageDocuments(t *testing.T) {
	t.Parallel()
	examples := regexp.MustCompile("(?s)<!-- document: (\\w+) -->\n```json\n(.*?)```").FindAllStringSubmatch(page(t), -1)
	if len(examples) < 8 {
		t.Fatalf("%d examples were found", len(examples))
	}
	for _, e := range examples {
		switch e[1] {
		case "ChatRequest":
			checkExample[abi.ChatRequest](t, e[2])
		case "Event":
			checkExample[abi.Event](t, e[2])
		case "HTTPRequest":
			checkExample[abi.HTTPRequest](t, e[2])
		case "Message":
			checkExample[abi.Message](t, e[2])
		case "ModelList":
			checkExample[abi.ModelList](t, e[2])
		case "ToolList":
			checkExample[abi.ToolList](t, e[2])
		case "ToolCall":
			checkExample[abi.ToolCall](t, e[2])
		case "ToolResult":
			checkExample[abi.ToolResult](t, e[2])
		default:
			t.Errorf("nothing checks the example of %s", e[1])
		}
	}
}

func checkExample[T any, P document[T]](t *testing.T, text string) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(text)); err != nil {
		t.Errorf("%v in %s", err, text)
		return
	}
	var v T
	if err := P(&v).DecodeJSON([]byte(text)); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	if diff := cmp.Diff(want.String(), string(P(&v).AppendJSON(nil))); diff != "" {
		t.Errorf("example (-page +codec):\n%s", diff)
	}
}

// The sequence that docs/abi.md shows byte by byte.
func TestPageBytes(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(page(t), "<!-- bytes -->\n```text\n")
	dump, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no bytes were found")
	}
	var shown []byte
	for line := range strings.Lines(dump) {
		digits, _, _ := strings.Cut(line, "   ")
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, b...)
	}
	seq := abi.AppendHeader(nil, &abi.EventsHeader{State: "3", Names: []string{"delta"}})
	seq = abi.AppendRecord(seq, []byte(`{"piece":"Hi"}`))
	if !bytes.Equal(shown, seq) {
		t.Errorf("page shows %q, want %q", shown, seq)
	}
}
