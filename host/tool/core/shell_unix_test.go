//go:build unix

package core_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zchost/zchost/host/tool/core"
)

// Only files are opened: a pipe without a writer would wait for ever, a device
// may do anything.
func TestPipesAndDevicesAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f": "x"})
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", filepath.Join(b.dir, "socket"))
	if err == nil { // the path may be too long for one
		defer l.Close()
	}
	if err := os.Symlink("pipe", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"pipe", "link"} {
		for name, a := range map[string]args{
			core.ReadFile: {"path": p}, core.ListDir: {"path": p}, core.WriteFile: {"path": p, "content": "x"}, core.EditFile: {"path": p, "old": "a", "new": "b"},
		} {
			if got := b.run(t, name, a); !strings.HasPrefix(got, "!pipe is a pipe and not a") && !strings.HasPrefix(got, "!"+p+" is a pipe and not a") {
				t.Errorf("%s of %s gave %q", name, p, got)
			}
		}
	}
	if got := b.run(t, core.SearchFiles, args{"pattern": "x"}); got != "f:1: x\n" {
		t.Errorf("a search gave %q", got)
	}
	if got := b.run(t, core.ListDir, args{}); !strings.Contains(got, "pipe (a pipe)\n") || !strings.Contains(got, "link -> pipe\n") {
		t.Errorf("a list gave %q", got)
	}
	if err := syscall.Mknod(filepath.Join(b.dir, "null"), syscall.S_IFCHR|0o600, 1<<8|3); err == nil { // needs privileges
		if got := b.run(t, core.ReadFile, args{"path": "null"}); got != "!null is a device and not a file." {
			t.Errorf("a device gave %q", got)
		}
	}
}

// A name with a line end in it is still one line.
func TestNamesAreOneLine(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"a\nb (1 byte)\x1b[2J": "hello\n"})
	if got, want := b.run(t, core.ListDir, args{}), "a\uFFFDb (1 byte)\uFFFD[2J (6 bytes)\n"; got != want {
		t.Errorf("a list gives %q, want %q", got, want)
	}
	if got, want := b.run(t, core.SearchFiles, args{"pattern": "hello"}), "a\uFFFDb (1 byte)\uFFFD[2J:1: hello\n"; got != want {
		t.Errorf("a search gives %q, want %q", got, want)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string]string{"f.txt": "hello\n"})
	for command, want := range map[string]string{
		"cat f.txt":                 "hello\n[exit status 0]",
		"true":                      "[no output; exit status 0]",
		"printf abc; exit 3":        "!abc\n[exit status 3]",
		"echo out; echo err >&2":    "out\nerr\n[exit status 0]",
		"cat":                       "[no output; exit status 0]", // there is no input
		"kill -9 $$":                "![signal: killed]",
		`printf 'a\377b'`:           "a\uFFFDb\n[exit status 0]",
		"no-such-command-anywhere":  "!",
		"cat <<'END'\n$HOME '\nEND": "$HOME '\n[exit status 0]",
	} {
		if got := b.run(t, core.Shell, args{"command": command}); !fits(got, want) {
			t.Errorf("%q gave %q, want %q", command, got, want)
		}
	}
	if got := b.run(t, core.Shell, args{"command": "pwd -P; ls"}); !strings.HasSuffix(got, "/ws\nf.txt\n[exit status 0]") {
		t.Errorf("it runs elsewhere: %q", got)
	}
}

// Commands get the named variables and no others: no key of the host's
// environment reaches them.
func TestShellEnvironment(t *testing.T) {
	t.Setenv("ZCHOST_TEST_OWN_KEY", "sk-own")
	b := setup(t, nil, func(o *core.Options) {
		o.Shell.Environ = []string{"PATH=" + os.Getenv("PATH"), "LANG=C", "OPENAI_API_KEY=sk-secret", "LANG_KEY=sk-secret", "EMPTY="}
		o.Shell.Env = []string{"PATH", "LANG", "HOME", "EMPTY"}
	})
	got := b.run(t, core.Shell, args{"command": "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^OLDPWD= | sort"})
	if want := "EMPTY=\nLANG=C\nPATH=" + os.Getenv("PATH") + "\n[exit status 0]"; got != want {
		t.Errorf("commands see %q, want %q", got, want)
	}
	bare := setup(t, nil, func(o *core.Options) { o.Shell.Environ = os.Environ() })
	if got := bare.run(t, core.Shell, args{"command": "/usr/bin/env; set"}); strings.Contains(got, "sk-") || strings.Contains(got, "GOPATH=") {
		t.Errorf("without names commands see %q", got)
	}
}

// A command that takes too long is killed with all that it started, and what it
// said until then is kept.
func TestShellTimeout(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, func(o *core.Options) { o.Shell.Timeout = 300 * time.Millisecond })
	began := time.Now()
	got := b.run(t, core.Shell, args{"command": "echo begun; sleep 1000 & echo $! > child; trap '' TERM; wait; sleep 1000"})
	if got != "!begun\n[stopped after 300ms: what it did until then is done]" || time.Since(began) > 10*time.Second {
		t.Errorf("got %q after %s", got, time.Since(began))
	}
	wantGone(t, b.get(t, "child"))
}

// A call that is cancelled kills the command.
func TestShellCancel(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan string)
	go func() {
		got <- b.runWithin(ctx, t, core.Shell, args{"command": "sleep 1000 & echo $! > child.new; mv child.new child; wait"})
	}()
	for { // a real process runs: there is nothing to wait on
		if _, err := os.Stat(filepath.Join(b.dir, "child")); err == nil {
			break
		}
	}
	cancel()
	if text := <-got; !strings.HasPrefix(text, "!The call failed") {
		t.Errorf("got %q", text)
	}
	wantGone(t, b.get(t, "child"))
}

// What is left in the background does not hold the call, and is stopped; what
// hides in a session of its own does not hold it either.
func TestShellBackground(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	began := time.Now()
	if got := b.run(t, core.Shell, args{"command": "sleep 1000 & echo $! > child; echo done"}); got != "done\n[exit status 0]" {
		t.Errorf("got %q", got)
	}
	wantGone(t, b.get(t, "child"))
	got := b.run(t, core.Shell, args{"command": "command -v setsid >/dev/null && setsid sh -c 'echo $$ > far; exec sleep 1000' & while [ ! -s far ] && [ $((i=i+1)) -lt 100000 ]; do :; done; echo done"})
	if got != "done\n[exit status 0]" {
		t.Errorf("got %q", got)
	}
	if far, err := strconv.Atoi(strings.TrimSpace(b.get(t, "far"))); err == nil {
		_ = syscall.Kill(far, syscall.SIGKILL)
	}
	if time.Since(began) > 20*time.Second {
		t.Errorf("it took %s", time.Since(began))
	}
}

// Output is bounded: the beginning and the end are kept.
func TestShellOutput(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, func(o *core.Options) { o.Shell.OutputBytes = 100 })
	got := b.run(t, core.Shell, args{"command": "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done"})
	want := "line 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\n[18801 bytes are left out here]\nline 1996\nline 1997\nline 1998\nline 1999\n[exit status 0]"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.run(t, core.Shell, args{"command": "head -c 100000000 /dev/zero"}); len(got) > 1000 || !strings.Contains(got, "99999900 bytes are left out") {
		t.Errorf("got %d bytes: %.200q", len(got), got)
	}
}

// wantGone waits until a process is no more, or is at least dead.
func wantGone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for syscall.Kill(n, 0) == nil {
		if stat, err := os.ReadFile("/proc/" + strconv.Itoa(n) + "/stat"); err == nil && strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d still runs", n)
		}
	}
}
