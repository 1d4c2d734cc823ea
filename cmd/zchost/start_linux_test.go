package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/zchost/zchost/host/terminal"
	"github.com/zchost/zchost/plugins/builtin"
)

// Ctrl-C while a command gives a secret stops the start and the command.
func TestCtrlCAtTheStart(t *testing.T) {
	t.Parallel()
	if len(builtin.Names()) == 0 {
		t.Fatal("the built-in plugins are not built: run make plugins")
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		home := t.TempDir()
		fifo := home + "/fifo"
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		config := fmt.Sprintf("[models.m]\nprovider = \"a\"\nmodel = \"m\"\n[providers.a]\nplugin = \"openai-chat\"\n"+
			"base_url = \"http://127.0.0.1:1/v1\"\napi_keys = [\"cmd:echo $$ > %s; exec sleep 60\"]\n", fifo)
		if err := os.WriteFile(home+"/config.toml", []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "zchost", "send", "-m", "hi")
		cmd.Env = append(os.Environ(), "ZCHOST_HOME="+home, "HOME="+home)
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := os.ReadFile(fifo) // waits for the command
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(line)))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the code tells
		if got := cmd.ProcessState.ExitCode(); got != terminal.ExitCancelled {
			t.Errorf("%s: exit code %d; stderr %q", signal, got, stderr.String())
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s: the command still runs: %v", signal, err)
		}
	}
}
