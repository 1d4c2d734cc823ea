package lenient_test

import (
	"testing"

	"github.com/zchost/zchost/abi/jsonscan"
	"github.com/zchost/zchost/sdk/provider/lenient"
)

// Whatever the value is, a reader takes its own kind, and the scanner goes on
// behind it.
func TestEveryKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value, text, object string
		number              int64
		count, told         bool
	}{
		{value: `null`},
		{value: `""`},
		{value: `"a\u0062"`, text: "ab", told: true},
		{value: `7`, number: 7, count: true, told: true},
		{value: `7.9`, number: 7, count: true, told: true},
		{value: `0`, count: true, told: true},
		{value: `-7`, number: -7, told: true},
		{value: `2000000000000`, number: 2e12, told: true},
		{value: `true`, told: true},
		{value: `false`},
		{value: `{}`, object: `{}`},
		{value: `{"a":[1]}`, object: `{"a":[1]}`, told: true},
		{value: `[]`},
		{value: `[1]`, told: true},
	} {
		each := func(read func(s *jsonscan.Scanner)) {
			s := jsonscan.New([]byte(`[` + c.value + `,"next"]`))
			s.Array()
			s.Elem()
			read(&s)
			if !s.Elem() || s.String() != "next" || s.Elem() || s.End() != nil {
				t.Errorf("%s: the scanner did not go on: %v", c.value, s.End())
			}
		}
		each(func(s *jsonscan.Scanner) {
			if got := lenient.String(s); got != c.text {
				t.Errorf("String of %s = %q", c.value, got)
			}
		})
		each(func(s *jsonscan.Scanner) {
			if got, _ := lenient.Int(s); got != c.number {
				t.Errorf("Int of %s = %d", c.value, got)
			}
		})
		each(func(s *jsonscan.Scanner) {
			if got := lenient.Count(s); (got != nil) != c.count || got != nil && *got != c.number {
				t.Errorf("Count of %s = %v", c.value, got)
			}
		})
		each(func(s *jsonscan.Scanner) {
			if got := lenient.Object(s); string(got) != c.object {
				t.Errorf("Object of %s = %s", c.value, got)
			}
		})
		each(func(s *jsonscan.Scanner) {
			if got := lenient.Told(s); got != c.told {
				t.Errorf("Told of %s = %t", c.value, got)
			}
		})
	}
}
