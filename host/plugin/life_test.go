package plugin_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zchost/zchost/host/plugin"
)

// C124: a thousand cycles of good, trap, exit and timeout leave memory,
// goroutines and file handles as they were. It is not parallel, so that what it
// counts is its own.
func TestThousandFailuresLeaveNothing(t *testing.T) {
	for io, module := range map[string]wasm{"stdio": switchModule(16), "extism": extismSwitch()} {
		r := newRuntime(t)
		p := load(t, r, manifest(io, "[limits]\nmemory_mb = 16\ncall_timeout_ms = 50"), module.bytes(), plugin.Grant{})
		cycle := func(n int) {
			steps := []string{"k", "t", "k", "x0", "k", "x3", "k", "g", "k"}
			if n%10 == 0 {
				steps = append(steps, "l", "k") // takes its 50 ms
			}
			for _, in := range steps {
				out, err := p.Call(t.Context(), hookExport, []byte(in))
				if in == "k" && string(out) != "k" && (err == nil || reason(t, err) != plugin.ReasonTimeout) {
					t.Fatalf("%s: a good call gave %q, %v", io, out, err)
				}
			}
		}
		for n := range 20 {
			cycle(n)
		}
		before := count(p, r)
		for n := range 1000 {
			cycle(n)
		}
		after := count(p, r)
		for deadline := time.Now().Add(10 * time.Second); after.goroutines > before.goroutines && time.Now().Before(deadline); {
			runtime.Gosched() // wazero does not wait for the goroutine that watches a call
			after.goroutines = runtime.NumGoroutine()
		}
		t.Logf("%s: before %+v, after %+v", io, before, after)
		if after.guests != before.guests || after.goroutines > before.goroutines || after.files > before.files || after.heap > before.heap+2<<20 {
			t.Errorf("%s: before %+v, after %+v", io, before, after)
		}
	}
}

// counts are what failures might leave behind.
type counts struct {
	guests            int64 // bytes of linear memories
	heap              int64 // bytes
	goroutines, files int
}

func count(p *plugin.Plugin, r *plugin.Runtime) counts {
	p.DropIdle(context.Background())
	runtime.GC()
	runtime.GC() // code is unmapped by finalizers
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	files, _ := os.ReadDir("/proc/self/fd") // none where there is no /proc
	return counts{r.Memory(), int64(stats.HeapAlloc), runtime.NumGoroutine(), len(files)}
}

// A generation that is closed during a call ends after the call: "CompiledPlugin
// .Close does not wait for calls in flight".
func TestCloseWaitsForCallsInFlight(t *testing.T) {
	t.Parallel()
	for io, module := range map[string]wasm{"stdio": switchModule(), "extism": extismSwitch()} {
		r := newRuntime(t)
		p := load(t, r, manifest(io, ""), module.bytes(), plugin.Grant{})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			_, err := p.Call(ctx, hookExport, []byte("l"))
			done <- err
		}()
		for p.Health().Busy == 0 {
			runtime.Gosched()
		}
		p.Close()
		if len(r.Plugins()) != 1 {
			t.Fatalf("%s: it was freed during a call", io)
		}
		cancel()
		if err := <-done; reason(t, err) != plugin.ReasonCanceled {
			t.Errorf("%s: the call in flight gave %v", io, err)
		}
		if len(r.Plugins()) != 0 || r.Memory() != 0 {
			t.Errorf("%s: after the call %d plugins and %d bytes are left", io, len(r.Plugins()), r.Memory())
		}
		if got := say(t, p, "k"); got != "!closed" {
			t.Errorf("%s: a later call gave %q", io, got)
		}
		p.Close()
	}
}

// A turn in progress finishes on the generation that it began with.
func TestReferencesKeepAGeneration(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	old := load(t, r, manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	turn := old.Retain()
	fresh := load(t, r, manifest("stdio", "description = 'new'"), switchModule().bytes(), plugin.Grant{})
	old.Close()
	if got := say(t, turn, "k"); got != "k" {
		t.Errorf("the old generation gave %q", got)
	}
	turn.Release()
	if old.Retain() != nil || say(t, old, "k") != "!closed" || say(t, fresh, "k") != "k" {
		t.Error("the old generation outlived its last reference, or took the new one with it")
	}
}

// Close of the runtime does not hang on a reference that is never given back.
func TestRuntimeCloseNamesWhatIsInUse(t *testing.T) {
	t.Parallel()
	r, err := plugin.NewRuntime(context.Background(), plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := load(t, r, manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	p.Retain()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), p.Fingerprint().String()) {
		t.Errorf("Close gave %v", err)
	}
	if _, err := r.Load(context.Background(), plugin.Source{Manifest: manifest("stdio", ""), Module: switchModule().bytes()}, plugin.Grant{}); err == nil {
		t.Error("a closed runtime loaded a plugin")
	}
	p.Release()
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// Hammer: generations are replaced, retained and closed while calls of all kinds
// run on them. No call sees a freed module, and at the end nothing is left.
func TestHammerGenerations(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	module := switchModule().bytes()
	next := func(n int) *plugin.Plugin {
		return load(t, r, manifest("stdio", "description = '"+strconv.Itoa(n)+"'\n[limits]\ncall_timeout_ms = 10000"), module, plugin.Grant{Instances: 3})
	}
	var current atomic.Pointer[plugin.Plugin]
	current.Store(next(0))
	stop := make(chan struct{})
	var good atomic.Int64
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for n := w; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				p := current.Load().Retain()
				if p == nil {
					continue // replaced in between
				}
				in := "k"
				if n%50 == 0 {
					in = "t"
				}
				out, err := p.Call(context.Background(), hookExport, []byte(in))
				switch {
				case in == "k" && err == nil && string(out) == "k":
					good.Add(1)
				case err == nil || (in == "k" && reason(t, err) != plugin.ReasonQuarantined):
					t.Errorf("%q gave %q, %v", in, out, err)
				}
				p.Release()
			}
		})
	}
	for n := range 30 {
		old := current.Swap(next(n + 1))
		old.Close()
		runtime.Gosched()
	}
	close(stop)
	workers.Wait()
	current.Load().Close()
	if left := r.Plugins(); len(left) != 0 || good.Load() == 0 {
		t.Errorf("%d plugins are left after %d good calls", len(left), good.Load())
	}
}

// A plugin that misbehaves costs nobody else anything: good calls go on while
// others loop, trap, eat memory and write without end.
func TestBadPluginsDoNotDisturbOthers(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	good := load(t, r, manifest("stdio", "[limits]\ncall_timeout_ms = 30000"), switchModule().bytes(), plugin.Grant{})
	var bad sync.WaitGroup
	for _, in := range []string{"l", "t", "g", "b", "x0"} {
		p := load(t, r, manifest("stdio", "description = '"+in+"'\n[limits]\ncall_timeout_ms = 100"), switchModule().bytes(), plugin.Grant{})
		bad.Go(func() {
			for range 8 {
				if out, err := p.Call(context.Background(), hookExport, []byte(in)); err == nil {
					t.Errorf("%q gave %q", in, out)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { bad.Wait(); close(done) }()
	for calls := 0; ; calls++ {
		select {
		case <-done:
			t.Logf("%d good calls meanwhile", calls)
			return
		default:
			if got := say(t, good, "k"); got != "k" {
				t.Fatalf("a good call gave %q", got)
			}
		}
	}
}

// C122: memory of all instances together is bounded, and idle ones make room.
func TestMemoryBudgetOverAllInstances(t *testing.T) {
	t.Parallel()
	const budget = 40 << 20
	r := newRuntime(t, func(o *plugin.Options) { o.MemoryBudget = budget })
	toml := manifest("stdio", "[limits]\nmemory_mb = 16\ncall_timeout_ms = 20000")
	p := load(t, r, toml, switchModule(64).bytes(), plugin.Grant{Instances: 64})
	var calls sync.WaitGroup
	var most, refused atomic.Int64
	for range 64 {
		calls.Go(func() {
			for range 5 {
				if got := say(t, p, "g"); got != "!memory" {
					if got == "!quarantined" {
						refused.Add(1)
						continue
					}
					t.Errorf("growing without end gave %q", got)
				}
				most.Store(max(most.Load(), r.Memory()))
			}
		})
	}
	calls.Wait()
	if most.Load() > budget {
		t.Errorf("the instances had %d bytes, the budget is %d", most.Load(), budget)
	}
	// Ten idle instances of 4 MiB fill the budget; another plugin still starts.
	idle := load(t, r, toml, switchModule(128).bytes(), plugin.Grant{})
	other := load(t, r, manifest("stdio", "description = 'other'"), switchModule(256).bytes(), plugin.Grant{})
	for range 3 {
		if a, b := say(t, idle, "k"), say(t, other, "k"); a != "k" || b != "k" {
			t.Errorf("calls gave %q and %q", a, b)
		}
	}
	if r.Memory() > budget {
		t.Errorf("%d bytes are in use", r.Memory())
	}
}

// C122: a module that declares a large maximum runs, as long as it does not use
// it.
func TestLargeDeclaredMaximum(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", "[limits]\nmemory_mb = 25"), switchModule(128, 40000).bytes(), plugin.Grant{})
	for in, want := range map[string]string{"k": "k", "g": "!memory"} {
		if got := say(t, p, in); got != want {
			t.Errorf("%q gave %q, want %q", in, got, want)
		}
	}
}

// Nothing of a plugin runs, and no instance exists, before the first call.
func TestFirstInstanceIsLazy(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	p := load(t, r, manifest("stdio", ""), guest(t, goGuest), plugin.Grant{})
	if h := p.Health(); h.Busy+h.Idle != 0 || r.Memory() != 0 {
		t.Errorf("after Load there are %+v and %d bytes", h, r.Memory())
	}
	say(t, p, "echo x")
	if h := p.Health(); h.Busy != 0 || h.Idle != 1 {
		t.Errorf("after a call there are %+v", h)
	}
}

// Calls in a row use one warm instance; a burst uses as many as are allowed.
func TestInstancesAreReusedAndBounded(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", "[limits]\ncall_timeout_ms = 30000"), guest(t, goGuest), plugin.Grant{Instances: 2})
	for want := 1; want <= 3; want++ {
		if got := say(t, p, "count"); got != strconv.Itoa(want) {
			t.Errorf("call %d was on another instance: %s", want, got)
		}
	}
	var burst sync.WaitGroup
	for range 16 {
		burst.Go(func() {
			if got := say(t, p, "garbage 50"); got != "ok" {
				t.Errorf("a call in the burst gave %q", got)
			}
		})
	}
	burst.Wait()
	if h := p.Health(); h.Idle > 2 {
		t.Errorf("there are %d instances, the limit is 2", h.Idle)
	}
}

// Repeated failures quarantine the plugin, visibly, and only it.
func TestQuarantineIsVisible(t *testing.T) {
	t.Parallel()
	r := newRuntime(t)
	p := load(t, r, manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	for range 5 {
		if got := say(t, p, "t"); got != "!trap" {
			t.Fatalf("a trap gave %q", got)
		}
	}
	_, err := p.Call(context.Background(), hookExport, []byte("k"))
	var call *plugin.CallError
	if !errors.As(err, &call) || call.Reason != plugin.ReasonQuarantined || time.Until(call.Until) <= 0 {
		t.Fatalf("the sixth call gave %v", err)
	}
	h := p.Health()
	if h.Failures != 5 || !strings.Contains(h.LastError, "trap") || !h.Quarantined.Equal(call.Until) {
		t.Errorf("health is %+v", h)
	}
	other := load(t, r, manifest("stdio", "description = 'other'"), switchModule().bytes(), plugin.Grant{})
	if got := say(t, other, "k"); got != "k" {
		t.Errorf("another plugin gave %q", got)
	}
}

// A caller that cannot use an output reports it, and it counts.
func TestRejectedOutputCounts(t *testing.T) {
	t.Parallel()
	p := load(t, newRuntime(t), manifest("stdio", ""), switchModule().bytes(), plugin.Grant{})
	cause := errors.New("not JSON")
	for range 5 {
		err := p.Reject(context.Background(), hookExport, cause)
		if reason(t, err) != plugin.ReasonJunk || !errors.Is(err, cause) {
			t.Errorf("Reject gave %v", err)
		}
	}
	if got := say(t, p, "k"); got != "!quarantined" {
		t.Errorf("after five junk outputs a call gave %q", got)
	}
}
