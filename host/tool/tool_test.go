package tool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a tool that does what call says.
type fake struct {
	spec tool.Spec
	call func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func (f fake) Spec() tool.Spec { return f.spec }

func (f fake) Call(ctx context.Context, c tool.Call) (tool.Result, error) { return f.call(ctx, c) }

func named(name, schema string) tool.Tool {
	return fake{spec: tool.Spec{Name: name, Description: "does " + name, InputSchema: abi.Raw(schema), Effect: abi.EffectNone, Source: "test"}}
}

const object = `{"type":"object"}`

func TestNewSet(t *testing.T) {
	t.Parallel()
	s, err := tool.NewSet([]tool.Tool{named("b", object), named("a_-9", object)})
	if err != nil {
		t.Fatal(err)
	}
	want := []abi.Tool{
		{Name: "b", Description: "does b", InputSchema: abi.Raw(object)},
		{Name: "a_-9", Description: "does a_-9", InputSchema: abi.Raw(object)},
	}
	if diff := cmp.Diff(want, s.Specs()); diff != "" {
		t.Error(diff)
	}
	if one, ok := s.Find("a_-9"); !ok || one.Spec().Name != "a_-9" {
		t.Errorf("Find gives %v, %v", one, ok)
	}
	if _, ok := s.Find("c"); ok {
		t.Error("Find gives a tool that there is not")
	}
}

// All that is wrong is in one error.
func TestNewSetRefuses(t *testing.T) {
	t.Parallel()
	_, err := tool.NewSet([]tool.Tool{
		named("good", object), named("good", object), named("no spaces", object), named("", object), named(strings.Repeat("x", 65), object), named("dots.no", object),
		named("s1", `{"type":"array"}`), named("s2", ``), named("s3", `{"type":"object","properties":{"a":{"$ref":"https://example.com/x"}}}`),
		named("s4", `{"type":"object","properties":{"a":{"pattern":"("}}}`), named("s5", `[]`),
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"two tools named good", `"no spaces"`, `name ""`, strings.Repeat("x", 65), "dots.no", "tool s1", "tool s2", "tool s3", "tool s4", "tool s5",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing of %q in %v", want, err)
		}
	}
	many := make([]tool.Tool, 257)
	for i := range many {
		many[i] = named("t", object)
	}
	if _, err := tool.NewSet(many); err == nil || !strings.Contains(err.Error(), "at most 256") {
		t.Errorf("257 tools: %v", err)
	}
}

// STR-6: arguments that do not fit are refused with a text that the model can
// act on.
func TestCheck(t *testing.T) {
	t.Parallel()
	s, err := tool.NewSet([]tool.Tool{named("find", `{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer","minimum":1},"how":{"enum":["a","b"]}},
		"required":["path"],"additionalProperties":false}`), named("other", object)})
	if err != nil {
		t.Fatal(err)
	}
	for _, good := range []string{`{"path":"x"}`, ` {"path":"x","n":3,"how":"a"} `, `{"path":"x","n":1e0}`} {
		if err := s.Check("find", good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for arguments, want := range map[string][]string{
		`{"pa`:                     {"not a JSON object"},
		``:                         {"not a JSON object"},
		`null`:                     {"not a JSON object"},
		`[]`:                       {"not a JSON object"},
		`"{}"`:                     {"not a JSON object"},
		`{"path":"x"}{}`:           {"not a JSON object"},
		`{}`:                       {"required", "path"},
		`{"path":3}`:               {"path", "string"},
		`{"path":"x","n":0}`:       {"n", "minimum", "1"},
		`{"path":"x","n":1.5}`:     {"n", "integer"},
		`{"path":"x","how":"c"}`:   {"how"},
		`{"path":"x","paths":"y"}`: {"paths"},
	} {
		err := s.Check("find", arguments)
		var invalid *tool.InvalidError
		if !errors.As(err, &invalid) || invalid.Tool != "find" {
			t.Errorf("%s: %v", arguments, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: nothing of %q in %q", arguments, w, err)
			}
		}
	}
	if err := s.Check("fnd", `{}`); err == nil || !strings.Contains(err.Error(), "there is no such tool; there are: find, other") {
		t.Errorf("an unknown tool: %v", err)
	}
}

// run runs a tool that does what call says.
func run(ctx context.Context, l tool.Limits, call func(ctx context.Context, c tool.Call) (tool.Result, error)) tool.Outcome {
	return tool.Run(ctx, fake{call: call}, tool.Call{ID: "1"}, l)
}

func says(text string) func(context.Context, tool.Call) (tool.Result, error) {
	return func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: text}, nil }
}

// A result that is too long is cut at a line, visibly; what is no UTF-8 is made
// such.
func TestRunBoundsTheResult(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"short":                             "short",
		"123456789\n123456789\n":            "123456789\n123456789\n",
		"123456789\n1234567\nabcdefgh":      "123456789\n1234567\n[cut: 18 of 26 bytes are shown]",
		"12345678901234567890x":             "12345678901234567890\n[cut: 20 of 21 bytes are shown]",
		"123456789012345678äöü":             "123456789012345678ä\n[cut: 20 of 24 bytes are shown]",
		"1234567890123456789äöü":            "1234567890123456789\n[cut: 19 of 25 bytes are shown]",
		"a\xffb":                            "a\uFFFDb",
		"1\n" + strings.Repeat("x", 30):     "1\nxxxxxxxxxxxxxxxxxx\n[cut: 20 of 32 bytes are shown]",
		"the key is sk-secret, is it not??": "the key is [redacted\n[cut: 20 of 34 bytes are shown]",
	} {
		l := tool.Limits{ResultBytes: 20, Redact: func(s string) string { return strings.ReplaceAll(s, "sk-secret", "[redacted]") }}
		if out := run(t.Context(), l, says(in)); out.Content != want || out.Failed != nil || out.IsError {
			t.Errorf("%q gave %+v, want %q", in, out, want)
		}
	}
	if out := run(t.Context(), tool.Limits{}, says(strings.Repeat("x", 70_000))); len(out.Content) > 64<<10+100 {
		t.Errorf("the default lets %d bytes through", len(out.Content))
	}
}

// Whatever a tool does, its caller gets an outcome that says what it was.
func TestRunFailures(t *testing.T) {
	t.Parallel()
	boom := errors.New("no such host")
	for name, c := range map[string]struct {
		call  func(context.Context, tool.Call) (tool.Result, error)
		class tool.Class
		text  string
	}{
		"error": {func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: "x"}, boom }, tool.Failed, "no such host"},
		"typed": {func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, &tool.Error{Class: tool.Unavailable, Message: "the server is down", Err: boom}
		}, tool.Unavailable, "the server is down"},
		"panic": {func(context.Context, tool.Call) (tool.Result, error) { panic("at the disco") }, tool.Failed, "the tool broke: at the disco"},
		"nil":   {func(context.Context, tool.Call) (tool.Result, error) { panic(error(nil)) }, tool.Failed, "the tool broke"},
	} {
		out := run(t.Context(), tool.Limits{}, c.call)
		if out.Failed == nil || out.Failed.Class != c.class || !out.IsError || !strings.HasPrefix(out.Content, "The call failed: "+c.text) {
			t.Errorf("%s gave %+v", name, out)
		}
	}
}

// A call ends at its deadline, and a tool that goes on all the same is left
// behind after 2 s.
func TestRunDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own  time.Duration // of the tool
		call func(context.Context, tool.Call) (tool.Result, error)
		took time.Duration
	}{
		"obeys": {0, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}, 10 * time.Second},
		"has its own": {3 * time.Second, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}, 3 * time.Second},
		"ignores it": {0, func(context.Context, tool.Call) (tool.Result, error) {
			time.Sleep(time.Hour)
			return tool.Result{Content: "late"}, nil
		}, 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				out := tool.Run(t.Context(), fake{spec: tool.Spec{Timeout: c.own}, call: c.call}, tool.Call{}, tool.Limits{Timeout: 10 * time.Second})
				time.Sleep(2 * time.Hour) // what was left behind has ended by then
				if out.Took != c.took || out.Failed == nil || out.Failed.Class != tool.Timeout || !strings.Contains(out.Content, "longer than") {
					t.Errorf("got %+v", out)
				}
			})
		})
	}
}

// A result that comes within the grace counts, also after the deadline.
func TestRunLateResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := run(t.Context(), tool.Limits{Timeout: time.Second}, func(context.Context, tool.Call) (tool.Result, error) {
			time.Sleep(2 * time.Second)
			return tool.Result{Content: "just in time"}, nil
		})
		if out.Failed != nil || out.Content != "just in time" {
			t.Errorf("got %+v", out)
		}
	})
}

// STR-9: a call that is stopped ends, and says so.
func TestRunCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		out := run(ctx, tool.Limits{}, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, &tool.Error{Class: tool.Failed, Message: "something"}
		})
		if out.Took != time.Second || out.Failed == nil || out.Failed.Class != tool.Cancelled {
			t.Errorf("got %+v", out)
		}
	})
}
