package lessons_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zchost/zchost/plugins/builtin"
)

// TestLessons does what each lesson says, on a terminal, with an empty home
// that has the lesson's config, and compares the screen with what the README
// shows.
func TestLessons(t *testing.T) {
	t.Parallel()
	if len(builtin.Names()) == 0 {
		t.Fatal("the built-in plugins are not built: run make plugins")
	}
	worlds := worlds()
	for _, dir := range lessons(t) {
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			world, ok := worlds[dir]
			if !ok {
				t.Fatal("nobody plays the vendors of this lesson")
			}
			l := prepare(t, dir)
			l.env = append(l.env, world(t, l)...)
			for _, c := range read(t, dir) {
				l.do(t, c)
			}
		})
	}
}

// lesson is a lesson that is being done.
type lesson struct {
	dir string // where the reader is
	env []string
}

func prepare(t *testing.T, name string) *lesson {
	t.Helper()
	dir := t.TempDir()
	here, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	l := &lesson{dir: here}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(name, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	l.env = append(keys(),
		"PATH="+os.Getenv("PATH"), "HOME="+dir, "ZCHOST_HOME="+home, "TERM=xterm", "NO_COLOR=1", "LANG=C", "TZ=UTC",
		"ZCHOST_RELIABILITY__PROVIDER_BACKOFF_MS=1",
	)
	return l
}

// builds lets a lesson build Go programs without the reader's home.
func (l *lesson) builds(t *testing.T) {
	t.Helper()
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOFLAGS", "GOPROXY", "GOTOOLCHAIN"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		l.env = append(l.env, name+"="+strings.TrimSpace(string(value)))
	}
}

// approval is the line of a question that the reader answers with a key.
var approval = regexp.MustCompile(`^(allow\? \[|.* \[y: yes, ).*\] (yes|no|always in this chat)$`)

// do types a command, and then what the shown output says is typed: a line
// after a prompt, a key after a question.
func (l *lesson) do(t *testing.T, c command) {
	t.Helper()
	p := l.start(t, c.line)
	for _, line := range c.want {
		text, typed := strings.CutPrefix(line, "> ")
		answer := approval.FindStringSubmatch(line)
		switch {
		case typed:
			p.await(t, "a prompt", func(last string) bool { return last == ">" })
			p.press(t, text+"\r")
		case answer != nil:
			p.await(t, "a question", func(last string) bool { return strings.HasSuffix(last, "]") })
			p.press(t, answer[2][:1])
		}
	}
	p.end(t)
	var s screen
	s.write(p.all())
	got := trim(strings.Split(s.text(), "\n"))
	if !matches(trim(c.want), got) {
		t.Errorf("$ %s\nshows\n%s\nand the lesson says\n%s", c.line, strings.Join(got, "\n"), strings.Join(trim(c.want), "\n"))
	}
}

// pty is a terminal with a command on it.
type pty struct {
	ctrl *os.File
	cmd  *exec.Cmd

	mu      sync.Mutex
	output  bytes.Buffer
	pressed int           // bytes of output when the last key was pressed
	drawn   chan struct{} // closed and replaced at each output
	gone    chan struct{} // closed when the terminal is gone
}

func (l *lesson) start(t *testing.T, line string) *pty {
	t.Helper()
	ctrl, tty, err := openPTY()
	if err != nil {
		t.Skipf("no terminal: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 2*time.Minute)
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Dir, cmd.Env = l.dir, l.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p := &pty{ctrl: ctrl, cmd: cmd, drawn: make(chan struct{}), gone: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	go p.watch()
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // end has waited, unless the test failed
		_ = ctrl.Close()
		<-p.gone
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
		err = unix.IoctlSetWinsize(int(ctrl.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 200})
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
	defer close(p.gone)
	buf := make([]byte, 4096)
	for {
		n, err := p.ctrl.Read(buf)
		p.mu.Lock()
		p.output.Write(buf[:n])
		close(p.drawn)
		p.drawn = make(chan struct{})
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *pty) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// await waits until the last line on the screen is what is looked for, after
// the last key was pressed.
func (p *pty) await(t *testing.T, what string, found func(last string) bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		p.mu.Lock()
		output, drawn, isNew := p.output.String(), p.drawn, p.output.Len() > p.pressed
		p.mu.Unlock()
		var s screen
		s.write(output)
		lines := trim(strings.Split(s.text(), "\n"))
		if isNew && len(lines) > 0 && found(lines[len(lines)-1]) {
			return
		}
		select {
		case <-drawn:
		case <-p.gone:
			t.Fatalf("the command ended, and there was no %s:\n%s", what, s.text())
		case <-deadline:
			t.Fatalf("there is no %s on the screen:\n%s", what, s.text())
		}
	}
}

func (p *pty) press(t *testing.T, keys string) {
	t.Helper()
	p.mu.Lock()
	p.pressed = p.output.Len()
	p.mu.Unlock()
	if _, err := p.ctrl.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// end waits for the command's end, and for all of its output.
func (p *pty) end(t *testing.T) {
	t.Helper()
	_ = p.cmd.Wait() // what is on the screen tells
	select {
	case <-p.gone:
	case <-time.After(30 * time.Second):
		t.Fatalf("the terminal is still in use:\n%s", p.all())
	}
}
