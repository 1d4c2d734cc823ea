//go:build unix

package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zchost/zchost/host/mcp"
	"github.com/zchost/zchost/host/secret"
	"github.com/zchost/zchost/host/tool"
)

// childVariable makes the test program a server; its value says what kind.
const childVariable = "ZCHOST_TEST_MCP"

// pidVariable names a file to which a server adds its process id.
const pidVariable = "ZCHOST_TEST_PID"

// serve is a server on stdio, good or bad.
func serve(how string) int {
	if name := os.Getenv(pidVariable); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 1
		}
		_, err = fmt.Fprintln(f, os.Getpid())
		if f.Close() != nil || err != nil {
			return 1
		}
	}
	fmt.Fprintln(os.Stderr, "hello from", how)
	switch how {
	case "exits":
		fmt.Fprintln(os.Stderr, "there is no such directory: /nowhere")
		return 7
	case "mute": // it answers nothing and has to be killed
		signal.Ignore(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, os.Stdin)
		select {}
	case "junk":
		for range mcp.MaxJunk + 100 {
			fmt.Println("this is no message")
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "long line":
		line := make([]byte, mcp.MaxMessage+128<<10)
		for i := range line {
			line[i] = 'x'
		}
		_, _ = os.Stdout.Write(line)
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	s := newServer(nil)
	add(s, "echo", func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say(string(r.Params.Arguments))
	})
	add(s, "env", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		dir, _ := os.Getwd()
		return say(strings.Join(append(os.Environ(), "in "+dir), "\n"))
	})
	add(s, "die", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
		return nil, nil
	})
	add(s, "noise", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range mcp.MaxJunk / 5 {
			fmt.Printf("progress: %d %%\n{\"half\": \n[]\n[1]\n", i)
			fmt.Fprintln(os.Stderr, "line", i, strings.Repeat("long ", 1000))
		}
		return say("done")
	})
	add(s, "freeze", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-ctx.Done()
		return say("thawed")
	})
	add(s, "fork", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		cmd := exec.Command("sleep", "600") // it holds the pipes open
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		return say(strconv.Itoa(cmd.Process.Pid))
	})
	_ = s.Run(context.Background(), &sdk.StdioTransport{})
	return 0
}

// child is the config of a server that is another process.
func child(t *testing.T, how string) mcp.Config {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcp.Config{
		Command: []string{self}, Environ: os.Environ(),
		Env: map[string]mcp.Value{
			childVariable: {Text: how},
			pidVariable:   {Text: filepath.Join(t.TempDir(), "pids")},
		},
	}
}

// pids are the processes that the config has started so far.
func pids(t *testing.T, c mcp.Config) []int {
	t.Helper()
	text, err := os.ReadFile(c.Env[pidVariable].Text)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var all []int
	for _, word := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, pid)
	}
	return all
}

// wantGone checks that a process is no more, or is nobody's concern but init's.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("process %d is gone", pid), func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return syscall.Kill(pid, 0) != nil
		}
		return strings.Contains(string(stat), ") Z ")
	})
}

// A server that is a command has its tools, and ends when its input is closed.
func TestChild(t *testing.T) {
	t.Parallel()
	c := child(t, "good")
	var l log
	c.Logger = l.logger()
	s := setup(t, c)
	if got := call(t, s, "echo", `{"a":[1,"ü\n"]}`); got != `{"a":[1,"ü\n"]}` {
		t.Errorf("echo gives %s", got)
	}
	if got := s.Status(); got.Phase != mcp.Ready || got.Name != "test" || got.Version != "1.2.3" || got.Tools != 6 || got.Starts != 1 {
		t.Errorf("status %+v", got)
	}
	one := pick(t, s, "echo")
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a server that ends by itself was given %s", took)
	}
	wantGone(t, pids(t, c)[0])
	s.Close() // once more does nothing
	_, err := one.Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Unavailable, "files has been shut down")
	if _, err = s.Tools(t.Context()); err == nil {
		t.Error("a closed server has tools")
	}
	if !strings.Contains(l.String(), "hello from good") {
		t.Errorf("its standard error is not in the log:\n%s", &l)
	}
}

// A command gets the variables of the config, and few of the host's.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	c := child(t, "good")
	c.Environ = []string{"PATH=/bin", "HOME=/home/me", "OPENAI_API_KEY=sk-host", "LD_PRELOAD=x.so", "LANG=de"}
	c.Env["LANG"] = mcp.Value{Text: "id"}
	c.Env["TOKEN"] = mcp.Value{Secret: secret.New("very-secret-token")}
	c.Dir = t.TempDir()
	got := strings.Split(call(t, setup(t, c), "env", ""), "\n")
	slices.Sort(got)
	want := []string{
		"HOME=/home/me", "LANG=id", "PATH=/bin", "TOKEN=[redacted]", // for it is a secret
		childVariable + "=good", pidVariable + "=" + c.Env[pidVariable].Text, "in " + c.Dir,
	}
	got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "PWD=") || strings.HasPrefix(s, "GOCOVERDIR=") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A call whose server dies has an unknown outcome and is not sent again. The
// next one says that the server is down, and when it comes back; then it does.
func TestDeath(t *testing.T) {
	t.Parallel()
	c := child(t, "good")
	c.RestartMin, c.RestartMax = 1500*time.Millisecond, 3*time.Second
	s := setup(t, c)
	die, echo := pick(t, s, "die"), pick(t, s, "echo")
	_, err := die.Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Unavailable, "files broke off", "whether it took effect is unknown")
	eventually(t, "the host has noticed", func() bool { return s.Status().Phase == mcp.Waiting })
	_, err = echo.Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Unavailable, "files is down", "exit status 3", `saying "out of luck"`, "it is started again in ")
	_, err = s.Tools(t.Context())
	wantError(t, err, tool.Unavailable, "files is down", "it is started again in ")
	eventually(t, "the server is back", func() bool { return s.Status().Phase == mcp.Ready })
	if r, err := echo.Call(t.Context(), tool.Call{Arguments: []byte(`{}`)}); err != nil || r.Content != "{}" {
		t.Errorf("a tool of before gives %v, %v", r, err)
	}
	if n := len(pids(t, c)); n != 2 || s.Status().Starts != 2 {
		t.Errorf("started %d times", n)
	}
	wantGone(t, pids(t, c)[0])
}

// A server that cannot be started does not keep the host: its tools are
// missing, and it is said why.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*mcp.Config)
		how    string
		want   string
	}{
		"no such program": {func(c *mcp.Config) { c.Command = []string{"/no/such/program"} }, "", "start /no/such/program"},
		"no directory":    {func(c *mcp.Config) { c.Dir = "/no/such/dir" }, "", "/no/such/dir"},
		"exits":           {nil, "exits", `exit status 7, saying "there is no such directory: /nowhere"`},
		"mute":            {func(c *mcp.Config) { c.StartTimeout = 300 * time.Millisecond }, "mute", "it does not answer within 300ms"},
		"junk":            {nil, "junk", "are no messages"},
		"long line":       {nil, "long line", "a line longer than 8 MiB"},
		"neither":         {func(c *mcp.Config) { c.Command = nil }, "", "neither a command nor an http url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := child(t, test.how)
			c.RestartMin, c.RestartMax, c.Grace = time.Minute, time.Minute, 100*time.Millisecond
			if test.change != nil {
				test.change(&c)
			}
			began := time.Now()
			s := setup(t, c)
			if took := time.Since(began); took > 200*time.Millisecond {
				t.Errorf("Start takes %s", took)
			}
			_, err := s.Tools(t.Context())
			wantError(t, err, tool.Unavailable, "the MCP server files is down: ", test.want, "; it is started again in 1m")
			s.Close()
			for _, pid := range pids(t, c) {
				wantGone(t, pid)
			}
		})
	}
}

// Tools does not wait longer than Patience for a server that is slow to start.
func TestPatience(t *testing.T) {
	t.Parallel()
	c := child(t, "mute")
	c.Name, c.Patience, c.Grace = "files", 50*time.Millisecond, 50*time.Millisecond
	s := mcp.Start(t.Context(), c)
	defer s.Close()
	_, err := s.Tools(t.Context())
	wantError(t, err, tool.Unavailable, "the MCP server files is still starting")
}

// What a server prints between its messages is logged, but not without bound,
// and harms nobody.
func TestNoise(t *testing.T) {
	t.Parallel()
	c := child(t, "good")
	var l log
	c.Logger = l.logger()
	s := setup(t, c)
	if got := call(t, s, "noise", ""); got != "done" {
		t.Errorf("noise gives %s", got)
	}
	if s.Status().Starts != 1 {
		t.Error("it had to be started again")
	}
	s.Close()
	text := l.String()
	if !strings.Contains(text, "progress: 0 %") || !strings.Contains(text, "says too much") {
		t.Error("noise is not in the log")
	}
	if n := strings.Count(text, "\n"); n > mcp.MaxNotes+10 || len(text) > 200<<10 {
		t.Errorf("%d lines, %d bytes are logged", n, len(text))
	}
}

// A server that has stopped working altogether is noticed by its silence after
// a call that took too long, and started again.
func TestFreeze(t *testing.T) {
	t.Parallel()
	c := child(t, "good")
	c.Timeout, c.Grace = 200*time.Millisecond, 100*time.Millisecond
	s := setup(t, c)
	_, err := pick(t, s, "freeze").Call(t.Context(), tool.Call{})
	wantError(t, err, tool.Timeout, "files did not answer within ", "whether it took effect is unknown")
	eventually(t, "it is started again", func() bool { st := s.Status(); return st.Starts > 1 && st.Phase == mcp.Ready })
	if got := s.Status().Failure; got != "it does not answer any more" {
		t.Errorf("failure %q", got)
	}
	wantGone(t, pids(t, c)[0])
}

// What a command has started goes with it.
func TestGrandchild(t *testing.T) {
	t.Parallel()
	s := setup(t, child(t, "good"))
	pid, err := strconv.Atoi(call(t, s, "fork", ""))
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	wantGone(t, pid)
}

// Close ends a server whatever it is doing, and within a bound.
func TestCloseWhileCalling(t *testing.T) {
	t.Parallel()
	c := child(t, "good")
	c.Grace = 100 * time.Millisecond
	s := setup(t, c)
	freeze := pick(t, s, "freeze")
	failed := make(chan error, 1)
	go func() {
		_, err := freeze.Call(t.Context(), tool.Call{})
		failed <- err
	}()
	eventually(t, "it is frozen", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pids(t, c)[0]))
		return err != nil || strings.Contains(string(stat), ") T ")
	})
	began := time.Now()
	s.Close()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %s", took)
	}
	wantError(t, <-failed, tool.Unavailable, "whether it took effect is unknown")
	wantGone(t, pids(t, c)[0])
}

// The arguments go out as they are, without a detour over floats.
func TestArguments(t *testing.T) {
	t.Parallel()
	s := setup(t, child(t, "good"))
	const args = `{"big":12345678901234567890,"order":{"b":1,"a":2}}`
	var want, got any
	if err := json.Unmarshal([]byte(args), &want); err != nil {
		t.Fatal(err)
	}
	text := call(t, s, "echo", args)
	if err := json.Unmarshal([]byte(text), &got); err != nil || !cmp.Equal(want, got) || !strings.Contains(text, "12345678901234567890") {
		t.Errorf("echo gives %s", text)
	}
}
