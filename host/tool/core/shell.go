package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/zchost/zchost/abi"
	"github.com/zchost/zchost/host/tool"
)

const (
	shellTime = time.Minute
	// drainTime is how long output is still read after a command has ended,
	// from what it left running in a process group of its own.
	drainTime = 200 * time.Millisecond
)

type shellArguments struct {
	Command string `json:"command"`
}

// shell runs commands.
type shell struct {
	workspace *workspace
	path      string   // of sh
	env       []string // of the commands
	timeout   time.Duration
	keep      int
}

func newShell(w *workspace, o ShellOptions, room int) (tool.Tool, error) {
	path, err := exec.LookPath("sh")
	if err != nil {
		return nil, fmt.Errorf("find the shell: %w", err)
	}
	s := &shell{workspace: w, path: path, env: named(o.Environ, o.Env), timeout: o.Timeout, keep: room}
	if s.timeout <= 0 {
		s.timeout = shellTime
	}
	if o.OutputBytes > 0 {
		s.keep = min(room, o.OutputBytes)
	}
	hideEnvironment()
	t := newTool(Shell, abi.EffectWrite,
		fmt.Sprintf("Runs a command with sh -c in the workspace, for at most %s, and gives its output (stdout and stderr together) and its exit status. "+
			"There is no terminal and no input. What it leaves running in the background is stopped when it ends.", s.timeout),
		`{"type":"object","properties":{
			"command":{"type":"string","minLength":1,"description":"The command line."}},
			"required":["command"],"additionalProperties":false}`,
		s.run)
	t.spec.Timeout = s.timeout + drainTime + time.Second // its own end comes first
	return t, nil
}

// named returns the variables with those names.
func named(environ, names []string) []string {
	var list []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		for _, n := range names {
			if n == name {
				list = append(list, v)
			}
		}
	}
	return list
}

// run runs a command until it ends, its time is up, or ctx ends; then it and
// all that it started in its process group is killed.
func (s *shell) run(ctx context.Context, a shellArguments) (string, error) {
	if strings.ContainsRune(a.Command, 0) {
		return "", say("The command holds a NUL byte.")
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return "", &tool.Error{Class: tool.Unavailable, Message: "no pipe for its output", Err: err}
	}
	defer func() { _ = r.Close() }()                             // it was read
	cmd := exec.CommandContext(limited, s.path, "-c", a.Command) //nolint:gosec // G204: running what it is told is what the tool is for
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.workspace.dir, s.env, w, w
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would be the host's own
	}
	inGroup(cmd)
	err = cmd.Start()
	_ = w.Close() // the command has it
	if err != nil {
		return "", &tool.Error{Class: tool.Unavailable, Message: "the shell cannot be started", Err: err}
	}
	out := &headTail{keep: s.keep}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(out, r) // the end, or the deadline below
	}()
	err = cmd.Wait()
	killGroup(cmd)
	_ = r.SetReadDeadline(time.Now().Add(drainTime))
	<-read
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return s.result(limited, out.String(), err)
}

// result says how a command went. A status other than 0 is a result like
// another: the model reads it.
func (s *shell) result(ctx context.Context, out string, err error) (string, error) {
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", say("%s[stopped after %s: what it did until then is done]", out, s.timeout)
	case err == nil:
		if out == "" {
			return "[no output; exit status 0]", nil
		}
		return out + "[exit status 0]", nil
	case errors.As(err, &exit):
		return "", say("%s[%s]", out, exit.String())
	}
	return "", say("%s[it could not be waited for: %v]", out, err)
}
