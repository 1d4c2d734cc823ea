package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zchost/zchost/abi/jsonscan"
)

// decode reads any document into what encoding/json gives for it.
func decode(s *jsonscan.Scanner) any {
	switch s.Kind() {
	case jsonscan.Object:
		m := map[string]any{}
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			m[string(key)] = decode(s)
		}
		return m
	case jsonscan.Array:
		a := []any{}
		for s.Array(); s.Elem(); {
			a = append(a, decode(s))
		}
		return a
	case jsonscan.String:
		return s.String()
	case jsonscan.Number:
		return json.Number(s.Raw())
	case jsonscan.Bool:
		return s.Bool()
	case jsonscan.Null:
		s.Null()
	case jsonscan.Invalid:
		s.Skip()
	}
	return nil
}

// depth counts the nesting of a valid document.
func depth(data []byte) int {
	deepest, now, quoted := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '{' || c == '['):
			now++
			deepest = max(deepest, now)
		case !quoted && (c == '}' || c == ']'):
			now--
		}
	}
	return deepest
}

func FuzzScanner(f *testing.F) {
	for _, seed := range seeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		want := json.Valid(data) && depth(data) <= jsonscan.MaxDepth

		s := jsonscan.New(data)
		s.Skip()
		if err := s.End(); (err == nil) != want {
			t.Fatalf("Skip: %v, want valid = %v", err, want)
		}
		s = jsonscan.New(data)
		got := decode(&s)
		if err := s.End(); (err == nil) != want {
			t.Fatalf("decode: %v, want valid = %v", err, want)
		}
		if !bytes.Equal(before, data) {
			t.Fatal("the scanner changed the document")
		}
		if !want {
			return
		}
		var std any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&std); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(std, got) { // cmp.Diff takes ages on deep nesting
			t.Fatalf("encoding/json gives %v, the scanner %v", std, got)
		}
		s = jsonscan.New(data)
		if raw := s.Raw(); !bytes.Equal(raw, bytes.TrimSpace(data)) {
			t.Fatalf("Raw = %q of %q", raw, data)
		}
		checkTyped(t, data)
	})
}

// checkTyped compares the methods for strings and numbers with encoding/json.
func checkTyped(t *testing.T, data []byte) {
	t.Helper()
	var n int64
	if json.Unmarshal(data, &n) == nil && data[0] != 'n' {
		s := jsonscan.New(data)
		if got := s.Int(); got != n || s.End() != nil {
			t.Fatalf("Int = %d, %v, want %d", got, s.Err(), n)
		}
	}
	var x float64
	s := jsonscan.New(data)
	if s.Kind() == jsonscan.Number {
		err := json.Unmarshal(data, &x)
		if got := s.Float(); (err == nil) != (s.End() == nil) || err == nil && got != x {
			t.Fatalf("Float = %v, %v, want %v, %v", got, s.Err(), x, err)
		}
	}
	var text string
	if json.Unmarshal(data, &text) == nil && s.Kind() == jsonscan.String {
		s := jsonscan.New(data)
		if got := s.AppendString([]byte("x")); string(got) != "x"+text || s.End() != nil {
			t.Fatalf("AppendString = %q, %v, want %q", got, s.Err(), text)
		}
		s = jsonscan.New(data)
		if got := s.Bytes(); string(got) != text || s.End() != nil {
			t.Fatalf("Bytes = %q, %v, want %q", got, s.Err(), text)
		}
	}
}

// StringPart: wherever a string is cut, the parts give the same as the whole.
func FuzzStringPart(f *testing.F) {
	for _, seed := range []string{"", "a", "漢字🚲", `\ud83d`, `\udeb2`, `x\uD83D`, `\uDEB2y`, `\ud83d\udeb2`, `\\ud83d`, `\\\ud83d`, `\u0041`, `\n`} {
		for _, next := range []string{"", "b", `\uDEB2`, `\ud83d`, `\udeb2\ud83d`, `\u0041`, `\"`, "🚲"} {
			f.Add(seed, next, `\udeb2`)
		}
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var want string
		for _, part := range []string{a, b, c} {
			if !utf8.ValidString(part) || !json.Valid([]byte(`"`+part+`"`)) {
				return
			}
		}
		if err := json.Unmarshal([]byte(`"`+a+b+c+`"`), &want); err != nil {
			t.Fatal(err)
		}
		got := ""
		var high rune
		s := jsonscan.New([]byte(`["` + a + `","` + b + `","` + c + `"]`))
		for s.Array(); s.Elem(); {
			var part string
			part, high = s.StringPart(high)
			got += part
		}
		if high != 0 {
			got += string(utf8.RuneError)
		}
		if got != want || s.End() != nil {
			t.Fatalf("parts give %q, %v, want %q", got, s.End(), want)
		}
	})
}

func TestStringPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		data string
		high rune
		want string
		rest rune
	}{
		{`"plain"`, 0, "plain", 0},
		{`"plain"`, 0xD83D, "\uFFFDplain", 0},
		{`""`, 0, "", 0},
		{`""`, 0xD83D, "", 0xD83D},
		{`"a\ud83d"`, 0, "a", 0xD83D},
		{`"\ud83d"`, 0xD83C, "\uFFFD", 0xD83D},
		{`"\udeb2"`, 0xD83D, "🚲", 0},
		{`"\uDEB2b\uD83D"`, 0xD83D, "🚲b", 0xD83D},
		{`"\udeb2"`, 0, "\uFFFD", 0},
		{`"\ud83d\udeb2"`, 0, "🚲", 0},
		{`"\ud83dx"`, 0, "\uFFFDx", 0},
		{`"\\ud83d"`, 0, `\ud83d`, 0},
		{`"\\\ud83d"`, 0, `\`, 0xD83D},
		{"\"\xff\"", 0, "\uFFFD", 0},
	} {
		s := jsonscan.New([]byte(c.data))
		if got, rest := s.StringPart(c.high); got != c.want || rest != c.rest || s.End() != nil {
			t.Errorf("%s after %X: %q and %X, %v, want %q and %X", c.data, c.high, got, rest, s.End(), c.want, c.rest)
		}
	}
	s := jsonscan.New([]byte(`1`))
	if got, rest := s.StringPart(0xD83D); got != "" || rest != 0xD83D || s.Err() == nil {
		t.Errorf("of a number: %q, %X, %v", got, rest, s.Err())
	}
}

func FuzzAppendString(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := jsonscan.AppendString([]byte("x"), s)[1:]
		if !json.Valid(got) {
			t.Fatalf("AppendString(%q) = %q is not JSON", s, got)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var std string
		if err := json.Unmarshal(want, &std); err != nil {
			t.Fatal(err)
		}
		if back != std {
			t.Fatalf("AppendString(%q) stands for %q, want %q", s, back, std)
		}
		if again := jsonscan.AppendString(nil, []byte(s)); !bytes.Equal(again, got) {
			t.Fatalf("AppendString of bytes = %q, of a string = %q", again, got)
		}
	})
}

func seeds() []string {
	list := []string{
		``, ` `, `{}`, `[]`, `""`, `0`, `-0`, `01`, `-`, `1.`, `1.5e+3`, `1E400`, `2e`, `true`, `tru`, `false`, `null`, `nul`,
		`{"a":1,}`, `{"a":1,"b":[1,2,{"c":null}]}`, `{,}`, `[,]`, `[1,]`, `[1 2]`, `{"a" 1}`, `{"a":}`, `{"a"}`, `{1:2}`,
		`"\u00e9\ud83c\udf0d"`, `"\ud83c"`, `"\ud83c\u0041"`, `"\udf0d\ud83c"`, `"\u12"`, `"\u12g4"`, `"\x"`, `"abc`, `"abc\`, "\"a\tb\"", "\"a\x00b\"",
		"\"\xff\"", "\"1234567\xe6\xbc\"", "{\"k\xff\":1}", `{"k\n":"v\"\\\/\b\f\n\r\t"}`, "\xef\xbb\xbf{}", "\x00", "1\x00", "[\x00]",
		`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `12.0`, `1e2`, `1.5`, `1 1`, `{}{}`, `[}`, `{]`,
		" \t\r\n{ \"a\" : [ 1 , 2 ] } \n", `"漢字🚲 and more text than fits into one word"`, "a\u2028b\u007f",
		strings.Repeat("[", 128) + strings.Repeat("]", 128), strings.Repeat("[", 129) + strings.Repeat("]", 129),
		chunk,
	}
	for n := range 20 {
		list = append(list, `"`+strings.Repeat("x", n)+`"`, `"`+strings.Repeat("y", n)+`\n`+strings.Repeat("é", n)+`"`)
	}
	return list
}

// chunk is a usual frame of a streamed answer, about 210 bytes.
const chunk = `{"id":"chatcmpl-9aZ","object":"chat.completion.chunk","created":1723456789,"model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":" the next piece"},"logprobs":null,"finish_reason":null}],"usage":null}`

// What is not read is skipped, and checked all the same.
func TestUnreadIsSkipped(t *testing.T) {
	t.Parallel()
	s := jsonscan.New([]byte(`{"a":{"deep":[1,2]},"b":2,"c":[{"x":1},{"x":2}],"d":"end"}`))
	var got string
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		got += string(key)
		if string(key) == "c" {
			for s.Array(); s.Elem(); {
				got += "."
			}
		}
	}
	if err := s.End(); err != nil || got != "abc..d" {
		t.Fatalf("got %q, %v", got, err)
	}
	s = jsonscan.New([]byte(`{"a":{"deep":[1,2,]}}`))
	s.Object()
	for _, ok := s.Key(); ok; _, ok = s.Key() {
	}
	if s.End() == nil {
		t.Fatal("a fault in a skipped value was not found")
	}
}

func TestWrongUse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, data, want string
		read             func(*jsonscan.Scanner)
	}{
		{"int of a string", `"1"`, "json: string where number was expected at byte 0", func(s *jsonscan.Scanner) { s.Int() }},
		{"string of null", ` null`, "json: null where string was expected at byte 1", func(s *jsonscan.Scanner) { _ = s.String() }},
		{"bool of an object", `{}`, "json: object where boolean was expected at byte 0", func(s *jsonscan.Scanner) { s.Bool() }},
		{"object of an array", `[1]`, "json: array where object was expected at byte 0", func(s *jsonscan.Scanner) { s.Object() }},
		{"array of a number", `1`, "json: number where array was expected at byte 0", func(s *jsonscan.Scanner) { s.Array() }},
		{"too large", `9223372036854775808`, "json: number is not an integer of 64 bits at byte 0", func(s *jsonscan.Scanner) { s.Int() }},
		{"a fraction", `1.5`, "json: number is not an integer of 64 bits at byte 0", func(s *jsonscan.Scanner) { s.Int() }},
		{"float too large", `1e999`, "json: number is too large at byte 0", func(s *jsonscan.Scanner) { s.Float() }},
		{"read twice", `[1,2]`, "json: no value here at byte 2", func(s *jsonscan.Scanner) { s.Array(); s.Elem(); s.Int(); s.Int() }},
		{"value before its key", `{"a":1}`, "json: no value here at byte 1", func(s *jsonscan.Scanner) { s.Object(); s.Int() }},
		{"left open", `{"a":1}`, "json: object or array was not read to its end at byte 1", func(s *jsonscan.Scanner) { s.Object() }},
		{"key outside", `1}`, "json: expected a comma or the end of the object at byte 1", func(s *jsonscan.Scanner) { s.Int(); s.Key() }},
		{"cut", `{"a":"b`, "json: unexpected end at byte 7", func(s *jsonscan.Scanner) { s.Skip() }},
		{"nothing", ``, "json: unexpected end at byte 0", func(*jsonscan.Scanner) {}},
		{"two values", `{} {}`, "json: more than one value at byte 3", func(s *jsonscan.Scanner) { s.Skip() }},
	} {
		s := jsonscan.New([]byte(c.data))
		c.read(&s)
		err := s.End()
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		var syntax *jsonscan.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%s: error is a %T", c.name, err)
		}
	}
}

// After an error everything is zero and false, so that callers may check once.
func TestAfterAnError(t *testing.T) {
	t.Parallel()
	s := jsonscan.New([]byte(`["a",1,true,null,{},[]]`))
	s.Array()
	s.Elem()
	first := s.Int()
	key, ok := s.Key()
	if first != 0 || s.String() != "" || s.Int() != 0 || s.Float() != 0 || s.Bool() || s.Null() || s.Raw() != nil || s.Bytes() != nil ||
		s.Object() || s.Array() || s.Elem() || ok || key != nil || s.Kind() != jsonscan.Invalid || len(s.AppendString(nil)) != 0 {
		t.Error("a method returned something after an error")
	}
	if err := s.End(); err == nil || err.Error() != "json: string where number was expected at byte 1" {
		t.Errorf("the first error was not kept: %v", err)
	}
}

func TestNull(t *testing.T) {
	t.Parallel()
	s := jsonscan.New([]byte(`[null,1]`))
	s.Array()
	if !s.Elem() || !s.Null() {
		t.Error("null was not read")
	}
	if !s.Elem() || s.Null() || s.Int() != 1 || s.Elem() || s.End() != nil {
		t.Error("Null read something else")
	}
}

func TestNoAllocation(t *testing.T) {
	data, dst := []byte(chunk), make([]byte, 0, 64)
	if got := scanChunk(data, dst); string(got) != " the next piece" {
		t.Errorf("content is %q", got)
	}
	if n := testing.AllocsPerRun(10, func() { scanChunk(data, dst) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// scanChunk reads a chunk as a plugin does.
func scanChunk(data, dst []byte) []byte {
	s := jsonscan.New(data)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) != "choices" {
			continue
		}
		for s.Array(); s.Elem(); {
			s.Object()
			for key, ok := s.Key(); ok; key, ok = s.Key() {
				if string(key) != "delta" {
					continue
				}
				s.Object()
				for key, ok := s.Key(); ok; key, ok = s.Key() {
					if string(key) == "content" {
						dst = s.AppendString(dst)
					}
				}
			}
		}
	}
	return dst
}

func BenchmarkChunk(b *testing.B) {
	data, dst := []byte(chunk), make([]byte, 0, 64)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		scanChunk(data, dst)
	}
}
