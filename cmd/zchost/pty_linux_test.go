package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zchost/zchost/plugins/builtin"
)

// pty is a pseudo-terminal with the program on it.
type pty struct {
	t    *testing.T
	ctrl *os.File
	cmd  *exec.Cmd

	mu     sync.Mutex
	screen bytes.Buffer
	home   string
	drawn  chan struct{} // closed and replaced at each output
	read   chan struct{} // closed when the terminal is gone
}

// startChat runs `zchost chat` on a terminal of 80 columns, with a provider at
// url.
func startChat(t *testing.T, url string, env ...string) *pty {
	t.Helper()
	return startOn(t, t.TempDir(), url, []string{"chat"}, env...)
}

// startOn runs the program on a terminal.
func startOn(t *testing.T, home, url string, args []string, env ...string) *pty {
	t.Helper()
	if len(builtin.Names()) == 0 {
		t.Fatal("the built-in plugins are not built: run make plugins")
	}
	ctrl, tty, err := openPTY()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	config := fmt.Sprintf("[models.m]\nprovider = \"a\"\nmodel = \"m\"\n[providers.a]\nplugin = \"openai-chat\"\nbase_url = %q\nprovider_backoff_ms = 1\n", url)
	if err := os.WriteFile(home+"/config.toml", []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	cmd := exec.CommandContext(ctx, "zchost", args...)
	cmd.Env = append(os.Environ(), append([]string{"ZCHOST_HOME=" + home, "HOME=" + home, "TERM=xterm", "LANG=C"}, env...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p := &pty{t: t, home: home, ctrl: ctrl, cmd: cmd, drawn: make(chan struct{}), read: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	go p.watch()
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // most tests have waited
		_ = ctrl.Close()
		<-p.read
	})
	return p
}

func openPTY() (ctrl, tty *os.File, err error) {
	ctrl, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(ctrl.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(ctrl.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(ctrl.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		err = errors.Join(err, ctrl.Close())
	}
	return ctrl, tty, err
}

func (p *pty) watch() {
	defer close(p.read)
	buf := make([]byte, 4096)
	for {
		n, err := p.ctrl.Read(buf)
		p.mu.Lock()
		p.screen.Write(buf[:n])
		close(p.drawn)
		p.drawn = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// see waits until a text is on the screen, and forgets what came before it.
func (p *pty) see(text string) {
	p.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		p.mu.Lock()
		screen, drawn := p.screen.String(), p.drawn
		before, _, found := strings.Cut(screen, text)
		if found {
			p.screen.Next(len(before) + len(text))
		}
		p.mu.Unlock()
		if found {
			return
		}
		select {
		case <-drawn:
		case <-deadline:
			p.t.Fatalf("there is no %q on the screen:\n%q", text, screen)
		}
	}
}

func (p *pty) press(keys string) {
	p.t.Helper()
	if _, err := p.ctrl.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the program's end.
func (p *pty) ends(code int) {
	p.t.Helper()
	_ = p.cmd.Wait() // the code tells
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.t.Errorf("exit code %d, want %d; screen:\n%q", got, code, p.screen.String())
	}
}

// A fake server for a chat on a terminal.
func serve(t *testing.T, modes ...string) *server {
	t.Helper()
	s := &server{name: "a", modes: modes, heard: make(chan struct{})}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.seen)
}

const (
	prompt = "\x1b[1m>\x1b[0m "
	ctrlC  = "\x03"
	ctrlD  = "\x04"
)

// The cuts with one candidate, in a chat on a terminal.
func TestChatCutsOnATerminal(t *testing.T) {
	t.Parallel()
	s := serve(t, "cut-before", "ok", "cut-after", "ok")
	p := startChat(t, s.URL+"/v1")
	p.see("agent main on a/m")
	p.see(prompt)
	p.press("first\r")
	p.see("a/m failed (truncated); asking it again")
	p.see("Hello from a.")
	p.see(prompt)
	if n := s.count(); n != 2 {
		t.Errorf("cut before output: %d requests, want 2", n)
	}
	p.press("second\r")
	p.see("Half from a")
	p.see("[stream interrupted]")
	p.see("/why tells more")
	p.see(prompt)
	if n := s.count(); n != 3 {
		t.Errorf("cut after output: %d requests, want 3", n)
	}
	p.press("/why\r")
	p.see("REL-4")
	p.see(prompt)
	p.press(ctrlD)
	p.ends(0)
}

func TestChatKeysOnATerminal(t *testing.T) {
	t.Parallel()
	s := serve(t, "slow", "echo")
	p := startChat(t, s.URL+"/v1")
	p.see(prompt)

	// Ctrl-C stops the turn and nothing else.
	p.press("stop me\r")
	p.see("Half from a")
	p.press("typed ahead") // waits for the next prompt
	p.press(ctrlC)
	p.see("[interrupted by user]")
	p.see(prompt)

	// What was typed meanwhile is dropped by the terminal with Ctrl-C, or waits
	// for the prompt; both are fine, half of it is not.
	p.press("\x15") // Ctrl-U

	// A paste of several lines is one message.
	p.press("\x1b[200~one\r\ntwo\r\x1b[201~")
	p.see("one↵two")
	p.press("\r")
	p.see(`one\ntwo`)
	p.see(prompt)
	if n := s.count(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}

	// The history has it; Ctrl-C leaves the line, twice the chat.
	p.press("\x1b[A")
	p.see("one↵two")
	p.press(ctrlC)
	p.see("press Ctrl-C again")
	p.press(ctrlC)
	p.ends(0)
}

// NO_COLOR is obeyed, and output of a model does not act on the terminal.
func TestChatWithoutColour(t *testing.T) {
	t.Parallel()
	s := serve(t, "escape")
	p := startChat(t, s.URL+"/v1", "NO_COLOR=1")
	p.see("> ")
	p.press("hi\r")
	p.see("abc\r\n")
	p.see("> ")
	p.press(ctrlD)
	p.ends(0)
}
