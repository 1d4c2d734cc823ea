package plugin_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zchost/zchost/host/plugin"
)

// limits of plugins that are told to misbehave.
const tight = "[limits]\nmemory_mb = 16\ncall_timeout_ms = 1500\noutput_bytes = 100000\n"

// Each way to fail costs its caller one typed error (C124, C126), on stdin and
// stdout.
func TestEveryFailureOfAStdioGuestIsTyped(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", tight), guest(t, goGuest), plugin.Grant{})
	for in, want := range map[string]string{
		"echo hello":      "hello",
		"panic boom":      "!panic",
		"nil":             "!panic",
		"exit 0":          "!exit",
		"exit 3":          "!exit",
		"loop":            "!timeout",
		"grow":            "!memory",
		"big 99999":       strings.Repeat("x", 99999),
		"big 100001":      "!output_too_large",
		"big 1073741824":  "!output_too_large",
		"fail no such":    "!error",
		"code 7":          "!error",
		"silent":          "!junk",
		"recurse":         "!memory",
		"stderr 10000":    "ok",
		"sleep 100000000": "!timeout",
	} {
		if got := say(t, p, in); got != want {
			t.Errorf("%q gave %.100q, want %.100q", in, got, want)
		}
		if got := say(t, p, "echo still here"); got != "still here" {
			t.Fatalf("after %q a good call gave %q", in, got)
		}
	}
}

// The same with Extism's own kit.
func TestEveryFailureOfAnExtismGuestIsTyped(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("extism", tight), guest(t, extismGuest), plugin.Grant{})
	for in, want := range map[string]string{
		"echo hello":     "hello",
		"panic boom":     "!panic",
		"exit 0":         "!exit",
		"exit 3":         "!exit",
		"loop":           "!timeout",
		"hostloop":       "!timeout",
		"grow":           "!memory",
		"big 99999":      strings.Repeat("x", 99999),
		"big 100001":     "!output_too_large",
		"big 1073741824": "!memory",
		"error no such":  "!error",
		"code 7":         "!error",
		"silent":         "!junk",
	} {
		if got := say(t, p, in); got != want {
			t.Errorf("%q gave %.100q, want %.100q", in, got, want)
		}
		if got := say(t, p, "echo still here"); got != "still here" {
			t.Fatalf("after %q a good call gave %q", in, got)
		}
	}
}

// C124: after a trap, an exit or a timeout the next call works. C126: pointers
// and lengths that the guest chose. Modules written by hand, with the compiler
// and with the interpreter (C120).
func TestHandMadeGuests(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"compiler", "interpreter"} {
		for io, module := range map[string]wasm{"stdio": switchModule(), "extism": extismSwitch()} {
			t.Run(engine+" "+io, func(t *testing.T) {
				t.Parallel()
				r := newRuntime(t, func(o *plugin.Options) { o.Interpreter = engine == "interpreter" })
				p := load(t, r, manifest(io, tight), module.bytes(), plugin.Grant{})
				steps := []struct{ in, want string }{
					{"t", "!trap"}, {"x0", "!exit"}, {"x3", "!exit"}, {"l", "!timeout"}, {"g", "!memory"},
				}
				if io == "stdio" {
					steps = append(steps, []struct{ in, want string }{
						{"b", "!output_too_large"}, {"p", "!error"}, {"2", "!error"}, {"r", "!error"},
					}...)
				} else {
					steps = append(steps, []struct{ in, want string }{{"p", "!junk"}, {"2", "!junk"}, {"z", "!junk"}, {"a", "!memory"}}...)
				}
				for _, s := range steps {
					if got := say(t, p, s.in); got != s.want {
						t.Errorf("%q gave %q, want %q", s.in, got, s.want)
					}
					if got := say(t, p, "k"); got != "k" {
						t.Fatalf("after %q a good call gave %q", s.in, got)
					}
				}
			})
		}
	}
}

// C120: a caller that gives up gets its call back, though the guest loops. It is
// not held against the plugin.
func TestCancelStopsABusyGuest(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", "[limits]\ncall_timeout_ms = 600000"), switchModule().bytes(),
		plugin.Grant{Limits: plugin.Limits{CallTimeout: 10 * time.Minute}})
	cause := errors.New("the person pressed stop")
	for range 10 {
		ctx, cancel := context.WithCancelCause(context.Background())
		done := make(chan error)
		go func() {
			_, err := p.Call(ctx, hookExport, []byte("l"))
			done <- err
		}()
		for p.Health().Busy == 0 {
			runtime.Gosched() // a real guest runs: there is nothing to wait on
		}
		cancel(cause)
		err := <-done
		if got := reason(t, err); got != plugin.ReasonCanceled && !errors.Is(err, cause) {
			t.Fatalf("a canceled call gave %v", err)
		}
	}
	if h := p.Health(); h.Failures != 0 || !h.Quarantined.IsZero() {
		t.Errorf("canceled calls count as failures: %+v", h)
	}
}

// The caller's deadline is a timeout for the caller and no failure of the
// plugin.
func TestCallersDeadline(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := p.Call(ctx, hookExport, []byte("l"))
	if got := reason(t, err); got != plugin.ReasonTimeout || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call gave %v", err)
	}
	if h := p.Health(); h.Failures != 0 {
		t.Errorf("it counts as a failure: %+v", h)
	}
}

// The errors say what a person needs to know.
func TestErrorsNameTheirCause(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", tight), guest(t, goGuest), plugin.Grant{})
	for in, want := range map[string]string{
		"panic boom": "panic: boom",
		"fail a\nb":  "a b",
		"exit 3":     "it exited with code 3",
		"grow":       "the memory limit is reached",
	} {
		_, err := p.Call(context.Background(), hookExport, []byte(in))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), p.Fingerprint().String()) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q gave %v, want it to say %q", in, err, want)
		}
	}
	if _, err := p.Call(context.Background(), "nothing", nil); err == nil || reason(t, err) != plugin.ReasonError {
		t.Errorf("an export that is not there gave %v", err)
	}
}

// The output belongs to the caller: later calls do not change it.
func TestOutputIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	for io, build := range map[string]func() ([]byte, error){"stdio": goGuest, "extism": extismGuest} {
		p := load(t, newRuntime(t), manifest(io, ""), guest(t, build), plugin.Grant{Instances: 1})
		first, err := p.Call(context.Background(), hookExport, []byte("echo first"))
		if err != nil {
			t.Fatal(err)
		}
		if got := say(t, p, "echo SECOND"); got != "SECOND" || string(first) != "first" {
			t.Errorf("%s: the first output is now %q", io, first)
		}
	}
}

// A large document passes whole; go guests read it in short pieces.
func TestLargeDocuments(t *testing.T) {
	t.Parallel()
	for io, build := range map[string]func() ([]byte, error){"stdio": goGuest, "extism": extismGuest} {
		p := load(t, newRuntime(t), manifest(io, "[limits]\ncall_timeout_ms = 30000"), guest(t, build), plugin.Grant{})
		text := strings.Repeat("0123456789abcdef", 1<<16)
		if got := say(t, p, "echo "+text); got != text {
			t.Errorf("%s: %d bytes came back of %d", io, len(got), len(text))
		}
	}
}

// An input that the plugin's memory cannot hold is refused, not tried.
func TestInputLargerThanTheMemory(t *testing.T) {
	t.Parallel()
	for io, module := range map[string]wasm{"stdio": switchModule(), "extism": extismSwitch()} {
		p := load(t, newRuntime(t), manifest(io, tight), module.bytes(), plugin.Grant{})
		if got := say(t, p, strings.Repeat("k", 16<<20+1)); got != "!memory" {
			t.Errorf("%s: 16 MiB and a byte gave %q", io, got)
		}
		if got := say(t, p, "k"); got != "k" {
			t.Errorf("%s: then a good call gave %q", io, got)
		}
	}
	p := load(t, newRuntime(t), manifest("extism", tight), extismSwitch().bytes(), plugin.Grant{})
	if got := say(t, p, strings.Repeat("k", 16<<20-1)); got != "!memory" {
		t.Errorf("an input that the kernel cannot hold gave %q", got)
	}
	if got := say(t, p, "k"); got != "k" {
		t.Errorf("then a good call gave %q", got)
	}
}
