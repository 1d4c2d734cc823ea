//go:build unix

package core

import (
	"os/exec"
	"syscall"
)

// inGroup gives the command a process group of its own, which is killed as a
// whole.
func inGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// killGroup kills what a command that has ended left behind. Its group has its
// process id, which no other process gets while anything is in the group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most often there is nobody
}
