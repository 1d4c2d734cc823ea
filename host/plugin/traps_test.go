package plugin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zchost/zchost/host/plugin"
)

// These tests are named after the rows of "Extism and wazero: what surprises".

// "Extism's http_request follows redirects to hosts that are not allowed": it is
// switched off.
func TestExtismHTTPIsOff(t *testing.T) {
	t.Parallel()
	var hits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	p := load(t, newRuntime(t), manifest("extism", ""), guest(t, extismGuest), plugin.Grant{})
	if got := say(t, p, "http "+server.URL); got != "!trap" || hits.Load() != 0 {
		t.Errorf("the guest got %q and the server saw %d requests", got, hits.Load())
	}
}

// "ManifestMemory as a literal switches vars and HTTP bodies off": vars work, but
// nothing stays in them from one call to the next, since plugins are pure. And no
// secret, nor anything else, is in Extism's config.
func TestExtismVarsLastOneCall(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("extism", ""), guest(t, extismGuest), plugin.Grant{Instances: 1, Config: []byte(`{}`)})
	for _, in := range []string{"var one", "var two"} {
		if got := say(t, p, in); got != "was:" {
			t.Errorf("%q gave %q, want an empty variable", in, got)
		}
	}
	if got := say(t, p, "config api_key"); got != "false" {
		t.Errorf("the config holds %q", got)
	}
}

// "The page limit also caps Extism's kernel; Go guests need 37 to 80 pages": the
// default of 64 MiB and the least of 10 MiB are enough for both.
func TestLeastMemoryIsEnoughForGo(t *testing.T) {
	t.Parallel()
	for io, build := range map[string]func() ([]byte, error){"stdio": goGuest, "extism": extismGuest} {
		p := load(t, newRuntime(t), manifest(io, "[limits]\nmemory_mb = 10"), guest(t, build), plugin.Grant{})
		text := strings.Repeat("x", 232<<10)
		if got := say(t, p, "echo "+text); got != text {
			t.Errorf("%s: 232 KB gave %.40q", io, got)
		}
	}
}

// "wazero's default clock stands still and its randomness is fixed": without
// grants every call on every instance sees the same; with them the real thing.
func TestWithoutGrantsTheWorldStandsStill(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	still := load(t, r, manifest("stdio", ""), guest(t, goGuest), plugin.Grant{})
	clock, random := say(t, still, "clock"), say(t, still, "random")
	for range 3 {
		if got := say(t, still, "clock"); got != clock || got != "2022-01-01T00:00:00Z" {
			t.Errorf("the clock says %s after %s", got, clock)
		}
		if got := say(t, still, "random"); got != random {
			t.Errorf("the same call drew %s after %s", got, random)
		}
		say(t, still, "random") // moves the source on, if calls shared it
		say(t, still, "exit 1") // the next call has a new instance
	}
	live := load(t, r, manifest("stdio", "[capabilities]\nclock = true\nrandom = true"), guest(t, goGuest),
		plugin.Grant{Capabilities: plugin.Capabilities{Clock: true, Random: true}})
	at, err := time.Parse(time.RFC3339, say(t, live, "clock"))
	if err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("the real clock says %v (%v)", at, err)
	}
	if a, b := say(t, live, "random"), say(t, live, "random"); a == b {
		t.Errorf("real randomness gave %s twice", a)
	}
}

// The functions now and random exist with their capability, for both ways to
// pass documents.
func TestHostFunctions(t *testing.T) {
	t.Parallel()
	both := plugin.Capabilities{Clock: true, Random: true}
	for _, io := range []string{"stdio", "extism"} {
		// 1 if now() > 2024 and two random() differ, else 0, written or returned.
		module := wasm{
			imports: []wasmImport{
				{"zchost:host/v1", "now", "", i64},
				{"zchost:host/v1", "random", "", i64},
			},
			funcs: []wasmFunc{{hookExport, "", i32,
				call(0) + constant64(1704067200000) + "\x56" + // i64.gt_u
					call(1) + call(1) + "\x52" + // i64.ne
					"\x71" + constant(4) + "\x6a"}}, // and, + 4
			memory: []uint64{1},
		}
		p := load(t, newRuntime(t), manifest(io, "[capabilities]\nclock = true\nrandom = true"), module.bytes(), plugin.Grant{Capabilities: both})
		_, err := p.Call(context.Background(), hookExport, []byte("x"))
		if err == nil || !strings.Contains(err.Error(), "returned 5") {
			t.Errorf("%s: want it to return 5, got %v", io, err)
		}
	}
}

// "A blocking host function or WASI sleep is not interrupted by the deadline":
// the guest gets no real sleep, with a clock or without.
func TestSleepDoesNotOutlastTheDeadline(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	for _, clock := range []bool{false, true} {
		toml := fmt.Sprintf("[limits]\ncall_timeout_ms = 300\n[capabilities]\nclock = %v", clock)
		p := load(t, r, manifest("stdio", toml), guest(t, goGuest), plugin.Grant{Capabilities: plugin.Capabilities{Clock: true}})
		say(t, p, "echo the first call starts an instance")
		start := time.Now()
		if got := say(t, p, "sleep 3600000"); got != "!timeout" {
			t.Errorf("clock %v: an hour's sleep gave %q", clock, got)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("clock %v: it took %v", clock, took)
		}
	}
}

// A guest has no files, no environment and no arguments.
func TestGuestSeesNothing(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	p := load(t, newRuntime(t), manifest("stdio", ""), guest(t, goGuest), plugin.Grant{})
	got := say(t, p, "world")
	if !strings.HasPrefix(got, "[] [] open /etc/passwd: ") || strings.Count(got, "Bad file number")+strings.Count(got, "not") == 0 || strings.Contains(got, "<nil>") {
		t.Errorf("the guest sees %s", got)
	}
}

// What a guest prints goes nowhere: only its output counts.
func TestExtismPrintsAreDropped(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("extism", ""), guest(t, extismGuest), plugin.Grant{})
	if got := say(t, p, "print hello"); got != "ok" {
		t.Errorf("print gave %q", got)
	}
}

// Garbage collection in the guest works though its clock stands still.
func TestGuestCollectsGarbage(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", "[limits]\nmemory_mb = 16\ncall_timeout_ms = 20000"), guest(t, goGuest), plugin.Grant{})
	for range 2 {
		if got := say(t, p, "garbage 800"); got != "ok" { // 100 MB
			t.Fatalf("garbage gave %q", got)
		}
	}
}

// Extism's functions are listed by hand: each can be linked as the list says.
func TestExtismFunctionsAreWhatTheSDKLinks(t *testing.T) {
	t.Parallel()
	module := wasm{funcs: []wasmFunc{{hookExport, "", i32, constant(3)}}, memory: []uint64{1}}
	for name, sig := range plugin.ExtismFunctions() {
		module.imports = append(module.imports, wasmImport{"extism:host/env", name, sig[0], sig[1]})
	}
	p := load(t, newRuntime(t), manifest("extism", ""), module.bytes(), plugin.Grant{})
	if _, err := p.Call(context.Background(), hookExport, nil); err == nil || !strings.Contains(err.Error(), "returned 3") {
		t.Errorf("want it to return 3, got %v", err)
	}
}
