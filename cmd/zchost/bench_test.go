package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// program is the built binary, which `make bench` makes first.
func program(b *testing.B) string {
	b.Helper()
	path, err := filepath.Abs("../../bin/zchost")
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		b.Fatalf("run `make build` first: %v", err)
	}
	return path
}

// BenchmarkSend is a whole `zchost send` on a warm cache, process start to exit.
// The demo's own delays are off.
func BenchmarkSend(b *testing.B) {
	path, home := program(b), benchHome(b, 1)
	send := func() {
		if out, err := exec.CommandContext(b.Context(), path, "--home", home, "send", "-m", "hello").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	send()
	b.ResetTimer()
	start := time.Now()
	for range b.N {
		send()
	}
	b.ReportMetric(float64(time.Since(start).Milliseconds())/float64(b.N), "ms/send")
}

// BenchmarkResident is the memory of an idle chat that has had one turn, with
// one and with three provider plugins loaded, and the size of the binary.
func BenchmarkResident(b *testing.B) {
	path := program(b)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	for _, plugins := range []int{1, 3} {
		b.Run(fmt.Sprintf("plugins=%d", plugins), func(b *testing.B) {
			home := benchHome(b, plugins)
			for range b.N {
				idle(b, path, home) // fills the cache
				b.ReportMetric(idle(b, path, home), "MiB-resident")
			}
			b.ReportMetric(float64(info.Size())/(1<<20), "MiB-binary")
		})
	}
}

// idle starts a chat, has one turn, and returns the memory after some seconds.
func idle(b *testing.B, path, home string) float64 {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), path, "--home", home, "chat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = fmt.Fprintln(in, "hello")
	}
	if err != nil {
		b.Fatal(err)
	}
	time.Sleep(6 * time.Second)
	resident := residentMiB(b, cmd.Process.Pid)
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return resident
}

// residentMiB reads VmRSS of a process.
func residentMiB(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, line := range strings.Split(string(status), "\n") {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			kb, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kb / 1024
		}
	}
	b.Fatal("no VmRSS")
	return 0
}

// benchHome is a home whose main agent falls back over so many provider
// plugins: the demo, and copies of openai-chat under other names.
func benchHome(b *testing.B, plugins int) string {
	b.Helper()
	home := b.TempDir()
	var config strings.Builder
	config.WriteString("[agents.main]\nmodel = \"demo\"\n[providers.demo]\nplugin = \"demo\"\noptions = { delay_ms = 0 }\n[models.demo]\nprovider = \"demo\"\nmodel = \"demo\"\n")
	var names []string
	for i := 1; i < plugins; i++ {
		name := fmt.Sprintf("other%d", i)
		names = append(names, strconv.Quote(name))
		installCopy(b, home, name)
	}
	if len(names) > 0 {
		fmt.Fprintf(&config, "fallback = [%s]\n", strings.Join(names, ", "))
	}
	for i := 1; i < plugins; i++ {
		fmt.Fprintf(&config, "[providers.other%d]\nplugin = \"other%d\"\nbase_url = \"http://127.0.0.1:1\"\n[models.other%d]\nprovider = \"other%d\"\nmodel = \"m\"\n", i, i, i, i)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return home
}

// installCopy installs openai-chat under another name: a module of its own,
// since a custom section with the name is added to it.
func installCopy(b *testing.B, home, name string) {
	b.Helper()
	from, to := "../../plugins/builtin/dist/openai-chat", filepath.Join(home, "plugins", name)
	manifest, err := os.ReadFile(filepath.Join(from, "plugin.toml"))
	if err != nil {
		b.Fatal(err)
	}
	module, err := os.ReadFile(filepath.Join(from, "plugin.wasm"))
	if err != nil {
		b.Fatal(err)
	}
	section := append([]byte{0, byte(1 + len(name)), byte(len(name))}, name...)
	manifest = []byte(strings.Replace(string(manifest), `name = "openai-chat"`, fmt.Sprintf("name = %q", name), 1))
	if err := os.MkdirAll(to, 0o700); err != nil {
		b.Fatal(err)
	}
	for file, data := range map[string][]byte{"plugin.toml": manifest, "plugin.wasm": append(module, section...)} {
		if err := os.WriteFile(filepath.Join(to, file), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}
