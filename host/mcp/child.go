package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drain is how long the pipes of a command stay open after it has ended, for
// what it wrote last. A process that it left behind may hold them open for
// ever.
const drain = time.Second

// child is a server that is a command.
type child struct {
	s     *Server
	notes *notes // what it says beside the protocol

	mu      sync.Mutex
	aborted bool
	cmd     *exec.Cmd
	conn    *pipes
	ended   chan struct{} // closed when the process and its pipes are gone
	exit    error         // of the process; to be read once ended is closed
}

func newChild(s *Server) *child {
	return &child{s: s, notes: newNotes(s)}
}

// Inherited are the variables that a command gets from the host's own
// environment: what programs need to find others, their files and the language
// and time zone of the person. Others may hold secrets.
func Inherited() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR",
		// Windows needs these.
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	}
}

// environ returns the environment of a command.
func (c Config) environ() []string {
	wanted := Inherited()
	env := []string{}
	for _, v := range c.Environ {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains(wanted, strings.ToUpper(name)) {
			env = append(env, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, name+"="+c.Env[name].reveal()) // the last one counts
	}
	return env
}

// Connect starts the command.
func (c *child) Connect(ctx context.Context) (sdk.Connection, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.aborted {
		return nil, context.Cause(ctx)
	}
	words := c.s.cfg.Command
	if info, err := os.Stat(c.s.cfg.Dir); c.s.cfg.Dir != "" && (err != nil || !info.IsDir()) {
		return nil, fmt.Errorf("its directory %s is not there", c.s.cfg.Dir)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...) //nolint:gosec // the operator's own command
	cmd.Dir, cmd.Env = c.s.cfg.Dir, c.s.cfg.environ()
	inGroup(cmd)
	var ours, theirs []*os.File // in, out, err
	shut := func(files []*os.File) {
		for _, f := range files {
			_ = f.Close() // nothing was written through it
		}
	}
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			shut(append(ours, theirs...))
			return nil, fmt.Errorf("make a pipe: %w", err)
		}
		if i == 0 {
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err := cmd.Start()
	shut(theirs)
	if err != nil {
		shut(ours)
		return nil, fmt.Errorf("start %s: %w", words[0], err)
	}
	c.cmd, c.ended = cmd, make(chan struct{})
	c.conn = newPipes(ours[1], ours[0], c.notes.junk)
	go c.attend(ours[1], ours[2])
	return c.conn, nil
}

// attend reads the command's standard error, and waits for its end.
func (c *child) attend(stdout, stderr io.ReadCloser) {
	defer close(c.ended)
	var reading sync.WaitGroup
	reading.Go(func() { c.notes.follow(stderr) })
	c.exit = c.cmd.Wait()
	killGroup(c.cmd)
	read := make(chan struct{})
	go func() {
		defer close(read)
		reading.Wait()
		c.conn.wait()
	}()
	// What it wrote last is read; its input has no reader any more, so that
	// writing to it ends by itself or with Close.
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
	}
	_ = stdout.Close()
	_ = stderr.Close()
	_ = c.conn.Close()
	<-read
}

// abort makes the connection end. The command itself is left to close.
func (c *child) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.aborted = true
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// close closes the command's input and waits for its end, with more emphasis
// after each Grace.
func (c *child) close() {
	c.abort()
	if c.cmd == nil || c.wait() {
		return
	}
	terminateGroup(c.cmd)
	if c.wait() {
		return
	}
	c.s.cfg.Logger.Warn("MCP server does not end; it is killed", "server", c.s.cfg.Name)
	killGroup(c.cmd)
	<-c.ended
}

// wait waits for the end of the command; it returns false if it does not end
// within Grace.
func (c *child) wait() bool {
	timer := time.NewTimer(c.s.cfg.Grace)
	defer timer.Stop()
	select {
	case <-c.ended:
		return true
	case <-timer.C:
		return false
	}
}

// last says why the command was given up, or how it ended and what it wrote
// last to its standard error.
func (c *child) last() error {
	if c.cmd == nil {
		return nil
	}
	if reason := c.conn.reason.Load(); reason != nil {
		return *reason
	}
	how := "it has ended"
	if state := c.cmd.ProcessState; state != nil {
		how += " with " + state.String()
	}
	if words := c.notes.lastWords(); words != "" {
		how += `, saying "` + words + `"`
	}
	return errors.New(how)
}
