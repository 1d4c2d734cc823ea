package abi_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/abi/jsonscan"
)

// document is what the generator makes of a type.
type document[T any] interface {
	*T
	AppendJSON(dst []byte) []byte
	DecodeJSON(data []byte) error
}

// TestCodec compares the generated encoding of each document with
// encoding/json. A test of the generator holds the list complete.
func TestCodec(t *testing.T) {
	t.Parallel()
	compare[abi.ChatEvents](t)
	compare[abi.ChatFragments](t)
	compare[abi.ChatMessages](t)
	compare[abi.ChatRequest](t)
	compare[abi.Event](t)
	compare[abi.EventsHeader](t)
	compare[abi.Failure](t)
	compare[abi.HTTPRequest](t)
	compare[abi.HTTPResponse](t)
	compare[abi.Header](t)
	compare[abi.Message](t)
	compare[abi.Model](t)
	compare[abi.ModelList](t)
	compare[abi.ModelsQuery](t)
	compare[abi.Part](t)
	compare[abi.Piece](t)
	compare[abi.Script](t)
	compare[abi.Tool](t)
	compare[abi.ToolCall](t)
	compare[abi.ToolList](t)
	compare[abi.ToolResult](t)
	compare[abi.ToolSpec](t)
	compare[abi.ToolsQuery](t)
	compare[abi.Usage](t)
}

func compare[T any, P document[T]](t *testing.T) {
	t.Helper()
	t.Run(reflect.TypeFor[T]().Name(), rapid.MakeCheck(func(t *rapid.T) {
		v := rapid.MakeCustom[T](values()).Draw(t, "v")
		std, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		own := P(&v).AppendJSON([]byte("x"))[1:]
		want := standard[T](t, std)
		if diff := cmp.Diff(want, standard[T](t, own), same()); diff != "" {
			t.Fatalf("AppendJSON gives %s\nwhere encoding/json gives %s\n%s", own, std, diff)
		}
		for _, data := range [][]byte{std, own} {
			got := v // what was there before has to go
			if err := P(&got).DecodeJSON(data); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, same()); diff != "" {
				t.Fatalf("DecodeJSON of %s (-std +own):\n%s", data, diff)
			}
		}
	}))
}

func standard[T any](t *rapid.T, data []byte) (v T) {
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("encoding/json: %v in %s", err, data)
	}
	return v
}

// values draws what reflection cannot know.
func values() rapid.MakeConfig {
	return rapid.MakeConfig{
		Types: map[reflect.Type]*rapid.Generator[any]{
			reflect.TypeFor[abi.Raw](): rapid.SampledFrom([]abi.Raw{
				nil, abi.Raw(`{}`), abi.Raw(`{"a":[1,true,null,"x"]}`), abi.Raw(`1.5`), abi.Raw(`"text"`), abi.Raw(`[]`),
			}).AsAny(),
			reflect.TypeFor[abi.EventType](): rapid.SampledFrom([]abi.EventType{
				"", abi.EventText, abi.EventDone, abi.EventToolCall, "of a later version",
			}).AsAny(),
		},
		Kinds: map[reflect.Kind]*rapid.Generator[any]{
			reflect.String: rapid.OneOf(
				rapid.String(),
				rapid.StringN(0, 40, -1),
				rapid.SampledFrom([]string{"", "\xff\xfe", "a\xe6\xbc", "\x00\x1e\x1f\n\r\t\"\\", "漢字🚲 and then some", "</script>\u2028"}),
			).AsAny(),
		},
	}
}

// same ignores what JSON does not show: empty or absent, and a null that is
// kept as text.
func same() cmp.Options {
	noRaw := func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[abi.Raw]() }
	return cmp.Options{
		cmp.FilterPath(noRaw, cmpopts.EquateEmpty()),
		cmp.Transformer("raw", func(r abi.Raw) string {
			if string(r) == "null" {
				return ""
			}
			return string(r)
		}),
	}
}

// Null counts as absent, unknown fields are ignored, and what is missing is
// zero.
func TestDecodeTolerance(t *testing.T) {
	t.Parallel()
	var e abi.Event
	err := e.DecodeJSON([]byte(` {"later":{"deep":[1,{}]},"type":"usage","text":null,"index":null,"usage":{"input":12.0,"output":null},"failure":null} `))
	if err != nil {
		t.Fatal(err)
	}
	n := int64(12)
	if diff := cmp.Diff(abi.Event{Type: abi.EventUsage, Usage: &abi.Usage{Input: &n}}, e); diff != "" {
		t.Error(diff)
	}
	var list abi.ChatFragments
	if err := list.DecodeJSON([]byte(`{"fragments":["a",null,"b"]}`)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "", "b"}, list.Fragments); diff != "" {
		t.Error(diff)
	}
	var m abi.Message
	if err := m.DecodeJSON([]byte(`null`)); err != nil {
		t.Error(err)
	}
}

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``:                           "decode ChatEvents: json: unexpected end at byte 0",
		`[]`:                         "decode ChatEvents: json: array where object was expected at byte 0",
		`{"events":{}}`:              "decode ChatEvents: json: object where array was expected at byte 10",
		`{"events":[1]}`:             "decode ChatEvents: json: number where object was expected at byte 11",
		`{"events":[{"type":1}]}`:    "decode ChatEvents: json: number where string was expected at byte 19",
		`{"events":[{"index":"1"}]}`: "decode ChatEvents: json: string where number was expected at byte 20",
		`{"events":[]}{}`:            "decode ChatEvents: json: more than one value at byte 13",
		`{"later":[1,]}`:             "decode ChatEvents: json: unexpected character at byte 12",
	} {
		var v abi.ChatEvents
		err := v.DecodeJSON([]byte(in))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
		var decode *abi.DecodeError
		var syntax *jsonscan.SyntaxError
		if !errors.As(err, &decode) || !errors.As(err, &syntax) {
			t.Errorf("%s: error is a %T", in, err)
		}
	}
}

// The decoded document keeps no part of the input, which is used again for the
// next call.
func TestDecodeCopies(t *testing.T) {
	t.Parallel()
	data := []byte(`{"model":"m","outline":"uT","base_url":"http://x","options":{"a":1},"stop":["s"]}`)
	var r abi.ChatRequest
	if err := r.DecodeJSON(data); err != nil {
		t.Fatal(err)
	}
	clear(data)
	want := abi.ChatRequest{Model: "m", Outline: "uT", BaseURL: "http://x", Options: abi.Raw(`{"a":1}`), Stop: []string{"s"}}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

// JSON has no infinity: such a number is absent rather than a broken document.
func TestNumbersThatJSONCannotHold(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r := abi.ChatRequest{Temperature: &f}
		if data := r.AppendJSON(nil); !json.Valid(data) {
			t.Errorf("%v gives %s", f, data)
		}
	}
}

func TestKnownWordsAreNotAllocated(t *testing.T) {
	data := []byte(`{"type":"done"}`)
	var e abi.Event
	if n := testing.AllocsPerRun(10, func() { _ = e.DecodeJSON(data) }); n != 0 {
		t.Errorf("%v allocations for an event without texts", n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","parts":[{"type":"text","text":"é\n"}]}],"temperature":0.5,"tools":[{"name":"t","input_schema":{}}]}`))
	f.Add([]byte(`{"url":"u","headers":[{"name":"a","value":"b"}],"script":{"pieces":[{"delay_ms":1,"data":"x"}],"end":"cut"}}`))
	f.Add([]byte(`{"type":"usage","usage":{"input":1},"failure":{"class":"auth"},"events":[{"type":"finish","reason":"stop"}]}`))
	f.Add([]byte(`{"status":1e3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		again[abi.ChatRequest](t, data)
		again[abi.HTTPRequest](t, data)
		again[abi.HTTPResponse](t, data)
		again[abi.ChatEvents](t, data)
		again[abi.Event](t, data)
		again[abi.ModelList](t, data)
	})
}

// again checks that what was decoded comes back after encoding.
func again[T any, P document[T]](t *testing.T, data []byte) {
	t.Helper()
	var v, w T
	if P(&v).DecodeJSON(data) != nil {
		return
	}
	if err := P(&w).DecodeJSON(P(&v).AppendJSON(nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, w, cmpopts.EquateEmpty()); diff != "" {
		t.Fatal(diff)
	}
}

func BenchmarkEvent(b *testing.B) {
	data := []byte(`{"type":"text","text":" the next piece"}`)
	var e abi.Event
	for b.Loop() {
		if e.DecodeJSON(data) != nil {
			b.Fatal("no event")
		}
	}
}
