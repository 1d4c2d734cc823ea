//go:build unix

package secret

import (
	"context"
	"os/exec"
	"syscall"
)

// shell returns line as a command of the shell, in a process group of its own,
// so that stopping it also stops what it started.
func shell(ctx context.Context, line string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line) //nolint:gosec // G204: the operator's own config names the command
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
