package plugin_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/zchost/zchost/host/plugin"
)

// BenchmarkCall is a warm call with a document of 200 bytes: of a guest made by
// hand that copies its input, which is the time outside the guest and its two
// system calls, and of Go guests.
func BenchmarkCall(b *testing.B) {
	for _, c := range []struct {
		name, io string
		module   func() ([]byte, error)
		in       string
	}{
		{"stdio/bare", "stdio", func() ([]byte, error) { return switchModule().bytes(), nil }, ""},
		{"stdio/go", "stdio", goGuest, "echo "},
		{"extism/bare", "extism", func() ([]byte, error) { return extismSwitch().bytes(), nil }, ""},
		{"extism/go", "extism", extismGuest, "echo "},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := load(b, newRuntime(b), manifest(c.io, ""), guest(b, c.module), plugin.Grant{})
			in := []byte(c.in + strings.Repeat("k", 200))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.Call(context.Background(), hookExport, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoad is a load of a Go guest with and without the module in the
// cache, and the start of an instance.
func BenchmarkLoad(b *testing.B) {
	module := guest(b, goGuest)
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			load(b, newRuntime(b, func(o *plugin.Options) { o.CacheDir = b.TempDir() }), manifest("stdio", ""), module, plugin.Grant{}).Close()
		}
	})
	b.Run("warm", func(b *testing.B) {
		r := newRuntime(b)
		load(b, r, manifest("stdio", ""), module, plugin.Grant{}).Close()
		for b.Loop() {
			load(b, r, manifest("stdio", ""), module, plugin.Grant{}).Close()
		}
	})
	b.Run("instance", func(b *testing.B) {
		p := load(b, newRuntime(b), manifest("stdio", ""), module, plugin.Grant{})
		for b.Loop() {
			say(b, p, "echo x")
			p.DropIdle(context.Background())
		}
	})
}

// BenchmarkResident is the memory that the system counts for each loaded Go
// guest, from a warm cache: loaded, and after its first call.
func BenchmarkResident(b *testing.B) {
	const plugins = 4
	module := guest(b, goGuest)
	r := newRuntime(b)
	for range plugins {
		load(b, r, manifest("stdio", ""), module, plugin.Grant{}).Close()
	}
	for b.Loop() {
		before := resident(b)
		var all []*plugin.Plugin
		for range plugins {
			all = append(all, load(b, r, manifest("stdio", ""), module, plugin.Grant{}))
		}
		loaded := resident(b)
		for _, p := range all {
			say(b, p, "echo x")
		}
		called := resident(b)
		b.ReportMetric((loaded-before)/plugins, "MiB-loaded/plugin")
		b.ReportMetric((called-loaded)/plugins, "MiB-instance/plugin")
		for _, p := range all {
			p.Close()
		}
		b.ReportMetric((resident(b)-before)/plugins, "MiB-left/plugin")
	}
}

// resident is the process's resident memory in MiB, after what the Go runtime
// does not need was given back.
func resident(b *testing.B) float64 {
	b.Helper()
	debug.FreeOSMemory()
	debug.FreeOSMemory() // code is unmapped by finalizers
	status, err := os.ReadFile(filepath.Clean("/proc/self/status"))
	if err != nil {
		b.Skip("there is no /proc here")
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
